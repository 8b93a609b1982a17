import { freeVariable, knownVariables } from './known-variables.ts';
import { meant } from '../../shared/text/one-edit.ts';

/**
 * Returns a warning for each variable whose name is one edit away from a variable of the agent that
 * is not set. Other unknown variables are ignored, because injectors and newer Istios set many. The
 * `_PORT` of a Kubernetes service, which is a URL, is ignored too. Pure.
 */
export function misspeltVariables(env: NodeJS.ProcessEnv): readonly string[] {
  const knownNames = [...knownVariables().keys()];
  const missing = knownNames.filter((name) => env[name] === undefined && !freeVariable.test(name));
  return Object.entries(env).flatMap(([name, value = '']) => {
    if (
      knownNames.includes(name) ||
      freeVariable.test(name) ||
      (name.endsWith('_PORT') && value.includes('://'))
    )
      return [];
    const right = meant(name, missing);
    return right === undefined ? [] : [`${name} is not known: did you mean ${right}?`];
  });
}
