import type { ClientTls, ConnectionPool, DestinationRule, HashKey, LoadBalancer, LocalitySettings, OutlierDetection, PortPolicy, Subset, TrafficPolicy } from './destination-rule.ts'; // prettier-ignore
import { below, boolean, count, duration, durationAbove0, exportTo, hostName, labels, list, maybe, members, named, needed, oneOf, percent, type Place, port, type Read, selector, text, whole, wrong } from './members.ts'; // prettier-ignore

const cookie: Read<HashKey> = (value, place) =>
  members(value, place, ['attributes'], (get) => ({
    type: 'cookie',
    name: get('name', needed),
    path: get('path', text),
    ttlMs: get('ttl', duration),
  }));

const consistentHash: Read<LoadBalancer['policy']> = (value, place) =>
  members(value, place, [], (get, has) => {
    const keys = (['httpHeaderName', 'httpCookie', 'useSourceIp', 'httpQueryParameterName'] as const).filter(has);
    if (keys.length !== 1) wrong(place, 'it needs exactly one of httpHeaderName, httpCookie, useSourceIp, httpQueryParameterName');
    const header = get('httpHeaderName', maybe(needed));
    const byCookie = get('httpCookie', maybe(cookie));
    const bySource = get('useSourceIp', boolean);
    const parameter = get('httpQueryParameterName', maybe(needed));
    if (bySource === false) wrong(below(place, 'useSourceIp'), 'false names nothing to go by: set it to true, or leave consistentHash out');
    const key: HashKey =
      byCookie ?? (parameter !== undefined ? { type: 'query-parameter', name: parameter } : header !== undefined ? { type: 'header', name: header } : { type: 'source-ip' }); // prettier-ignore
    const minimum = get('minimumRingSize', whole(0, 8 * 1024 * 1024));
    const inner = get('ringHash', maybe((ring, at) => members(ring, at, [], (of) => of('minimumRingSize', whole(0, 8 * 1024 * 1024)) ?? 0))); // prettier-ignore
    const maglev = get(
      'maglev',
      maybe((table, at) => members(table, at, [], (of) => of('tableSize', whole(1, 5_000_011)) ?? 65_537)),
    );
    if (maglev !== undefined && !isPrime(maglev)) wrong(below(place, 'maglev.tableSize'), `${maglev} is not a prime number`);
    if (maglev !== undefined && inner !== undefined) wrong(place, 'ringHash and maglev exclude each other: leave one out');
    const ring =
      maglev === undefined
        ? ({ type: 'ring-hash', minimumRingSize: inner ?? minimum ?? 1024 } as const)
        : ({ type: 'maglev', tableSize: maglev } as const);
    return { type: 'consistent-hash', key, ring };
  });

