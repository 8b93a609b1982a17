import type { AccessPolicy, Covered } from './access-policy.ts';
import { selector, selectorAlone } from './match-labels.ts';
import {
  below,
  list,
  maybe,
  members,
  needed,
  oneOf,
  type Place,
  type ReadMember,
  text,
  warn,
  wrong,
} from './members.ts';

const anything: ReadMember<unknown> = (value) => value;
const texts = list(text);

/** An object all of whose members are lists of texts. */
function listsOf(...names: readonly string[]): ReadMember<ReadonlyMap<string, readonly string[]>> {
  return (value, place) =>
    members(value, place, [], (get) => new Map(names.map((name) => [name, get(name, texts)])));
}

const both = (...names: readonly string[]) =>
  names.flatMap((name) => [name, `not${name.charAt(0).toUpperCase()}${name.slice(1)}`]);

const source = listsOf(
  ...both(
    'principals',
    'requestPrincipals',
    'namespaces',
    'ipBlocks',
    'remoteIpBlocks',
    'serviceAccounts',
  ),
);
const operation = listsOf(...both('hosts', 'ports', 'methods', 'paths'));

interface Rule {
  /** Of each operation; empty for one that has any port. */
  readonly ports: readonly (readonly number[])[];
  readonly isForAll: boolean;
}

const rule: ReadMember<Rule> = (value, place) =>
  members(value, place, [], (get, has) => {
    get(
      'from',
      list((one, at) => members(one, at, [], (of) => of('source', source))),
    );
    const to = get(
      'to',
      list((one, at) =>
        members(one, at, [], (of) =>
          portsOf(of('operation', operation), below(at, 'operation.ports')),
        ),
      ),
    );
    get(
      'when',
      list((one, at) =>
        members(one, at, [], (of) => [
          of('key', needed),
          of('values', texts),
          of('notValues', texts),
        ]),
      ),
    );
    return { ports: to, isForAll: !['from', 'to', 'when'].some(has) };
  });

function portsOf(read: ReadonlyMap<string, readonly string[]>, place: Place): readonly number[] {
  return (read.get('ports') ?? []).map((written) => {
    if (!/^\d+$/.test(written) || Number(written) < 1 || Number(written) > 65_535)
      wrong(place, `'${written}' is not a port (1 to 65535)`);
    return Number(written);
  });
}

/** The schemas of Istio 1.26. */
const most = { rules: 512, jwtRules: 4_096 };

const actions = { ALLOW: 'allow', DENY: 'deny', AUDIT: 'audit', CUSTOM: 'custom' } as const;

const nothing: Covered = { type: 'nothing' };

/** Of ALLOW, what no rule names is denied; of DENY and CUSTOM, what a rule names may be. */
function coveredBy(
  action: (typeof actions)[keyof typeof actions],
  rules: readonly Rule[],
): Covered {
  if (action === 'audit') return nothing;
  if (action === 'allow')
    return rules.some(({ isForAll }) => isForAll) ? nothing : { type: 'all', protocols: 'any' };
  if (rules.length === 0) return nothing;
  const operations = rules.flatMap(({ ports }) => (ports.length === 0 ? [[]] : ports));
  return operations.some((ports) => ports.length === 0)
    ? { type: 'all', protocols: 'any' }
    : { type: 'ports', ports: [...new Set(operations.flat())].sort((a, b) => a - b) };
}

/** @param dryRun the annotation `istio.io/dry-run`: of what would be, nothing is done */
export function readAuthorizationPolicy(dryRun: string): ReadMember<AccessPolicy> {
  return (value, place) =>
    members(value, place, [], (get, has) => {
      const chosen = get('selector', selector('matchLabels'));
      const rules = get('rules', list(rule, most.rules));
      const action = get('action', oneOf(actions, 'allow'));
      get('provider', anything);
      const isInForce = isForSidecars(get, has) && dryRun !== 'true';
      return policyOf(chosen, isInForce ? coveredBy(action, rules) : nothing, place);
    });
}

const jwtRule: ReadMember<undefined> = (value, place) =>
  members(value, place, [], (get) => {
    get('issuer', needed);
    for (const name of jwtMembers) get(name, anything);
    return undefined;
  });
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

export const readRequestAuthentication: ReadMember<AccessPolicy> = (value, place) =>
  members(value, place, [], (get, has) => {
    const chosen = get('selector', selector('matchLabels'));
    const rules = get('jwtRules', list(jwtRule, most.jwtRules));
    const isWithout = rules.length === 0 || !isForSidecars(get, has);
    return policyOf(chosen, isWithout ? nothing : { type: 'all', protocols: 'http' }, place);
  });

/** One that names gateways or services is for their proxies. */
function isForSidecars(
  get: (name: string, read: ReadMember<unknown>) => unknown,
  has: (name: string) => boolean,
): boolean {
  get('targetRef', maybe(anything));
  get('targetRefs', list(anything));
  return !has('targetRef') && !has('targetRefs');
}

function policyOf(chosen: AccessPolicy['selector'], covers: Covered, place: Place): AccessPolicy {
  const what = {
    nothing: 'and has no effect',
    ports: 'so connections to the ports that it names are refused',
    all: 'so connections to the workloads that it selects are refused',
  };
  warn(place, `it is not served yet, ${what[covers.type]}`);
  return { selector: chosen, covers };
}

/** One of which no more can be read than which workloads it is for: they are closed. */
export const closedAccessPolicy: ReadMember<AccessPolicy> = (value, place) => ({
  selector: selectorAlone(value, place),
  covers: { type: 'all', protocols: 'any' },
});
