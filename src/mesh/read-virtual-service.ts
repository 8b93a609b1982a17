import { headerFlaw, isHeaderName } from './header-format.ts';
import { below, boolean, count, duration, durationAbove0, exportTo, hostName, list, maybe, members, named, needed, oneOf, percent, type Place, port, type Read, regex, stringMatch, text, whole, wrong } from './members.ts'; // prettier-ignore
import { httpMatch } from './read-http-match.ts';
import type { StringMatch } from './values.ts';
import type { CorsPolicy, Destination, Fault, HeaderOperations, Headers, HttpDestination, HttpRoute, Mirror, Redirect, Retries, Rewrite, VirtualService } from './virtual-service.ts'; // prettier-ignore

const destination: Read<Destination> = (value, place) =>
  members(value, place, [], (get) => ({
    host: get('host', hostName('not')),
    subset: get('subset', text),
    port: get('port', (inner, at) => members(inner, at, [], (of) => of('number', port))) ?? 0,
  }));

const values: Read<Readonly<Record<string, string>>> = (value, place) => {
  const read = named(text)(value, place);
  for (const [name, format] of Object.entries(read)) {
    checkName(name, below(place, name));
    const flaw = headerFlaw(format);
    if (flaw !== undefined) wrong(below(place, name), flaw);
  }
  return read;
};

function checkName(name: string, place: Place): void {
  if (name.toLowerCase() === 'host' || name === ':authority') return;
  if (name.startsWith(':')) wrong(place, `'${name}' is not to be changed: use rewrite`);
  else if (!isHeaderName(name)) wrong(place, `'${name}' is no name of a header`);
}

const operations: Read<HeaderOperations> = (value, place) =>
  members(value, place, [], (get) => {
    const remove = get('remove', list(needed));
    remove.forEach((name, index) => {
      if (name.startsWith(':') || name.toLowerCase() === 'host') wrong(below(place, `remove[${index}]`), `'${name}' cannot be removed`);
      else if (name !== '' && !isHeaderName(name)) wrong(below(place, `remove[${index}]`), `'${name}' is no name of a header`);
    });
    return { set: get('set', values), add: get('add', values), remove };
  });

const headers: Read<Headers> = (value, place) =>
  members(value, place, [], (get) => ({ request: get('request', operations), response: get('response', operations) }));

const routeDestination: Read<HttpDestination> = (value, place) =>
  members(value, place, [], (get) => ({
    destination: get('destination', destination),
    weight: get('weight', whole(0, 2 ** 31 - 1)) ?? 0,
    headers: get('headers', headers),
  }));

const redirect: Read<Redirect> = (value, place) =>
  members(value, place, [], (get, has) => {
    const number = get('port', whole(1, 65_535));
    const derived = get('derivePort', oneOf({ FROM_PROTOCOL_DEFAULT: 'from-protocol-default', FROM_REQUEST_PORT: 'from-request-port' } as const, 'from-protocol-default')); // prettier-ignore
    if (has('port') && has('derivePort')) wrong(place, 'port and derivePort exclude each other: leave one out');
    const redirectCode = get('redirectCode', count) ?? 301;
    if (![0, 301, 302, 303, 307, 308].includes(redirectCode))
      wrong(below(place, 'redirectCode'), `${redirectCode} is not one of 301, 302, 303, 307, 308`);
    const scheme = get('scheme', text);
    if (scheme !== '' && scheme !== 'http' && scheme !== 'https') wrong(below(place, 'scheme'), `'${scheme}' is not http or https`);
    const made = { uri: get('uri', text), authority: get('authority', text), scheme, redirectCode };
    if (/[\0\r\n]/.test(made.uri + made.authority)) wrong(place, 'a line end cannot be in a redirect');
    return { ...made, port: number ?? (has('derivePort') ? derived : undefined) };
  });

const mostInBody = 1 << 20;

const directResponse: Read<HttpRoute['directResponse']> = (value, place) => {
  if (value === undefined) return undefined;
  return members(value, place, [], (get) => {
    const status = get('status', whole(200, 599));
    if (status === undefined) wrong(below(place, 'status'), 'it is missing: a status from 200 to 599');
    const body = get(
      'body',
      maybe((inner, at) =>
        members(inner, at, [], (of, has) => {
          const [string, bytes] = [of('string', text), of('bytes', text)];
          if (has('string') && has('bytes')) wrong(at, 'string and bytes exclude each other: leave one out');
          if (Buffer.byteLength(string) > mostInBody || bytes.length > (mostInBody * 4) / 3) wrong(at, 'it is larger than 1 MiB');
          return has('bytes') ? { bytes } : { text: string };
        }),
      ),
    );
    return { status: status ?? 200, body };
  });
};

