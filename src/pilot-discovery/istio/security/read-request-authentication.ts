import type { AccessPolicy } from './access-policy.ts';
import { selector, selectorAlone } from '../fields/match-labels.ts';
import { list, members, type ReadMember, warn, wrong } from '../fields/members.ts';
import { namesTargets, readTargets } from '../fields/read-targets.ts';
import { tokenRule } from './read-token-rule.ts';

/** The limit in the schema of Istio 1.26. */
const mostRules = 4_096;

/** Reads the rules by which tokens of requests are checked. */
export const readRequestAuthentication: ReadMember<AccessPolicy> = (value, place) =>
  members(value, place, [], (get, has) => {
    const chosen = get('selector', selector('matchLabels'));
    const rules = get('jwtRules', list(tokenRule, mostRules));
    const appliesToSidecars = readTargets(get, has) === 'workloads';
    if (!appliesToSidecars && has('selector'))
      wrong(place, 'it cannot have both a selector and targetRefs');
    if (!appliesToSidecars)
      warn(place, 'it is for gateways or services (targetRefs), and has no effect');
    else if (rules.length === 0) warn(place, 'it has no jwtRules, and has no effect');
    return {
      selector: chosen,
      effect:
        rules.length === 0 || !appliesToSidecars ? { type: 'nothing' } : { type: 'tokens', rules },
    };
  });

/** Reads a policy that is refused: it closes the workloads that its selector chooses. */
export const closedAccessPolicy: ReadMember<AccessPolicy> = (value, place) => ({
  selector: selectorAlone(value, place),
  effect: { type: namesTargets(value) ? 'nothing' : 'closes' },
});
