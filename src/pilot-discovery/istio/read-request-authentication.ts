import type { AccessPolicy } from './access-policy.ts';
import { selector, selectorAlone } from './match-labels.ts';
import { list, maybe, members, needed, type ReadMember, warn } from './members.ts';

const anything: ReadMember<unknown> = (value) => value;

/** The schema of Istio 1.26. */
const mostRules = 4_096;

const jwtMembers = [
  'audiences',
  'jwksUri',
  'jwks',
  'fromHeaders',
  'fromParams',
  'fromCookies',
  'outputPayloadToHeader',
  'forwardOriginalToken',
  'outputClaimToHeaders',
  'timeout',
];

const jwtRule: ReadMember<undefined> = (value, place) =>
  members(value, place, [], (get) => {
    get('issuer', needed);
    for (const name of jwtMembers) get(name, anything);
    return undefined;
  });

/** One with rules is not served yet. It closes the ports of HTTP of the workloads it selects. */
export const readRequestAuthentication: ReadMember<AccessPolicy> = (value, place) =>
  members(value, place, [], (get, has) => {
    const chosen = get('selector', selector('matchLabels'));
    const rules = get('jwtRules', list(jwtRule, mostRules));
    if (rules.length === 0 || !isForSidecars(get, has)) {
      warn(place, 'it is not served yet, and has no effect');
      return { selector: chosen, effect: { type: 'nothing' } };
    }
    warn(
      place,
      'it is not served yet, so connections to the workloads that it selects are refused',
    );
    const covers = { type: 'all', protocols: 'http' } as const;
    return { selector: chosen, effect: { type: 'closes', covers } };
  });

/** One that names gateways or services is for their proxies. */
export function isForSidecars(
  get: (name: string, read: ReadMember<unknown>) => unknown,
  has: (name: string) => boolean,
): boolean {
  get('targetRef', maybe(anything));
  get('targetRefs', list(anything));
  return !has('targetRef') && !has('targetRefs');
}

/** One of which no more can be read than which workloads it is for: they are closed. */
export const closedAccessPolicy: ReadMember<AccessPolicy> = (value, place) => ({
  selector: selectorAlone(value, place),
  effect: { type: 'closes', covers: { type: 'all', protocols: 'any' } },
});
