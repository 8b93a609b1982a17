import { firstOverlaps } from '../fields/first-overlaps.ts';
import { headerFlaw, isHeaderName } from '../fields/header-format.ts';
import { exportTo, gatewayName, hostName } from '../fields/host-names.ts';
import {
  below,
  boolean,
  count,
  duration,
  durationAbove0,
  list,
  maybe,
  members,
  needed,
  percent,
  type Place,
  type ReadMember,
  regex,
  refuseIfEmpty,
  text,
  texts,
  whole,
  wrong,
} from '../fields/members.ts';
import { checkNames, warnOfSkippedConditions, tcpRoute, tlsRoute } from './tcp-and-tls-route.ts';
import { destination } from './read-destination.ts';
import { cors } from './read-cors.ts';
import { fault, percentage, share } from './read-fault.ts';
import { httpMatch } from './read-http-match.ts';
import { redirect } from './read-redirect.ts';
import { checkClaimMatches } from './check-claim-matches.ts';
import type {
  HeaderOperations,
  Headers,
  HttpDestination,
  HttpRoute,
  Mirror,
  Retries,
  Rewrite,
  VirtualService,
} from './virtual-service.ts';
import { endOf } from '../fields/wildcard-host.ts';

const values: ReadMember<Readonly<Record<string, string>>> = (value, place) => {
  const read = texts(value, place);
  for (const [name, format] of Object.entries(read)) {
    checkName(name, below(place, name));
    const flaw = headerFlaw(format);
    if (flaw !== undefined) wrong(below(place, name), flaw);
  }
  return read;
};

function checkName(name: string, place: Place): void {
  if (name.toLowerCase() === 'host' || name === ':authority') return;
  if (name.startsWith(':')) wrong(place, `'${name}' cannot be changed here: use rewrite`);
  else if (!isHeaderName(name)) wrong(place, `'${name}' is not a valid name of a header`);
}

const operations: ReadMember<HeaderOperations> = (value, place) =>
  members(value, place, [], (get) => {
    const remove = get('remove', list(needed));
    remove.forEach((name, index) => {
      if (name.startsWith(':') || name.toLowerCase() === 'host')
        wrong(below(place, `remove[${index}]`), `'${name}' cannot be removed`);
      else if (name !== '' && !isHeaderName(name))
        wrong(below(place, `remove[${index}]`), `'${name}' is not a valid name of a header`);
    });
    return { set: get('set', values), add: get('add', values), remove };
  });

const headers: ReadMember<Headers> = (value, place) =>
  members(value, place, [], (get) => ({
    request: get('request', operations),
    response: get('response', operations),
  }));

const routeDestination: ReadMember<HttpDestination> = (value, place) =>
  members(value, place, [], (get) => ({
    destination: get('destination', destination),
    weight: get('weight', whole(0, 2 ** 31 - 1)) ?? 0,
    headers: get('headers', headers),
  }));

const mostInBody = 1 << 20;

const directResponse: ReadMember<HttpRoute['directResponse']> = (value, place) => {
  if (value === undefined) return undefined;
  return members(value, place, [], (get) => {
    const status = get('status', whole(200, 599));
    if (status === undefined)
      wrong(below(place, 'status'), 'it is missing: a status from 200 to 599');
    const body = get(
      'body',
      maybe((inner, bodyPlace) =>
        members(inner, bodyPlace, [], (bodyMember, has) => {
          const [string, bytes] = [bodyMember('string', text), bodyMember('bytes', text)];
          if (has('string') && has('bytes'))
            wrong(bodyPlace, 'string and bytes exclude each other: leave one out');
          if (Buffer.byteLength(string) > mostInBody || bytes.length > (mostInBody * 4) / 3)
            wrong(bodyPlace, 'it is larger than 1 MiB');
          return has('bytes') ? { bytes } : { text: string };
        }),
      ),
    );
    return { status: status ?? 200, body };
  });
};

