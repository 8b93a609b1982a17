import type { StringMatch } from '../../istio/fields/values.ts';
import { claimPath, isClaim } from '../../istio/fields/claim-path.ts';
import type { HttpMatch } from '../../istio/traffic/virtual-service.ts';
import type {
  HeaderMatcherSchema,
  QueryParameterMatcherSchema,
  RouteMatchSchema,
} from '../../../shared/proto/envoy/config/route/v3/route_components_pb.ts';
import type { MetadataMatcherSchema } from '../../../shared/proto/envoy/type/matcher/v3/metadata_pb.ts';
import type { ValueMatcherSchema } from '../../../shared/proto/envoy/type/matcher/v3/value_pb.ts';
import { claimMatcher, oneOrInList } from '../encoding/claim-matcher.ts';
import { stringMatcher } from '../encoding/string-matcher.ts';
import type { Init } from '../encoding/typed-config.ts';

type RouteMatch = Init<typeof RouteMatchSchema>;
type HeaderMatcher = Init<typeof HeaderMatcherSchema>;
type QueryMatcher = Init<typeof QueryParameterMatcherSchema>;
type ClaimMatcher = Init<typeof MetadataMatcherSchema>;
type ValueMatcher = Init<typeof ValueMatcherSchema>;
type Matches = Readonly<Record<string, StringMatch | undefined>>;

/** Returns which requests a route takes. */
export function routeMatch(match: HttpMatch | undefined): RouteMatch {
  if (match === undefined) return { pathSpecifier: { case: 'prefix', value: '/' } };
  const { uri, headers, withoutHeaders, method, authority, scheme, queryParams, ignoreUriCase } =
    match;
  const named = [
    ...Object.entries(headers)
      .filter(([name]) => !isClaim(name))
      .map(header),
    ...Object.entries(withoutHeaders)
      .filter(([name]) => !isClaim(name))
      .map(absent),
  ];
  const pseudo = Object.entries({ ':method': method, ':authority': authority, ':scheme': scheme });
  return {
    pathSpecifier: path(uri),
    caseSensitive: !ignoreUriCase,
    headers: [
      ...named.sort((a, b) => ((a.name ?? '') < (b.name ?? '') ? -1 : 1)),
      ...pseudo.flatMap(([name, value]) => (value === undefined ? [] : [header([name, value])])),
    ],
    queryParameters: sorted(queryParams).map(queryMatcher),
    dynamicMetadata: [
      ...sorted(headers).flatMap(claim),
      ...sorted(withoutHeaders).flatMap((entry) =>
        claim(entry).map((matcher) => ({ ...matcher, invert: true })),
      ),
    ],
  };
}

/** Returns whether a match takes every request, so that no later route is reached. */
export function takesAll({
  pathSpecifier,
  headers = [],
  queryParameters = [],
  dynamicMetadata = [],
}: RouteMatch): boolean {
  const anyPath =
    (pathSpecifier?.case === 'prefix' && pathSpecifier.value === '/') ||
    (pathSpecifier?.case === 'safeRegex' && pathSpecifier.value.regex === '.*');
  const others = headers.length + queryParameters.length + dynamicMetadata.length;
  return anyPath && others === 0;
}

/** Returns the path of a match, for the name of a span. */
export function pathOf({ pathSpecifier }: RouteMatch): string {
  switch (pathSpecifier?.case) {
    case 'prefix':
      return `${pathSpecifier.value}*`;
    case 'path':
      return pathSpecifier.value;
    case 'safeRegex':
      return pathSpecifier.value.regex ?? '';
    default:
      return '/*';
  }
}

function path(uri: StringMatch | undefined): NonNullable<RouteMatch['pathSpecifier']> {
  switch (uri?.type) {
    case undefined:
      return { case: 'prefix', value: '/' };
    case 'exact':
      return { case: 'path', value: uri.value };
    case 'prefix':
      return { case: 'prefix', value: uri.value };
    case 'regex':
      return { case: 'safeRegex', value: { regex: uri.value } };
  }
}

function header([name, match]: readonly [string, StringMatch | undefined]): HeaderMatcher {
  if (match === undefined)
    return { name, headerMatchSpecifier: { case: 'presentMatch', value: true } };
  return { name, headerMatchSpecifier: { case: 'stringMatch', value: stringMatcher(match) } };
}

/** Returns the match of a claim in a valid token; none for a match of a header. */
function claim([name, match]: readonly [string, StringMatch | undefined]): ClaimMatcher[] {
  const path = claimPath(name);
  if (path === undefined) return [];
  const value: ValueMatcher =
    match === undefined
      ? { matchPattern: { case: 'presentMatch', value: true } }
      : oneOrInList({ matchPattern: { case: 'stringMatch', value: stringMatcher(match) } });
  return [claimMatcher(path, value)];
}

/** Matches if a header does not have this value, or is missing. */
const absent = ([name, match]: readonly [string, StringMatch | undefined]): HeaderMatcher => ({
  ...header([name, match]),
  invertMatch: true,
  treatMissingHeaderAsEmpty: match !== undefined,
});

function queryMatcher([name, match]: readonly [string, StringMatch | undefined]): QueryMatcher {
  if (match === undefined)
    return { name, queryParameterMatchSpecifier: { case: 'presentMatch', value: true } };
  return {
    name,
    queryParameterMatchSpecifier: { case: 'stringMatch', value: stringMatcher(match) },
  };
}

const sorted = (matches: Matches): [string, StringMatch | undefined][] =>
  Object.entries(matches).sort(([a], [b]) => (a < b ? -1 : 1));
