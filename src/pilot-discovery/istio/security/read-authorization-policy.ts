import { parseBoolean } from '../../../shared/text/value.ts';
import type {
  AccessAttribute,
  AccessCondition,
  AccessEffect,
  AccessPolicy,
  AccessRule,
  AccessRules,
  CallerAttribute,
  OperationAttribute,
} from './access-policy.ts';
import { accessCondition, isOfCaller, isOfOperation, readValues } from './read-access-condition.ts';
import { selector } from '../fields/match-labels.ts';
import {
  below,
  list,
  members,
  oneOf,
  type Place,
  type ReadMember,
  text,
  warn,
  wrong,
} from '../fields/members.ts';
import { readTargets } from '../fields/read-targets.ts';

type Conditions<A extends AccessAttribute> = readonly AccessCondition<A>[];

/**
 * Reads an object whose members are values of attributes, in the order in which Envoy checks them.
 */
const conditionsOf =
  <A extends AccessAttribute>(attributes: readonly (readonly [member: string, A])[]) =>
  (value: unknown, place: Place): Conditions<A> => {
    if (value === undefined) wrong(place, 'it is missing');
    const read = members(value, place, [], (get) =>
      attributes.map(([member, attribute]): AccessCondition<A> => {
        const not = `not${member.charAt(0).toUpperCase()}${member.slice(1)}`;
        const values = get(member, readValues(attribute));
        return { attribute, path: [], values, notValues: get(not, readValues(attribute)) };
      }),
    );
    const conditions = read.filter(({ values, notValues }) => values.length + notValues.length > 0);
    if (value !== undefined && conditions.length === 0)
      wrong(place, `it says nothing: give one of ${attributes.map(([name]) => name).join(', ')}`);
    return conditions;
  };

const source = conditionsOf<CallerAttribute>([
  ['principals', 'source.principal'],
  ['requestPrincipals', 'request.auth.principal'],
  ['serviceAccounts', 'source.serviceAccount'],
  ['namespaces', 'source.namespace'],
  ['remoteIpBlocks', 'remote.ip'],
  ['ipBlocks', 'source.ip'],
]);

const operation = conditionsOf<OperationAttribute>([
  ['hosts', 'host'],
  ['methods', 'method'],
  ['paths', 'path'],
  ['ports', 'destination.port'],
]);

/** Reads a list of objects with one member each. */
const each = <A extends AccessAttribute>(
  member: string,
  read: ReadMember<Conditions<A>>,
): ReadMember<readonly Conditions<A>[]> => {
  const readAll = list((value, place) => members(value, place, [], (get) => get(member, read)));
  return (value, place) => {
    if (Array.isArray(value) && value.length === 0)
      warn(
        place,
        `it is empty, and does not restrict the rule: give one ${member}, or leave it out`,
      );
    return readAll(value, place);
  };
};

const readRule =
  (namespace: string): ReadMember<AccessRule> =>
  (value, place) => {
    if (value === undefined) wrong(place, 'it is empty: {} is for each request');
    return members(value, place, [], (get) => {
      const from = get('from', each('source', source));
      const to = get('to', each('operation', operation));
      const when = get('when', list(accessCondition));
      const callers = when.filter(isOfCaller);
      const operations = when.filter(isOfOperation);
      from.forEach((conditions, index) =>
        oneKindOfAccount(conditions, below(place, `from[${index}].source`)),
      );
      return {
        callers: orOne(from).map((conditions) =>
          [...conditions, ...callers].map((condition) => full(condition, namespace)),
        ),
        operations: orOne(to).map((conditions) => [...conditions, ...operations]),
      };
    });
  };

const orOne = <T>(alternatives: readonly (readonly T[])[]): readonly (readonly T[])[] =>
  alternatives.length === 0 ? [[]] : alternatives;

/** Completes service accounts without a namespace: they are in the policy's own. */
const full = (
  condition: AccessCondition<CallerAttribute>,
  namespace: string,
): AccessCondition<CallerAttribute> => {
  if (condition.attribute !== 'source.serviceAccount') return condition;
  const named = (account: string) => (account.includes('/') ? account : `${namespace}/${account}`);
  const { values, notValues } = condition;
  return { ...condition, values: values.map(named), notValues: notValues.map(named) };
};

function oneKindOfAccount(source: Conditions<CallerAttribute>, place: Place): void {
  const has = new Set(source.map(({ attribute }) => attribute));
  if (!has.has('source.serviceAccount')) return;
  if (has.has('source.principal') || has.has('source.namespace'))
    wrong(place, 'serviceAccounts cannot be with principals or namespaces: they have a namespace');
}

const actions = { ALLOW: 'allow', DENY: 'deny', AUDIT: 'audit', CUSTOM: 'custom' } as const;

/** The limit in the schema of Istio 1.26. */
const mostRules = 512;

/** @param dryRun the annotation `istio.io/dry-run`: Envoy only counts what it would do */
export function readAuthorizationPolicy(
  namespace: string,
  dryRun: string,
): ReadMember<AccessPolicy> {
  return (value, place) =>
    members(value, place, [], (get, has) => {
      const chosen = get('selector', selector('matchLabels'));
      const rules = get('rules', list(readRule(namespace), mostRules));
      const action = get('action', oneOf(actions, 'allow'));
      const provider = get('provider', (inner, innerPlace) =>
        members(inner, innerPlace, [], (getInner) => getInner('name', text)),
      );
      if (has('provider') && action !== 'custom')
        wrong(below(place, 'provider'), 'it is for the action CUSTOM alone');
      if (rules.length === 0 && action !== 'allow') {
        const say = action === 'audit' ? warn : wrong;
        say(below(place, 'rules'), 'without rules it matches nothing: [{}] is for each request');
      }
      if (action === 'custom') customFlaws(rules, provider, place);
      if (readTargets(get, has) === 'targets') {
        if (has('selector')) wrong(place, 'it cannot have both a selector and targetRefs');
        warn(place, 'it is for gateways or services (targetRefs), and has no effect');
        return { selector: chosen, effect: { type: 'nothing' } };
      }
      const mode = parseBoolean(dryRun) === true ? 'dry-run' : 'enforced';
      const effect: AccessEffect =
        action === 'custom'
          ? customEffect(rules, provider, mode, place)
          : { type: 'rules', action, mode, rules };
      return { selector: chosen, effect };
    });
}

/** Reports flaws of CUSTOM. The provider is asked before a token is checked. */
function customFlaws(rules: readonly AccessRule[], provider: string, place: Place): void {
  if (provider === '') wrong(below(place, 'provider'), 'CUSTOM needs the name of one');
  const identityCondition = rules
    .flatMap(({ callers }) => callers.flat())
    .find(({ attribute }) => ofIdentity.test(attribute));
  if (identityCondition === undefined) return;
  const reason = identityCondition.attribute.startsWith('request.auth.')
    ? 'no token is known yet'
    : 'Istio leaves that to the provider';
  wrong(below(place, 'rules'), `CUSTOM cannot look at ${identityCondition.attribute}: ${reason}`);
}

const ofIdentity = /^(?:request\.auth\.|source\.(?:principal|namespace|serviceAccount)$)/;

/** Returns the effect of CUSTOM. As in Istio, it has no dry run. */
function customEffect(
  rules: readonly AccessRule[],
  provider: string,
  mode: AccessRules['mode'],
  place: Place,
): AccessEffect {
  if (mode === 'enforced') return { type: 'asks', provider, rules };
  warn(below(place, 'action'), 'a dry run is for ALLOW, DENY and AUDIT: CUSTOM has no effect');
  return { type: 'nothing' };
}