const rewrite: ReadMember<Rewrite> = (value, place) =>
  members(value, place, [], (get) => {
    const uriRegex = get(
      'uriRegexRewrite',
      maybe((inner, regexPlace) =>
        members(inner, regexPlace, [], (regexMember) => ({
          match: regexMember('match', regex),
          rewrite: regexMember('rewrite', needed),
        })),
      ),
    );
    const read = { uri: get('uri', text), authority: get('authority', text), uriRegex };
    refuseIfEmpty(value, place, 'uri, uriRegexRewrite or authority');
    if (read.uri !== '' && uriRegex !== undefined)
      wrong(place, 'uri and uriRegexRewrite exclude each other: leave one out');
    if (/[\0\r\n]/.test(read.uri + read.authority))
      wrong(place, 'a line end cannot be in a rewrite');
    return read;
  });

const retryReasons = new Set(
  `5xx gateway-error reset reset-before-request connect-failure envoy-ratelimited retriable-4xx refused-stream retriable-status-codes
  retriable-headers http3-post-connect-failure cancelled deadline-exceeded internal resource-exhausted unavailable`.split(
    /\s+/,
  ),
);

const retries: ReadMember<Retries> = (value, place) =>
  members(value, place, [], (get, has) => {
    const retryOn = get('retryOn', text);
    const attempts = get('attempts', count) ?? 0;
    if (attempts === 0 && ['perTryTimeout', 'retryOn', 'retryRemoteLocalities'].some(has))
      wrong(
        below(place, 'attempts'),
        'without attempts there are no retries: give attempts, or leave the other fields out',
      );
    for (const word of retryOn.split(',').map((part) => part.trim()))
      if (word !== '' && !retryReasons.has(word) && !/^[1-5]\d\d$/.test(word))
        wrong(below(place, 'retryOn'), `'${word}' is not a reason to try again, or a status`);
    return {
      attempts,
      perTryTimeoutMs: get('perTryTimeout', duration),
      backoffMs: get('backoff', durationAbove0),
      retryOn,
      retryRemoteLocalities: get('retryRemoteLocalities', boolean),
      retryIgnorePreviousHosts: get('retryIgnorePreviousHosts', boolean),
    };
  });

const mirror: ReadMember<Mirror> = (value, place) =>
  members(value, place, [], (get) => ({
    destination: get('destination', destination),
    percentage: share(get) ?? 100,
  }));

const httpRoute: ReadMember<HttpRoute> = (value, place) => {
  const read = members(value, place, [], (get): HttpRoute => {
    const mirrors = get('mirrors', list(mirror));
    const mirrorDestination = get('mirror', maybe(destination));
    if (mirrorDestination !== undefined && mirrors.length > 0)
      wrong(below(place, 'mirror'), 'it excludes mirrors: leave one out');
    const mirrored = get('mirrorPercentage', maybe(percentage)) ?? get('mirrorPercent', percent);
    return {
      name: get('name', text),
      match: get('match', list(httpMatch)),
      route: get('route', list(routeDestination)),
      redirect: get('redirect', maybe(redirect)),
      directResponse: get('directResponse', directResponse),
      delegate: get(
        'delegate',
        maybe((inner, delegatePlace) =>
          members(inner, delegatePlace, [], (delegateMember) => ({
            name: delegateMember('name', needed),
            namespace: delegateMember('namespace', text),
          })),
        ),
      ),
      rewrite: get('rewrite', maybe(rewrite)),
      timeoutMs: get('timeout', duration),
      retries: get('retries', maybe(retries)),
      fault: get('fault', maybe(fault)),
      mirrors:
        mirrorDestination === undefined
          ? mirrors
          : [...mirrors, { destination: mirrorDestination, percentage: mirrored ?? 100 }],
      corsPolicy: get('corsPolicy', maybe(cors)),
      headers: get('headers', headers),
    };
  });
  check(read, place);
  return read;
};

