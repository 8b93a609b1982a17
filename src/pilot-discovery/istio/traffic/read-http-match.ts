import { isClaim } from '../fields/claim-path.ts';
import { isHeaderName } from '../fields/header-format.ts';
import { gatewayName } from '../fields/host-names.ts';
import {
  below,
  boolean,
  list,
  maybe,
  members,
  named,
  port,
  type ReadMember,
  stringMatch,
  text,
  uriMatch,
  wrong,
} from '../fields/members.ts';
import { matchLabels } from '../fields/match-labels.ts';
import type { StringMatch } from '../fields/values.ts';
import type { HttpMatch } from './virtual-service.ts';
import { isObject } from '../../../shared/text/is-object.ts';

const headerMatches: ReadMember<Readonly<Record<string, StringMatch | undefined>>> = (
  value,
  place,
) => {
  const read = named<StringMatch | undefined>((match, matchPlace) =>
    isNothing(match) ? undefined : stringMatch(match, matchPlace),
  )(value, place);
  for (const name of Object.keys(read)) {
    const isPseudo = [':method', ':path', ':authority', ':scheme'].includes(name);
    if (!isPseudo && !isClaim(name) && !isHeaderName(name))
      wrong(below(place, name), `'${name}' is not a valid name of a header`);
  }
  return read;
};

/** Reads `withoutHeaders`. The regex `*` means any value, as in Istio, although RE2 refuses it. */
const absentMatches: ReadMember<HttpMatch['withoutHeaders']> = (value, place) => {
  const isAny = (match: unknown) =>
    isObject(match) && Object.keys(match).length === 1 && match['regex'] === '*';
  const read = isObject(value)
    ? Object.fromEntries(
        Object.entries(value).map(([name, match]) => [name, isAny(match) ? {} : match]),
      )
    : value;
  return headerMatches(read, place);
};

function isNothing(value: unknown): boolean {
  return (
    value === undefined ||
    (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
  );
}

const queryMatches: ReadMember<Readonly<Record<string, StringMatch | undefined>>> = named(
  (match, matchPlace) => (isNothing(match) ? undefined : stringMatch(match, matchPlace)),
);

/** Reads the conditions for a request. */
export const httpMatch: ReadMember<HttpMatch> = (value, place) =>
  members(value, place, [], (get) => ({
    name: get('name', text),
    uri: get('uri', maybe(uriMatch)),
    ignoreUriCase: get('ignoreUriCase', boolean) ?? false,
    scheme: get('scheme', maybe(stringMatch)),
    method: get('method', maybe(stringMatch)),
    authority: get('authority', maybe(stringMatch)),
    headers: get('headers', headerMatches),
    withoutHeaders: get('withoutHeaders', absentMatches),
    queryParams: get('queryParams', queryMatches),
    port: get('port', port) ?? 0,
    sourceLabels: get('sourceLabels', matchLabels),
    sourceNamespace: get('sourceNamespace', text),
    gateways: get('gateways', list(gatewayName)),
    statPrefix: get('statPrefix', text),
  }));
