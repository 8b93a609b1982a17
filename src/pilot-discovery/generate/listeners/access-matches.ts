import type { AccessCondition } from '../../istio/security/access-policy.ts';
import type { CidrRangeSchema } from '../../../shared/proto/envoy/config/core/v3/address_pb.ts';
import type { HeaderMatcherSchema } from '../../../shared/proto/envoy/config/route/v3/route_components_pb.ts';
import type { StringMatcherSchema } from '../../../shared/proto/envoy/type/matcher/v3/string_pb.ts';
import { canonicalHost } from '../../istio/fields/canonical.ts';
import type { Init } from '../encoding/typed-config.ts';

type StringMatcher = Init<typeof StringMatcherSchema>;

/** The layer that inspects a request: a TCP connection has no attributes of HTTP. */
export type AccessLayer = 'http' | 'tcp';

/** The match of a condition: one of its values, and none of those that it excludes. */
export interface Matches<T> {
  readonly some: T | undefined;
  readonly none: T | undefined;
}

/**
 * Returns the match of a condition.
 *
 * @param either joins the matches of several values; it receives at least one
 */
export function matchesOf<T>(
  { values, notValues }: AccessCondition,
  either: (values: readonly string[]) => T,
): Matches<T> {
  const matchOf = (those: readonly string[]) => (those.length === 0 ? undefined : either(those));
  return { some: matchOf(values), none: matchOf(notValues) };
}

/** Matches a value that may begin or end with `*`; `*` alone is any text that is not empty. */
export function wildcardMatcher(value: string): StringMatcher {
  if (value === '*') return { matchPattern: { case: 'safeRegex', value: { regex: '.+' } } };
  if (value.startsWith('*')) return { matchPattern: { case: 'suffix', value: value.slice(1) } };
  if (value.endsWith('*')) return { matchPattern: { case: 'prefix', value: value.slice(0, -1) } };
  return { matchPattern: { case: 'exact', value } };
}

/**
 * Matches a header whose value may begin or end with `*`; `*` alone matches any value of a present
 * header.
 */
export function headerMatcher(
  name: string,
  value: string,
  letters: 'as-written' | 'any-case',
): Init<typeof HeaderMatcherSchema> {
  if (value === '*') return { name, headerMatchSpecifier: { case: 'presentMatch', value: true } };
  const matcher = wildcardMatcher(value);
  return {
    name,
    headerMatchSpecifier: {
      case: 'stringMatch',
      value: letters === 'any-case' ? { ...matcher, ignoreCase: true } : matcher,
    },
  };
}

/** Returns an address, or a range of addresses. */
export function addressRange(value: string): Init<typeof CidrRangeSchema> {
  const [address = '', length] = value.split('/');
  const whole = address.includes(':') ? 128 : 32;
  return {
    addressPrefix: canonicalHost(address),
    prefixLen: length === undefined ? whole : Number(length),
  };
}