/** Returns the values that a block of headers sets the authority to. */
const authoritiesIn = (block: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(block).flatMap(([name, value]) =>
    [':authority', 'host'].includes(name.toLowerCase()) ? [value] : [],
  );

function check(
  {
    route,
    redirect: to,
    directResponse: direct,
    delegate,
    rewrite: changed,
    match: matches,
    fault: broken,
    headers: heads,
  }: HttpRoute,
  place: Place,
): void {
  const ways = [
    route.length > 0,
    to !== undefined,
    direct !== undefined,
    delegate !== undefined,
  ].filter(Boolean).length;
  if (ways !== 1) wrong(place, 'it needs exactly one of route, redirect, directResponse, delegate');
  if (to !== undefined && changed !== undefined)
    wrong(below(place, 'rewrite'), 'a redirect is not rewritten: leave it out');
  if (to !== undefined && broken !== undefined)
    wrong(below(place, 'fault'), 'a redirect has no fault: leave it out');
  if (to?.prefixRewrite !== undefined)
    matches.forEach(({ uri }, index) => {
      if (uri !== undefined && uri.type !== 'prefix')
        wrong(
          below(place, `match[${index}].uri`),
          'redirect.prefixRewrite replaces a prefix: match by prefix, or give redirect.uri',
        );
    });
  const { set, add } = heads.request;
  const authorities = [
    changed?.authority ?? '',
    ...authoritiesIn(set),
    ...authoritiesIn(add),
  ].filter((authority) => authority !== '');
  if (authorities.length > 1)
    wrong(
      below(place, 'headers'),
      `the authority is set ${authorities.length} times, here and in rewrite: leave one`,
    );
  if (direct !== undefined && (changed !== undefined || broken !== undefined))
    wrong(place, 'a directResponse has no rewrite and no fault: leave them out');
  const sum = route.reduce((total, { weight }) => total + weight, 0);
  if (route.length > 1 && sum === 0)
    wrong(below(place, 'route'), 'the weights make 0: nothing could be chosen');
  if (sum >= 2 ** 32)
    wrong(below(place, 'route'), `the weights make ${sum}, which is more than 4294967295`);
  if (delegate !== undefined)
    matches.forEach(({ sourceLabels, sourceNamespace, gateways }, index) => {
      if (Object.keys(sourceLabels).length > 0 || sourceNamespace !== '' || gateways.length > 0)
        wrong(
          below(place, `match[${index}]`),
          'sourceLabels, sourceNamespace and gateways cannot be beside a delegate: leave them out',
        );
    });
}

export function readVirtualService(namespace: string): ReadMember<VirtualService> {
  return (value, place) =>
    members(value, place, [], (get) => {
      const hosts = get('hosts', list(hostName('too')));
      const earlier = firstOverlaps(hosts.map(endOf));
      hosts.forEach((host, index) => {
        const before = hosts[earlier[index] ?? -1];
        const reason =
          before === host
            ? `'${host}' is there twice`
            : `'${host}' and '${before ?? ''}' overlap: make a VirtualService for each`;
        if (before !== undefined) wrong(below(place, `hosts[${index}]`), reason);
      });
      const gateways = get('gateways', list(gatewayName));
      if (hosts.length === 0 && gateways.length > 0)
        wrong(
          below(place, 'gateways'),
          'a VirtualService without hosts is for delegation, and has no gateways',
        );
      if ((gateways.length === 0 || gateways.includes('mesh')) && hosts.includes('*'))
        wrong(
          below(place, `hosts[${hosts.indexOf('*')}]`),
          "'*' is for gateways, and not for the mesh: name the hosts",
        );
      const http = get('http', list(httpRoute));
      const isForMesh = gateways.length === 0 || gateways.includes('mesh');
      checkClaimMatches(http, isForMesh ? 'the mesh' : 'gateways', place);
      const [tls, tcp] = [get('tls', list(tlsRoute)), get('tcp', list(tcpRoute))];
      checkNames(tls, hosts, place);
      if (hosts.length === 0 && (tls.length > 0 || tcp.length > 0))
        wrong(
          below(place, 'hosts'),
          'a VirtualService without hosts is for delegation, and has no tls and tcp',
        );
      warnOfSkippedConditions({ tls, tcp }, isForMesh, place);
      if (http.length === 0 && tcp.length === 0 && tls.length === 0)
        wrong(below(place, 'http'), 'it is missing: at least one route');
      if (hosts.length === 0 && http.some(({ delegate }) => delegate !== undefined))
        wrong(below(place, 'hosts'), 'it is missing: at least one host');
      return {
        hosts,
        gateways: gateways.length > 0 ? gateways : ['mesh'],
        http,
        tls,
        tcp,
        exportTo: get('exportTo', exportTo(namespace, 'not')),
      };
    });
}
