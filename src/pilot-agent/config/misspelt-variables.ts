import { freeVariable, knownVariables } from './known-variables.ts';
import { meant } from '../../shared/text/one-edit.ts';

/**
 * The variables that Kubernetes sets for each service of the namespace, and Docker for each link.
 */
const serviceLink =
  /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/;

/**
 * Returns a warning for each variable whose name is one edit away from a variable of the agent that
 * is not set. Other unknown variables are ignored, because injectors, newer Istios and service
 * links set many. Pure.
 */
export function misspeltVariables(env: NodeJS.ProcessEnv): readonly string[] {
  const knownNames = [...knownVariables().keys()];
  const missing = knownNames.filter((name) => env[name] === undefined && !freeVariable.test(name));
  return Object.entries(env).flatMap(([name, value = '']) => {
    if (
      knownNames.includes(name) ||
      freeVariable.test(name) ||
      serviceLink.test(name) ||
      (name.endsWith('_PORT') && value.includes('://'))
    )
      return [];
    const right = meant(name, missing);
    return right === undefined ? [] : [`${name} is not known: did you mean ${right}?`];
  });
}
