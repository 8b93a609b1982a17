import { freeVariable, knownVariables } from './known-variables.ts';
import { meant } from '../../shared/text/one-edit.ts';

/** What Kubernetes sets for each service of the namespace, and Docker for each link. */
const serviceLink =
  /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/;

/**
 * A warning for each variable that is nearly one of the agent's: one edit away from one that is not
 * set. Whatever else is not known is left alone, for injectors, newer Istios and service links set
 * many. Pure.
 */
export function misspeltVariables(env: NodeJS.ProcessEnv): readonly string[] {
  const known = [...knownVariables().keys()];
  const missing = known.filter((name) => env[name] === undefined && !freeVariable.test(name));
  return Object.entries(env).flatMap(([name, value = '']) => {
    if (
      known.includes(name) ||
      freeVariable.test(name) ||
      serviceLink.test(name) ||
      (name.endsWith('_PORT') && value.includes('://'))
    )
      return [];
    const right = meant(name, missing);
    return right === undefined ? [] : [`${name} is not known: did you mean ${right}?`];
  });
}
