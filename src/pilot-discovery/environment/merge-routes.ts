import type { StringMatch } from '../istio/fields/values.ts';
import type { HeaderOperations, HttpMatch, HttpRoute } from '../istio/traffic/virtual-service.ts';
import { ownMember } from '../../shared/text/own-member.ts';

/**
 * Returns the routes of a delegate, restricted by the route that leads to it. Each has the matches
 * of both, and takes from the outer route what the delegate's route does not set. Routes that could
 * never match are left out.
 */
export function mergeRoutes(
  route: HttpRoute,
  delegated: readonly HttpRoute[],
): readonly HttpRoute[] {
  return delegated.flatMap((inner) => {
    const match = mergeMatches(route.match, inner.match);
    return match === undefined ? [] : [{ ...mergeRoute(route, inner), match }];
  });
}

function mergeRoute(outer: HttpRoute, inner: HttpRoute): HttpRoute {
  return {
    ...inner,
    name: joinNames(outer.name, inner.name),
    directResponse: inner.directResponse ?? outer.directResponse,
    rewrite: inner.rewrite ?? outer.rewrite,
    timeoutMs: inner.timeoutMs ?? outer.timeoutMs,
    retries: inner.retries ?? outer.retries,
    fault: inner.fault ?? outer.fault,
    mirrors: inner.mirrors.length === 0 ? outer.mirrors : inner.mirrors,
    corsPolicy: inner.corsPolicy ?? outer.corsPolicy,
    headers:
      isIdle(inner.headers.request) && isIdle(inner.headers.response)
        ? outer.headers
        : inner.headers,
  };
}

function isIdle({ set, add, remove }: HeaderOperations): boolean {
  return remove.length === 0 && Object.keys(set).length === 0 && Object.keys(add).length === 0;
}

function joinNames(outer: string, inner: string): string {
  return outer === '' || inner === '' ? outer + inner : `${outer}-${inner}`;
}

/**
 * Merges each match with those that it does not contradict; undefined if a match of the delegate
 * contradicts all.
 */
function mergeMatches(
  outer: readonly HttpMatch[],
  inner: readonly HttpMatch[],
): readonly HttpMatch[] | undefined {
  if (outer.length === 0) return inner;
  if (inner.length === 0) return outer;
  const merged = inner.map((innerMatch) =>
    outer
      .filter((outerMatch) => !contradicts(outerMatch, innerMatch))
      .map((outerMatch) => mergeMatch(outerMatch, innerMatch)),
  );
  return merged.some((matches) => matches.length === 0) ? undefined : merged.flat();
}

function mergeMatch(outer: HttpMatch, inner: HttpMatch): HttpMatch {
  return {
    ...inner,
    name: joinNames(outer.name, inner.name),
    uri: inner.uri ?? outer.uri,
    scheme: inner.scheme ?? outer.scheme,
    method: inner.method ?? outer.method,
    authority: inner.authority ?? outer.authority,
    headers: { ...outer.headers, ...inner.headers },
    withoutHeaders: { ...outer.withoutHeaders, ...inner.withoutHeaders },
    queryParams: { ...outer.queryParams, ...inner.queryParams },
    port: inner.port === 0 ? outer.port : inner.port,
    sourceLabels: { ...outer.sourceLabels, ...inner.sourceLabels },
    sourceNamespace: inner.sourceNamespace === '' ? outer.sourceNamespace : inner.sourceNamespace,
    gateways: inner.gateways.length === 0 ? outer.gateways : inner.gateways,
    statPrefix: inner.statPrefix === '' ? outer.statPrefix : inner.statPrefix,
  };
}

/** Returns whether the inner match may match a request that the outer one does not. */
function contradicts(outer: HttpMatch, inner: HttpMatch): boolean {
  const differ = <T>(a: T, b: T, none: T) => a !== none && b !== none && a !== b;
  return (
    (['uri', 'scheme', 'method', 'authority'] as const).some((field) => {
      const [a, b] = [outer[field], inner[field]];
      return a !== undefined && b !== undefined && isWider(b, a);
    }) ||
    (['headers', 'withoutHeaders', 'queryParams'] as const).some((field) =>
      Object.entries(inner[field]).some(
        ([name, match]) => Object.hasOwn(outer[field], name) && isWider(match, outer[field][name]),
      ),
    ) ||
    Object.entries(inner.sourceLabels).some(
      ([name, value]) => (ownMember(outer.sourceLabels, name) ?? value) !== value,
    ) ||
    outer.ignoreUriCase !== inner.ignoreUriCase ||
    differ(outer.port, inner.port, 0) ||
    differ(outer.sourceNamespace, inner.sourceNamespace, '') ||
    (outer.gateways.length > 0 &&
      inner.gateways.some((gateway) => !outer.gateways.includes(gateway)))
  );
}

/**
 * Returns whether the inner match may match a value that the outer one does not. That is unknown
 * for regular expressions, and then it is true.
 */
function isWider(inner: StringMatch | undefined, outer: StringMatch | undefined): boolean {
  if (
    inner === undefined ||
    outer === undefined ||
    inner.type === 'regex' ||
    outer.type === 'regex'
  )
    return true;
  if (outer.type === 'exact') return inner.type === 'prefix' || inner.value !== outer.value;
  return !inner.value.startsWith(outer.value);
}
