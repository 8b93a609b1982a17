import type {
  ConnectionPool,
  DestinationRule,
  HashKey,
  Http2KeepAlive,
  LoadBalancer,
  OutlierDetection,
  PortPolicy,
  ProxyProtocol,
  RetryBudget,
  Subset,
  TrafficPolicy,
} from './destination-rule.ts';
import { headerName } from '../fields/read-header-name.ts';
import { exportTo, hostName, subsetName } from '../fields/host-names.ts';
import { matchLabels, selector } from '../fields/match-labels.ts';
import { tunnel } from './read-tunnel.ts';
import { clientTls } from './read-client-tls.ts';
import { localities } from './read-localities.ts';
import {
  below,
  boolean,
  count,
  duration,
  durationAbove0,
  type Get,
  list,
  maybe,
  members,
  needed,
  oneOf,
  percent,
  port,
  type ReadMember,
  refuseIfEmpty,
  text,
  warn,
  whole,
  wrong,
} from '../fields/members.ts';

const cookie: ReadMember<HashKey> = (value, place) =>
  members(value, place, ['attributes'], (get) => ({
    type: 'cookie',
    name: get('name', needed),
    path: get('path', text),
    ttlMs: get('ttl', duration),
  }));

const consistentHash: ReadMember<LoadBalancer['policy']> = (value, place) =>
  members(value, place, [], (get, has) => {
    const keys = (
      ['httpHeaderName', 'httpCookie', 'useSourceIp', 'httpQueryParameterName'] as const
    ).filter(has);
    if (keys.length !== 1)
      wrong(
        place,
        'it needs exactly one of httpHeaderName, httpCookie, useSourceIp, httpQueryParameterName',
      );
    const header = get('httpHeaderName', maybe(headerName));
    const byCookie = get('httpCookie', maybe(cookie));
    const bySource = get('useSourceIp', boolean);
    const parameter = get('httpQueryParameterName', maybe(needed));
    if (bySource === false)
      wrong(
        below(place, 'useSourceIp'),
        'false gives no key: set it to true, or leave consistentHash out',
      );
    const key: HashKey =
      byCookie ??
      (parameter !== undefined
        ? { type: 'query-parameter', name: parameter }
        : header !== undefined
          ? { type: 'header', name: header }
          : { type: 'source-ip' });
    const minimum = get('minimumRingSize', whole(0, 8 * 1024 * 1024));
    const inner = get(
      'ringHash',
      maybe((ring, ringPlace) =>
        members(
          ring,
          ringPlace,
          [],
          (getRing) => getRing('minimumRingSize', whole(0, 8 * 1024 * 1024)) ?? 0,
        ),
      ),
    );
    const maglev = get(
      'maglev',
      maybe((table, tablePlace) =>
        members(
          table,
          tablePlace,
          [],
          (getTable) => getTable('tableSize', whole(1, 5_000_011)) ?? 65_537,
        ),
      ),
    );
    if (maglev !== undefined && !isPrime(maglev))
      wrong(below(place, 'maglev.tableSize'), `${maglev} is not a prime number`);
    if (maglev !== undefined && inner !== undefined)
      wrong(place, 'ringHash and maglev exclude each other: leave one out');
    const ring =
      maglev === undefined
        ? ({ type: 'ring-hash', minimumRingSize: inner ?? minimum ?? 1024 } as const)
        : ({ type: 'maglev', tableSize: maglev } as const);
    return { type: 'consistent-hash', key, ring };
  });

function isPrime(number: number): boolean {
  for (let divisor = 2; divisor * divisor <= number; divisor += 1)
    if (number % divisor === 0) return false;
  return number > 1;
}

const simple = {
  UNSPECIFIED: 'unspecified',
  LEAST_REQUEST: 'least-request',
  LEAST_CONN: 'least-request',
  ROUND_ROBIN: 'round-robin',
  RANDOM: 'random',
  PASSTHROUGH: 'passthrough',
} as const;