const rewrite: Read<Rewrite> = (value, place) =>
  members(value, place, [], (get) => {
    const uriRegex = get(
      'uriRegexRewrite',
      maybe((inner, at) => members(inner, at, [], (of) => ({ match: of('match', regex), rewrite: of('rewrite', text) }))),
    );
    const read = { uri: get('uri', text), authority: get('authority', text), uriRegex };
    if (read.uri !== '' && uriRegex !== undefined) wrong(place, 'uri and uriRegexRewrite exclude each other: leave one out');
    if (/[\0\r\n]/.test(read.uri + read.authority)) wrong(place, 'a line end cannot be in a rewrite');
    return read;
  });

const retryReasons = new Set(
  `5xx gateway-error reset reset-before-request connect-failure envoy-ratelimited retriable-4xx refused-stream retriable-status-codes
  retriable-headers http3-post-connect-failure cancelled deadline-exceeded internal resource-exhausted unavailable`.split(/\s+/),
);

const retries: Read<Retries> = (value, place) =>
  members(value, place, [], (get) => {
    const retryOn = get('retryOn', text);
    for (const word of retryOn.split(',').map((one) => one.trim()))
      if (word !== '' && !retryReasons.has(word) && !/^[1-5]\d\d$/.test(word))
        wrong(below(place, 'retryOn'), `'${word}' is no reason to try again, and no status`);
    return {
      attempts: get('attempts', count) ?? 0,
      perTryTimeoutMs: get('perTryTimeout', duration),
      backoffMs: get('backoff', durationAbove0),
      retryOn,
      retryRemoteLocalities: get('retryRemoteLocalities', boolean),
      retryIgnorePreviousHosts: get('retryIgnorePreviousHosts', boolean),
    };
  });

/** `percentage.value`, or the `percent` of before; undefined where none is given. */
function share(get: <T>(name: string, read: Read<T>) => T): number | undefined {
  const value = get('percentage', (inner, at) => members(inner, at, [], (of) => of('value', percent)));
  return value ?? get('percent', percent);
}

const grpcStatus = `OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED
  FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED`.split(/\s+/);

const fault: Read<Fault> = (value, place) =>
  members(value, place, [], (get) => ({
    delay: get(
      'delay',
      maybe((inner, at) =>
        members(inner, at, ['exponentialDelay'], (of, has) => {
          const fixedDelayMs = of('fixedDelay', durationAbove0);
          if (!has('fixedDelay')) wrong(below(at, 'fixedDelay'), 'it is missing: a duration of 1ms or more');
          return { fixedDelayMs: fixedDelayMs ?? 0, percentage: share(of) };
        }),
      ),
    ),
    abort: get(
      'abort',
      maybe((inner, at) =>
        members(inner, at, ['http2Error'], (of, has) => {
          const http = of('httpStatus', whole(200, 599));
          const grpc = of('grpcStatus', text);
          const number = grpcStatus.indexOf(grpc);
          if (has('httpStatus') === has('grpcStatus')) wrong(at, 'it needs exactly one of httpStatus, grpcStatus');
          if (grpc !== '' && number < 0) wrong(below(at, 'grpcStatus'), `'${grpc}' is not one of ${grpcStatus.join(', ')}`);
          return { status: grpc === '' ? { http: http ?? 503 } : { grpc: number }, percentage: share(of) };
        }),
      ),
    ),
  }));

const mirror: Read<Mirror> = (value, place) =>
  members(value, place, [], (get) => ({ destination: get('destination', destination), percentage: share(get) ?? 100 }));

