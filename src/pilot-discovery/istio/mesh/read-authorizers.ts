import type { Authorizer, HttpChecks, NamedAuthorizer } from './authorizer.ts';
import { canonicalHost } from '../fields/canonical.ts';
import { orClosed } from '../fields/closable.ts';
import { headerFlaw, isHeaderName } from '../fields/header-format.ts';
import { hostName, isLabel } from '../fields/host-names.ts';
import {
  below,
  boolean,
  durationAbove0,
  type Get,
  ignored,
  list,
  maybe,
  members,
  needed,
  type Place,
  port,
  type ReadMember,
  text,
  texts,
  warn,
  whole,
  wrong,
} from '../fields/members.ts';
import { telemetryKinds } from '../telemetry/read-extension-provider.ts';

/** Istio's default. */
const defaultTimeoutMs = 600_000;

/** The statuses that Envoy can answer with. */
const statuses = new Set([
  ...[
    100, 200, 201, 202, 203, 204, 205, 206, 207, 208, 226, 300, 301, 302, 303, 304, 305, 307, 308,
  ],
  ...[
    400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421,
  ],
  ...[422, 423, 424, 426, 428, 429, 431, 500, 501, 502, 503, 504, 505, 506, 507, 508, 510, 511],
]);

const status: ReadMember<number | undefined> = (value, place) => {
  const read = whole(100, 599)(value, place);
  if (read !== undefined && !statuses.has(read))
    wrong(place, `${read} is not a status that Envoy answers with`);
  return read;
};

/** Reads `HOST`, or `NAMESPACE/HOST`. */
const service: ReadMember<Pick<Authorizer, 'namespace' | 'host'>> = (value, place) => {
  const read = needed(value, place);
  const [host = '', namespace = '', ...more] = read.split('/').reverse();
  if (read === '') return { namespace, host };
  if (more.length > 0 || (read.includes('/') && !isLabel(namespace)))
    wrong(place, `'${read}' is not a service: give HOST, or NAMESPACE/HOST`);
  else if (host.startsWith('*')) wrong(place, `'${read}' is not one service: name its host`);
  else hostName('too')(host, place);
  return { namespace, host: canonicalHost(host) };
};

const pathPrefix: ReadMember<string> = (value, place) => {
  const read = text(value, place);
  if (read !== '' && !/^\/[!-~]*$/.test(read))
    wrong(place, `'${read}' is not the beginning of a path: it starts with / and has no spaces`);
  return read;
};

/** Reads the name of a header, which may begin or end with `*`. */
const headerPattern: ReadMember<string> = (value, place) => {
  const read = needed(value, place);
  if (read === '*') wrong(place, "'*' stands for each header: name some, such as x-*");
  else if (read !== '' && !isHeaderName(read.replace(/^:/, '')))
    wrong(place, `'${read}' is not a valid name of a header`);
  return read;
};

const addedHeaders: ReadMember<HttpChecks['addedHeaders']> = (value, place) => {
  const read = Object.entries(texts(value, place));
  for (const [name, format] of read) {
    if (!isHeaderName(name) || name.toLowerCase() === 'host')
      wrong(below(place, name), `'${name}' is not a valid name of a header that can be added`);
    const flaw = headerFlaw(format);
    if (flaw !== undefined) wrong(below(place, name), flaw);
  }
  return read.sort(([a], [b]) => (a < b ? -1 : 1));
};

/** The limit of Envoy's field. */
const mostBytes = 2 ** 32 - 1;

const body: ReadMember<Authorizer['body']> = maybe((value, place) =>
  members(value, place, [], (get, has) => {
    if (!has('maxRequestBytes')) wrong(below(place, 'maxRequestBytes'), 'it is missing');
    return {
      maxBytes: get('maxRequestBytes', whole(1, mostBytes)) ?? mostBytes,
      longer: get('allowPartialMessage', boolean) === true ? 'part' : 'whole',
      as: get('packAsBytes', boolean) === true ? 'bytes' : 'text',
    };
  }),
);

const authorizer =
  (protocolOf: (get: Get) => Authorizer['protocol']): ReadMember<Authorizer> =>
  (value, place) =>
    members(value, place, [], (get, has) => {
      if (!has('port')) wrong(below(place, 'port'), 'it is missing');
      return {
        ...get('service', service),
        port: get('port', port) ?? 0,
        protocol: protocolOf(get),
        timeoutMs: get('timeout', durationAbove0) ?? defaultTimeoutMs,
        withoutAnswer: get('failOpen', boolean) === true ? 'let-through' : 'refused',
        statusWithoutAnswer: get('statusOnError', status),
        body: get('includeRequestBodyInCheck', body),
        routes: get('clearRouteCache', boolean) === true ? 'chosen-again' : 'kept',
      };
    });

const overHttp = authorizer((get) => {
  const shown = get('includeRequestHeadersInCheck', list(headerPattern));
  const shownOfOld = get('includeHeadersInCheck', list(headerPattern));
  return {
    type: 'http',
    pathPrefix: get('pathPrefix', pathPrefix),
    shownHeaders: shown.length > 0 ? shown : shownOfOld,
    addedHeaders: get('includeAdditionalHeadersInCheck', addedHeaders),
    toUpstream: get('headersToUpstreamOnAllow', list(headerPattern)),
    toDownstreamIfDenied: get('headersToDownstreamOnDeny', list(headerPattern)),
    toDownstreamIfAllowed: get('headersToDownstreamOnAllow', list(headerPattern)),
  };
});

const overGrpc = authorizer(() => ({ type: 'grpc' }));

const consequence = 'requests that a policy sends to this provider are refused';

const orRefused = (read: ReadMember<Authorizer>) => orClosed(read, consequence, 'errors');

interface Provider extends NamedAuthorizer {
  readonly place: Place;
}

/** Reads one provider; undefined if it is of another kind, or has no name. */
const provider: ReadMember<Provider | undefined> = (value, place) =>
  members(value, place, [], (get, has) => {
    for (const kind of telemetryKinds.keys()) get(kind, ignored);
    const name = get('name', text);
    const [first, second] = [
      ...(has('envoyExtAuthzHttp') ? [get('envoyExtAuthzHttp', orRefused(overHttp))] : []),
      ...(has('envoyExtAuthzGrpc') ? [get('envoyExtAuthzGrpc', orRefused(overGrpc))] : []),
    ];
    if (first === undefined) return undefined;
    if (name === '') warn(below(place, 'name'), 'it is missing, so no policy can name it');
    if (second !== undefined)
      warn(place, `it has envoyExtAuthzHttp and envoyExtAuthzGrpc: give one; ${consequence}`);
    const authorizer = second === undefined ? first : 'closed';
    return name === '' ? undefined : { name, place, authorizer };
  });

/** Reads the `extensionProviders` of a MeshConfig that policies may ask. */
export const authorizers: ReadMember<readonly NamedAuthorizer[]> = (value, place) => {
  const providers = list(provider)(value, place).filter((entry) => entry !== undefined);
  const byName = new Map(providers.toReversed().map((entry) => [entry.name, entry]));
  const duplicates = providers.filter((entry) => byName.get(entry.name) !== entry);
  for (const { name, place: entryPlace } of duplicates)
    warn(entryPlace, `the name ${name} is there twice; ${consequence}`);
  const twice = new Set(duplicates.map(({ name }) => name));
  return [...byName.values()].reverse().map(({ name, authorizer }) => ({
    name,
    authorizer: twice.has(name) ? 'closed' : authorizer,
  }));
};