const loadBalancer: ReadMember<LoadBalancer> = (value, place) =>
  members(value, place, [], (get, has) => {
    const hash = get('consistentHash', maybe(consistentHash));
    const type = get('simple', oneOf(simple, 'unspecified'));
    if (hash !== undefined && has('simple'))
      wrong(place, 'simple and consistentHash exclude each other: leave one out');
    const seconds = get('warmupDurationSecs', duration);
    const warmup = get(
      'warmup',
      maybe((inner, warmupPlace) =>
        members(inner, warmupPlace, [], (getWarmup, hasOf) => {
          if (!hasOf('duration'))
            wrong(below(warmupPlace, 'duration'), 'it is missing: a duration');
          return {
            durationMs: getWarmup('duration', duration) ?? 0,
            minimumPercent: getWarmup('minimumPercent', percent) ?? 10,
            aggression: getWarmup('aggression', ratio) ?? 1,
          };
        }),
      ),
    );
    return {
      policy: hash ?? { type },
      locality: get('localityLbSetting', maybe(localities)),
      warmup:
        warmup ??
        (seconds === undefined
          ? undefined
          : { durationMs: seconds, minimumPercent: undefined, aggression: undefined }),
    };
  });

const ratio: ReadMember<number | undefined> = (value, place) => {
  if (value === undefined || (typeof value === 'number' && value >= 1)) return value;
  wrong(place, 'it is not a number from 1 on');
  return undefined;
};

/** Envoy takes no interval or timeout below 1 ms. */
const http2KeepAlive: ReadMember<Http2KeepAlive> = (value, place) =>
  members(value, place, [], (get, has) => {
    for (const name of ['interval', 'timeout'] as const)
      if (!has(name)) wrong(below(place, name), 'it is missing: a duration');
    return {
      intervalMs: get('interval', durationAbove0) ?? 1,
      timeoutMs: get('timeout', durationAbove0) ?? 1,
    };
  });

const written: ReadMember<ConnectionPool> = (value, place) =>
  members(value, place, [], (get) => ({
    tcp: get('tcp', (inner, tcpPlace) =>
      members(inner, tcpPlace, [], (getTcp) => ({
        maxConnections: getTcp('maxConnections', count),
        connectTimeoutMs: getTcp('connectTimeout', durationAbove0),
        tcpKeepalive: getTcp(
          'tcpKeepalive',
          maybe((keep, within) =>
            members(keep, within, [], (getKeepalive) => ({
              probes: getKeepalive('probes', count),
              timeMs: getKeepalive('time', durationAbove0),
              intervalMs: getKeepalive('interval', durationAbove0),
            })),
          ),
        ),
        maxConnectionDurationMs: getTcp('maxConnectionDuration', durationAbove0),
        idleTimeoutMs: getTcp('idleTimeout', duration),
      })),
    ),
    http: get('http', (inner, httpPlace) =>
      members(inner, httpPlace, [], (getHttp) => ({
        http1MaxPendingRequests: getHttp('http1MaxPendingRequests', count),
        http2MaxRequests: getHttp('http2MaxRequests', count),
        maxRequestsPerConnection: getHttp('maxRequestsPerConnection', count),
        maxRetries: getHttp('maxRetries', count),
        idleTimeoutMs: getHttp('idleTimeout', duration),
        h2UpgradePolicy: getHttp(
          'h2UpgradePolicy',
          oneOf(
            { DEFAULT: 'default', DO_NOT_UPGRADE: 'do-not-upgrade', UPGRADE: 'upgrade' } as const,
            'default',
          ),
        ),
        useClientProtocol: getHttp('useClientProtocol', boolean) ?? false,
        maxConcurrentStreams: getHttp('maxConcurrentStreams', count),
        http2KeepAlive: getHttp('http2KeepAlive', maybe(http2KeepAlive)),
      })),
    ),
  }));

export const connectionPool: ReadMember<ConnectionPool> = (value, place) => {
  const read = written(value, place);
  refuseIfEmpty(value, place, 'tcp or http');
  const { h2UpgradePolicy, useClientProtocol } = read.http;
  if (useClientProtocol && h2UpgradePolicy === 'upgrade')
    wrong(
      below(place, 'http.useClientProtocol'),
      'it excludes h2UpgradePolicy UPGRADE: leave one out',
    );
  return read;
};

/** Warns of a setting that Istio itself ignores now. */
const heededNoMore: ReadMember<undefined> = (value, place) => {
  const instead = 'use consecutive5xxErrors or consecutiveGatewayErrors';
  if (value !== undefined) warn(place, `it no longer has an effect, as in Istio: ${instead}`);
  return undefined;
};

const outlierDetection: ReadMember<OutlierDetection> = (value, place) =>
  members(value, place, [], (get) => {
    get('consecutiveErrors', heededNoMore);
    const read = detectionOf(get);
    if (!read.splitExternalLocalOriginErrors && (read.consecutiveLocalOriginFailures ?? 0) > 0)
      wrong(
        below(place, 'consecutiveLocalOriginFailures'),
        'it needs splitExternalLocalOriginErrors: true',
      );
    return read;
  });