const cors: Read<CorsPolicy> = (value, place) =>
  members(value, place, [], (get) => {
    const exact = get('allowOrigin', list(text)).map((origin): StringMatch => ({ type: 'exact', value: origin }));
    const allowHeaders = get('allowHeaders', list(text));
    return {
      allowOrigins: [...get('allowOrigins', list(stringMatch)), ...exact],
      allowMethods: get('allowMethods', list(text)),
      allowHeaders,
      exposeHeaders: get('exposeHeaders', list(text)),
      maxAgeMs: get('maxAge', duration),
      allowCredentials: get('allowCredentials', boolean),
      unmatchedPreflights: get('unmatchedPreflights', oneOf({ UNSPECIFIED: 'unspecified', FORWARD: 'forward', IGNORE: 'ignore' } as const, 'unspecified')), // prettier-ignore
    };
  });

const httpRoute: Read<HttpRoute> = (value, place) => {
  const read = members(value, place, [], (get): HttpRoute => {
    const mirrors = get('mirrors', list(mirror));
    const one = get('mirror', maybe(destination));
    const percentage = get('mirrorPercentage', (inner, at) => members(inner, at, [], (of) => of('value', percent))) ?? get('mirrorPercent', percent); // prettier-ignore
    return {
      name: get('name', text),
      match: get('match', list(httpMatch)),
      route: get('route', list(routeDestination)),
      redirect: get('redirect', maybe(redirect)),
      directResponse: get('directResponse', directResponse),
      delegate: get('delegate', maybe((inner, at) => members(inner, at, [], (of) => ({ name: of('name', needed), namespace: of('namespace', text) })))), // prettier-ignore
      rewrite: get('rewrite', maybe(rewrite)),
      timeoutMs: get('timeout', duration),
      retries: get('retries', maybe(retries)),
      fault: get('fault', maybe(fault)),
      mirrors: one === undefined ? mirrors : [...mirrors, { destination: one, percentage: percentage ?? 100 }],
      corsPolicy: get('corsPolicy', maybe(cors)),
      headers: get('headers', headers),
    };
  });
  check(read, place);
  return read;
};

function check(
  { route, redirect: to, directResponse: direct, delegate, rewrite: changed, match: matches, fault: broken }: HttpRoute,
  place: Place,
): void {
  const ways = [route.length > 0, to !== undefined, direct !== undefined, delegate !== undefined].filter(Boolean).length;
  if (ways !== 1) wrong(place, 'it needs exactly one of route, redirect, directResponse, delegate');
  if (to !== undefined && changed !== undefined) wrong(below(place, 'rewrite'), 'a redirect is not rewritten: leave it out');
  if (direct !== undefined && (changed !== undefined || broken !== undefined))
    wrong(place, 'a directResponse has no rewrite and no fault: leave them out');
  const sum = route.reduce((all, { weight }) => all + weight, 0);
  if (route.length > 1 && sum === 0) wrong(below(place, 'route'), 'the weights make 0: nothing could be chosen');
  if (sum >= 2 ** 32) wrong(below(place, 'route'), `the weights make ${sum}, which is more than 4294967295`);
  if (delegate !== undefined)
    matches.forEach(({ sourceLabels, sourceNamespace, gateways }, index) => {
      if (Object.keys(sourceLabels).length > 0 || sourceNamespace !== '' || gateways.length > 0)
        wrong(below(place, `match[${index}]`), 'with a delegate there is no sourceLabels, sourceNamespace, gateways');
    });
}

export function readVirtualService(namespace: string): Read<VirtualService> {
  return (value, place) =>
    members(value, place, ['tcp', 'tls'], (get, has) => {
      const hosts = get('hosts', list(hostName('too')));
      hosts.forEach((host, index) => {
        if (hosts.indexOf(host) !== index) wrong(below(place, `hosts[${index}]`), `'${host}' is there twice`);
      });
      const gateways = get('gateways', list(needed));
      if ((gateways.length === 0 || gateways.includes('mesh')) && hosts.includes('*'))
        wrong(below(place, `hosts[${hosts.indexOf('*')}]`), "'*' is for gateways, and not for the mesh: name the hosts");
      const http = get('http', list(httpRoute));
      if (http.length === 0 && !has('tcp') && !has('tls')) wrong(below(place, 'http'), 'it is missing: at least one route');
      if (hosts.length === 0 && http.some(({ delegate }) => delegate !== undefined)) wrong(below(place, 'hosts'), 'it is missing: at least one host'); // prettier-ignore
      return { hosts, gateways: gateways.length > 0 ? gateways : ['mesh'], http, exportTo: get('exportTo', exportTo(namespace)) };
    });
}
