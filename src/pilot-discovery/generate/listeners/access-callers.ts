import { quoteRegex } from '../../../shared/text/quote-regex.ts';
import type { AccessCondition, CallerAttribute } from '../../istio/security/access-policy.ts';
import type { PrincipalSchema } from '../../../shared/proto/envoy/config/rbac/v3/rbac_pb.ts';
import type { StringMatcherSchema } from '../../../shared/proto/envoy/type/matcher/v3/string_pb.ts';
import type { ValueMatcherSchema } from '../../../shared/proto/envoy/type/matcher/v3/value_pb.ts';
import { claimMatcher, oneOrInList } from '../encoding/claim-matcher.ts';
import type { Init } from '../encoding/typed-config.ts';
import {
  type AccessLayer,
  addressRange,
  headerMatcher,
  type Matches,
  matchesOf,
  wildcardMatcher,
} from './access-matches.ts';

type Principal = Init<typeof PrincipalSchema>;
type StringMatcher = Init<typeof StringMatcherSchema>;
type ValueMatcher = Init<typeof ValueMatcherSchema>;

const either = (ids: readonly Principal[]): Principal => ({
  identifier: { case: 'orIds', value: { ids: [...ids] } },
});

const only = (ids: readonly Principal[]): Principal => {
  const [first] = ids;
  return ids.length === 1 && first !== undefined ? first : either(ids);
};

/**
 * Returns the callers that meet a condition; undefined if a TCP connection does not have its
 * attribute.
 */
export function callerMatches(
  condition: AccessCondition<CallerAttribute>,
  layer: AccessLayer,
  trustDomain: string,
): Matches<Principal> | undefined {
  const { attribute, path } = condition;
  if (layer === 'tcp' && attribute.startsWith('request.')) return undefined;
  const oneOf = (principalOf: (value: string) => Principal) =>
    matchesOf(condition, (values) => either(values.map(principalOf)));
  const inClaim = (claim: readonly string[]) =>
    matchesOf(condition, (values) => claimPrincipal(claim, values));
  switch (attribute) {
    case 'source.principal':
      return oneOf((value) => authenticated(identityMatcher(inTrustDomain(value, trustDomain))));
    case 'source.namespace':
      return oneOf((value) => authenticated(regex(`.*/ns/${value.replaceAll('*', '.*')}/.*`)));
    case 'source.serviceAccount':
      return oneOf((value) => authenticated(accountMatcher(value)));
    case 'source.ip':
      return oneOf((value) => ({
        identifier: { case: 'directRemoteIp', value: addressRange(value) },
      }));
    case 'remote.ip':
      return oneOf((value) => ({ identifier: { case: 'remoteIp', value: addressRange(value) } }));
    case 'request.headers':
      return oneOf((value) => ({
        identifier: { case: 'header', value: headerMatcher(path[0] ?? '', value, 'as-written') },
      }));
    case 'request.auth.principal':
      return matchesOf(condition, (values) => only(values.map(tokenPrincipal)));
    case 'request.auth.audiences':
      return inClaim(['aud']);
    case 'request.auth.presenter':
      return inClaim(['azp']);
    case 'request.auth.claims':
      return inClaim(path);
  }
}

const regex = (pattern: string): StringMatcher => ({
  matchPattern: { case: 'safeRegex', value: { regex: pattern } },
});

const authenticated = (principalName: StringMatcher): Principal => ({
  identifier: { case: 'authenticated', value: { principalName } },
});

const scheme = 'spiffe://';

function identityMatcher(value: string): StringMatcher {
  if (value === '*') return regex('.+');
  if (value.startsWith('*')) return regex(`${scheme}.*${quoteRegex(value.slice(1))}`);
  return wildcardMatcher(`${scheme}${value}`);
}

function accountMatcher(value: string): StringMatcher {
  const [namespace = '', account = ''] = value.split('/');
  return regex(`${scheme}.+/ns/${namespace}/(.+/|)sa/${account}(/.+)?`);
}

/** Replaces `cluster.local` by the trust domain of the mesh. */
function inTrustDomain(value: string, trustDomain: string): string {
  const [domain, ...rest] = value.split('/');
  return domain === 'cluster.local' && rest.length === 4 ? [trustDomain, ...rest].join('/') : value;
}

/** Returns a match of `issuer/subject` of a token. The whole text may begin or end with `*`. */
function tokenPrincipal(value: string): Principal {
  const [issuer, subject] = tokenParts(value);
  const part = (name: string, matcher: StringMatcher) =>
    inToken([name], { matchPattern: { case: 'stringMatch', value: matcher } });
  return {
    identifier: { case: 'andIds', value: { ids: [part('iss', issuer), part('sub', subject)] } },
  };
}

const any = wildcardMatcher('*');
const exact = (value: string): StringMatcher => ({ matchPattern: { case: 'exact', value } });

function tokenParts(value: string): readonly [issuer: StringMatcher, subject: StringMatcher] {
  if (value === '*') return [any, any];
  const slash = value.lastIndexOf('/');
  const [issuer, subject] = [value.slice(0, Math.max(slash, 0)), value.slice(slash + 1)];
  if (value.startsWith('*'))
    return slash < 0 ? [any, wildcardMatcher(value)] : [wildcardMatcher(issuer), exact(subject)];
  if (value.endsWith('*'))
    return slash < 0 ? [wildcardMatcher(value), any] : [exact(issuer), wildcardMatcher(subject)];
  return slash < 0 ? [exact(value), exact('')] : [exact(issuer), exact(subject)];
}

/** Matches a claim that is one of these values, or a list that contains one of them. */
function claimPrincipal(claim: readonly string[], values: readonly string[]): Principal {
  const each = values.map((value): ValueMatcher => ({
    matchPattern: { case: 'stringMatch', value: wildcardMatcher(value) },
  }));
  return inToken(claim, oneOrInList(anyOf(each)));
}

function anyOf(matchers: readonly ValueMatcher[]): ValueMatcher {
  const [first] = matchers;
  return matchers.length === 1 && first !== undefined
    ? first
    : { matchPattern: { case: 'orMatch', value: { valueMatchers: [...matchers] } } };
}

/** Matches a claim of a token that Envoy's token filter found valid. */
const inToken = (path: readonly string[], value: ValueMatcher): Principal => ({
  identifier: { case: 'metadata', value: claimMatcher(path, value) },
});
