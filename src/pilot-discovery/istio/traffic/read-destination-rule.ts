import type {
  ConnectionPool,
  DestinationRule,
  Http2KeepAlive,
  OutlierDetection,
  PortPolicy,
  ProxyProtocol,
  RetryBudget,
  Subset,
  TrafficPolicy,
} from './destination-rule.ts';
import { firstIndexes } from '../fields/first-indexes.ts';
import { exportTo, hostName, subsetName } from '../fields/host-names.ts';
import { matchLabels, selector } from '../fields/match-labels.ts';
import { tunnel } from './read-tunnel.ts';
import { clientTls } from './read-client-tls.ts';
import { loadBalancer } from './read-load-balancer.ts';
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
  warn,
  whole,
  wrong,
} from '../fields/members.ts';

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
const ignoredByIstio: ReadMember<undefined> = (value, place) => {
  const instead = 'use consecutive5xxErrors or consecutiveGatewayErrors';
  if (value !== undefined) warn(place, `it no longer has an effect, as in Istio: ${instead}`);
  return undefined;
};

const outlierDetection: ReadMember<OutlierDetection> = (value, place) =>
  members(value, place, [], (get) => {
    get('consecutiveErrors', ignoredByIstio);
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
    const firsts = firstIndexes(ports.map(([number]) => number));
    // As in istiod, the first settings of a port apply.
    const settings = ports.filter(([number], index) => {
      const isFirst = firsts.get(number) === index;
      if (!isFirst && number !== 0)
        warn(
          below(place, `portLevelSettings[${index}].port.number`),
          `${number} is there twice: only the first settings apply`,
        );
      return isFirst;
    });
    return {
      ...policyOf(get),
      portLevelSettings: new Map(settings),
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
      const firsts = firstIndexes(subsets.map(({ name }) => name));
      subsets.forEach(({ name }, index) => {
        if (name !== '' && firsts.get(name) !== index)
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