function detectionOf(get: Get): OutlierDetection {
  return {
    consecutive5xxErrors: get('consecutive5xxErrors', count),
    consecutiveGatewayErrors: get('consecutiveGatewayErrors', count),
    splitExternalLocalOriginErrors: get('splitExternalLocalOriginErrors', boolean) ?? false,
    consecutiveLocalOriginFailures: get('consecutiveLocalOriginFailures', count),
    intervalMs: get('interval', durationAbove0),
    baseEjectionTimeMs: get('baseEjectionTime', durationAbove0),
    maxEjectionPercent: get('maxEjectionPercent', whole(0, 100)),
    minHealthPercent: get('minHealthPercent', whole(0, 100)),
  };
}

function policyOf(get: Get): PortPolicy {
  return {
    loadBalancer: get('loadBalancer', maybe(loadBalancer)),
    connectionPool: get('connectionPool', maybe(connectionPool)),
    outlierDetection: get('outlierDetection', maybe(outlierDetection)),
    tls: get('tls', maybe(clientTls)),
  };
}

const proxyProtocol: ReadMember<ProxyProtocol> = (value, place) =>
  members(value, place, [], (get) => get('version', oneOf({ V1: 'V1', V2: 'V2' } as const, 'V1')));

/** The defaults are those of Istio 1.27, which has the field. */
const retryBudget: ReadMember<RetryBudget> = (value, place) =>
  members(value, place, [], (get) => ({
    percent: get('percent', percent) ?? 20,
    least: get('minRetryConcurrency', count) ?? 3,
  }));

const policyParts = 'loadBalancer, connectionPool, outlierDetection, tls';

const trafficPolicy: ReadMember<TrafficPolicy> = (value, place) =>
  members(value, place, [], (get, has) => {
    if (has('tunnel') && has('proxyProtocol'))
      wrong(below(place, 'tunnel'), 'it excludes proxyProtocol: leave one out');
    refuseIfEmpty(value, place, `${policyParts}, tunnel, proxyProtocol or portLevelSettings`);
    const ports = get(
      'portLevelSettings',
      list((setting, settingPlace) =>
        members(setting, settingPlace, [], (getSetting) => {
          const number = getSetting('port', (inner, within) =>
            members(inner, within, [], (getPort) => getPort('number', port)),
          );
          if (number === undefined)
            wrong(below(settingPlace, 'port.number'), 'it is missing: a port from 1 to 65535');
          const policy = policyOf(getSetting);
          refuseIfEmpty(setting, settingPlace, policyParts, 'port');
          return [number ?? 0, policy] as const;
        }),
      ),
    );
    return {
      ...policyOf(get),
      portLevelSettings: new Map(ports),
      tunnel: get('tunnel', maybe(tunnel)),
      proxyProtocol: get('proxyProtocol', maybe(proxyProtocol)),
      retryBudget: get('retryBudget', maybe(retryBudget)),
    };
  });

const subset: ReadMember<Subset> = (value, place) =>
  members(value, place, [], (get) => {
    const name = get('name', (given, namePlace) => subsetName(needed(given, namePlace), namePlace));
    return {
      name,
      labels: get('labels', matchLabels),
      trafficPolicy: get('trafficPolicy', maybe(trafficPolicy)),
    };
  });

/** Reads a host: `*` is each host. An IP address is not a host, because services have names. */
const ruleHost: ReadMember<string> = (value, place) =>
  value === '*' ? '*' : hostName('not')(value, place);

export function readDestinationRule(namespace: string): ReadMember<DestinationRule> {
  return (value, place) =>
    members(value, place, [], (get, has) => {
      const subsets = get('subsets', list(subset));
      subsets.forEach(({ name }, index) => {
        if (name !== '' && subsets.findIndex((candidate) => candidate.name === name) !== index)
          wrong(below(place, `subsets[${index}].name`), `'${name}' is there twice`);
      });
      const workloadSelector = get('workloadSelector', selector('matchLabels'));
      const seenFrom = get('exportTo', exportTo(namespace, 'not'));
      if (
        workloadSelector !== undefined &&
        has('exportTo') &&
        !(seenFrom.length === 1 && seenFrom[0] === namespace)
      )
        wrong(
          below(place, 'exportTo'),
          "a rule for workloads is for its own namespace: give '.', or leave it out",
        );
      return {
        host: get('host', ruleHost),
        trafficPolicy: get('trafficPolicy', maybe(trafficPolicy)),
        subsets,
        exportTo: seenFrom,
        workloadSelector,
      };
    });
}