function isPrime(number: number): boolean {
  for (let divisor = 2; divisor * divisor <= number; divisor += 1) if (number % divisor === 0) return false;
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

const locality: Read<LocalitySettings> = (value, place) =>
  members(value, place, [], (get) => {
    const distribute = get(
      'distribute',
      list((one, at) => members(one, at, [], (of) => ({ from: of('from', needed), to: of('to', named(whole(1, 100))) }))),
    );
    distribute.forEach(({ to }, index) => {
      const sum = Object.values(to).reduce<number>((all, weight) => all + (weight ?? 0), 0);
      if (sum !== 100) wrong(below(place, `distribute[${index}].to`), `the weights make ${sum}, and not 100`);
    });
    const failover = get(
      'failover',
      list((one, at) => members(one, at, [], (of) => ({ from: of('from', needed), to: of('to', needed) }))),
    );
    failover.forEach(({ from, to }, index) => {
      if (from === to) wrong(below(place, `failover[${index}].to`), `'${to}' is where it comes from: name another region`);
    });
    if (distribute.length > 0 && failover.length > 0) wrong(place, 'distribute and failover exclude each other: leave one out');
    return {
      enabled: get('enabled', boolean),
      distribute: distribute.map(({ from, to }) => ({ from, to: Object.fromEntries(Object.entries(to).map(([name, weight]) => [name, weight ?? 0])) })), // prettier-ignore
      failover,
      failoverPriority: get('failoverPriority', list(needed)),
    };
  });

const loadBalancer: Read<LoadBalancer> = (value, place) =>
  members(value, place, [], (get, has) => {
    const hash = get('consistentHash', maybe(consistentHash));
    const type = get('simple', oneOf(simple, 'unspecified'));
    if (hash !== undefined && has('simple')) wrong(place, 'simple and consistentHash exclude each other: leave one out');
    const seconds = get('warmupDurationSecs', duration);
    const warmup = get(
      'warmup',
      maybe((one, at) =>
        members(one, at, [], (of) => ({
          durationMs: of('duration', duration) ?? 0,
          minimumPercent: of('minimumPercent', percent) ?? 10,
          aggression: of('aggression', ratio) ?? 1,
        })),
      ),
    );
    return {
      policy: hash ?? { type },
      locality: get('localityLbSetting', maybe(locality)),
      warmup: warmup ?? (seconds === undefined ? undefined : { durationMs: seconds, minimumPercent: undefined, aggression: undefined }),
    };
  });

const ratio: Read<number | undefined> = (value, place) => {
  if (value === undefined || (typeof value === 'number' && value >= 1)) return value;
  wrong(place, 'it is not a number from 1 on');
  return undefined;
};

export const connectionPool: Read<ConnectionPool> = (value, place) =>
  members(value, place, [], (get) => ({
    tcp: get('tcp', (inner, at) =>
      members(inner, at, [], (of) => ({
        maxConnections: of('maxConnections', count),
        connectTimeoutMs: of('connectTimeout', durationAbove0),
        tcpKeepalive: of(
          'tcpKeepalive',
          maybe((keep, within) =>
            members(keep, within, [], (own) => ({
              probes: own('probes', count),
              timeMs: own('time', durationAbove0),
              intervalMs: own('interval', durationAbove0),
            })),
          ),
        ),
        maxConnectionDurationMs: of('maxConnectionDuration', durationAbove0),
        idleTimeoutMs: of('idleTimeout', duration),
      })),
    ),
    http: get('http', (inner, at) =>
      members(inner, at, [], (of) => ({
        http1MaxPendingRequests: of('http1MaxPendingRequests', count),
        http2MaxRequests: of('http2MaxRequests', count),
        maxRequestsPerConnection: of('maxRequestsPerConnection', count),
        maxRetries: of('maxRetries', count),
        idleTimeoutMs: of('idleTimeout', duration),
        h2UpgradePolicy: of('h2UpgradePolicy', oneOf({ DEFAULT: 'default', DO_NOT_UPGRADE: 'do-not-upgrade', UPGRADE: 'upgrade' } as const, 'default')), // prettier-ignore
        useClientProtocol: of('useClientProtocol', boolean) ?? false,
        maxConcurrentStreams: of('maxConcurrentStreams', count),
      })),
    ),
  }));

const outlierDetection: Read<OutlierDetection> = (value, place) =>
  members(value, place, ['consecutiveErrors'], (get) => ({
    consecutive5xxErrors: get('consecutive5xxErrors', count),
    consecutiveGatewayErrors: get('consecutiveGatewayErrors', count),
    splitExternalLocalOriginErrors: get('splitExternalLocalOriginErrors', boolean) ?? false,
    consecutiveLocalOriginFailures: get('consecutiveLocalOriginFailures', count),
    intervalMs: get('interval', durationAbove0),
    baseEjectionTimeMs: get('baseEjectionTime', durationAbove0),
    maxEjectionPercent: get('maxEjectionPercent', whole(0, 100)),
    minHealthPercent: get('minHealthPercent', whole(0, 100)),
  }));

const clientTls: Read<ClientTls> = (value, place) => {
  const read = members(value, place, [], (get) => ({
    mode: get('mode', oneOf({ DISABLE: 'disable', SIMPLE: 'simple', MUTUAL: 'mutual', ISTIO_MUTUAL: 'istio-mutual' } as const, 'disable')),
    clientCertificate: get('clientCertificate', text),
    privateKey: get('privateKey', text),
    caCertificates: get('caCertificates', text),
    caCrl: get('caCrl', text),
    credentialName: get('credentialName', text),
    subjectAltNames: get('subjectAltNames', list(needed)),
    sni: get('sni', text),
    insecureSkipVerify: get('insecureSkipVerify', boolean) ?? false,
  }));
  checkTls(read, place);
  return read;
};

function checkTls(
  { mode, clientCertificate, privateKey, caCertificates, credentialName, subjectAltNames, sni, insecureSkipVerify }: ClientTls,
  place: Place,
): void {
  const at = (step: string) => below(place, step);
  const hasFiles = [clientCertificate, privateKey, caCertificates].some((file) => file !== '');
  if (mode === 'mutual' && credentialName === '') {
    if (clientCertificate === '') wrong(at('clientCertificate'), 'it is missing: mode MUTUAL shows a certificate');
    if (privateKey === '') wrong(at('privateKey'), 'it is missing: mode MUTUAL shows a certificate');
  }
  if (credentialName !== '' && hasFiles) wrong(at('credentialName'), 'it excludes clientCertificate, privateKey and caCertificates');
  if (mode === 'istio-mutual' && (hasFiles || credentialName !== ''))
    wrong(at('mode'), 'ISTIO_MUTUAL takes the certificates of the mesh: leave out all files and credentialName');
  if (insecureSkipVerify && (caCertificates !== '' || subjectAltNames.length > 0))
    wrong(at('insecureSkipVerify'), 'it excludes caCertificates and subjectAltNames');
  if (sni.length > 255) wrong(at('sni'), 'it is longer than 255 characters');
}

function policyOf(get: <T>(name: string, read: Read<T>) => T): PortPolicy {
  return {
    loadBalancer: get('loadBalancer', maybe(loadBalancer)),
    connectionPool: get('connectionPool', maybe(connectionPool)),
    outlierDetection: get('outlierDetection', maybe(outlierDetection)),
    tls: get('tls', maybe(clientTls)),
  };
}

const trafficPolicy: Read<TrafficPolicy> = (value, place) =>
  members(value, place, ['tunnel', 'proxyProtocol', 'retryBudget'], (get) => {
    const ports = get(
      'portLevelSettings',
      list((one, at) =>
        members(one, at, [], (of) => {
          const number = of('port', (inner, within) => members(inner, within, [], (own) => own('number', port)));
          if (number === undefined) wrong(below(at, 'port.number'), 'it is missing: a port from 1 to 65535');
          return [number ?? 0, policyOf(of)] as const;
        }),
      ),
    );
    return { ...policyOf(get), portLevelSettings: new Map(ports) };
  });

const subset: Read<Subset> = (value, place) =>
  members(value, place, [], (get) => {
    const name = get('name', needed);
    if (!/^[a-zA-Z0-9](?:[-a-zA-Z0-9._]{0,61}[a-zA-Z0-9])?$/.test(name) && name !== '')
      wrong(below(place, 'name'), `'${name}' is no name of a subset: letters, digits and - within`);
    return { name, labels: get('labels', labels), trafficPolicy: get('trafficPolicy', maybe(trafficPolicy)) };
  });

export function readDestinationRule(namespace: string): Read<DestinationRule> {
  return (value, place) =>
    members(value, place, [], (get) => {
      const subsets = get('subsets', list(subset));
      subsets.forEach(({ name }, index) => {
        if (subsets.findIndex((one) => one.name === name) !== index)
          wrong(below(place, `subsets[${index}].name`), `'${name}' is there twice`);
      });
      return {
        host: get('host', hostName('too')),
        trafficPolicy: get('trafficPolicy', maybe(trafficPolicy)),
        subsets,
        exportTo: get('exportTo', exportTo(namespace)),
        workloadSelector: get('workloadSelector', selector('matchLabels')),
      };
    });
}
