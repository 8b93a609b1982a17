import { isHeaderName } from './header-format.ts';
import {
  below,
  boolean,
  labels,
  list,
  maybe,
  members,
  named,
  needed,
  port,
  type Read,
  stringMatch,
  text,
  uriMatch,
  wrong,
} from './members.ts';
import type { StringMatch } from './values.ts';
import type { HttpMatch } from './virtual-service.ts';

const headerMatches: Read<Readonly<Record<string, StringMatch | undefined>>> = (value, place) => {
  const read = named<StringMatch | undefined>((one, at) => (isNothing(one) ? undefined : stringMatch(one, at)))(value, place);
  for (const name of Object.keys(read)) {
    const isPseudo = [':method', ':path', ':authority', ':scheme'].includes(name);
    if (!isPseudo && !isHeaderName(name)) wrong(below(place, name), `'${name}' is no name of a header`);
  }
  return read;
};

function isNothing(value: unknown): boolean {
  return value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
}

const queryMatches: Read<Readonly<Record<string, StringMatch | undefined>>> = named((one, at) =>
  isNothing(one) ? undefined : stringMatch(one, at),
);

/** What a request is told by. */
export const httpMatch: Read<HttpMatch> = (value, place) =>
  members(value, place, [], (get) => ({
    name: get('name', text),
    uri: get('uri', maybe(uriMatch)),
    ignoreUriCase: get('ignoreUriCase', boolean) ?? false,
    scheme: get('scheme', maybe(stringMatch)),
    method: get('method', maybe(stringMatch)),
    authority: get('authority', maybe(stringMatch)),
    headers: get('headers', headerMatches),
    withoutHeaders: get('withoutHeaders', headerMatches),
    queryParams: get('queryParams', queryMatches),
    port: get('port', port) ?? 0,
    sourceLabels: get('sourceLabels', labels),
    sourceNamespace: get('sourceNamespace', text),
    gateways: get('gateways', list(needed)),
    statPrefix: get('statPrefix', text),
  }));
