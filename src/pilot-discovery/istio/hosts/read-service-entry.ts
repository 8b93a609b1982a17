import { isIpAddress } from '../../../shared/text/host-port.ts';
import { canonicalAddress, canonicalHost, isAddressRange } from '../fields/canonical.ts';
import type { Protocol } from '../fields/values.ts';
import { exportTo, hostName, isDnsName, isLabel, isPartialWildcard } from '../fields/host-names.ts';
import { matchLabels, selector } from '../fields/match-labels.ts';
import {
  below,
  count,
  list,
  members,
  named,
  needed,
  oneOf,
  type Place,
  port,
  type ReadMember,
  text,
  warn,
  wrong,
} from '../fields/members.ts';
import type { ServiceEntry, ServicePort, Workload } from './service-entry.ts';
import { ownMember } from '../../../shared/text/own-member.ts';
import { checkSocketPath } from '../fields/socket-path.ts';
import { isHttp, isTls } from '../fields/is-http.ts';
import { distributionAnnotation, trafficDistribution } from './traffic-distribution.ts';

/** The protocols of ports, by Istio's words. */
export const protocols: Readonly<Record<string, Protocol>> = {
  HTTP: 'http',
  HTTP2: 'http2',
  GRPC: 'grpc',
  'GRPC-WEB': 'grpc-web',
  HTTPS: 'https',
  TLS: 'tls',
  TCP: 'tcp',
  MONGO: 'mongo',
  REDIS: 'redis',
  MYSQL: 'mysql',
  UDP: 'udp',
  HTTP_PROXY: 'http',
};

/**
 * Reads a port. If it has no `protocol`, Envoy detects the protocol, as in Istio: the name of the
 * port has no effect.
 */
export const servicePort: ReadMember<ServicePort> = (value, place) =>
  members(value, place, [], (get, has) => {
    const number = get('number', port);
    const name = get('name', needed);
    if (name !== '' && !isLabel(name))
      wrong(
        below(place, 'name'),
        `'${name}' is not a valid name of a port: letters, digits, and - within`,
      );
    const protocolName = get('protocol', text).toUpperCase();
    const targetPort = get('targetPort', port);
    if (!has('number')) wrong(below(place, 'number'), 'it is missing: a port from 1 to 65535');
    const protocol = protocolName === '' ? 'auto' : ownMember(protocols, protocolName);
    if (protocol === undefined)
      wrong(
        below(place, 'protocol'),
        `'${protocolName}' is not one of ${Object.keys(protocols).join(', ')}`,
      );
    return { number: number ?? 0, name, protocol: protocol ?? 'auto', targetPort };
  });

/**
 * The limits in the schemas of Istio 1.26: for hosts, addresses and ports of an entry, and for its
 * endpoints.
 */
const most = { ofEntry: 256, endpoints: 4_096 };

const address: ReadMember<string> = (value, place) => {
  const read = needed(value, place);
  const isRight = isAddressRange(read);
  if (read !== '' && !isRight) wrong(place, `'${read}' is not an IP address or CIDR`);
  return isRight ? canonicalAddress(read) : read;
};

/** Reads an IP address, a name, or a path. Case matters only in a path. */
const placeOfWork: ReadMember<string> = (value, place) => {
  const read = text(value, place);
  return read.startsWith('unix:') ? read : canonicalHost(read);
};

/** Reads ports by their names, which have the limits of the schema of Istio 1.26. */
const namedPorts: ReadMember<Workload['ports']> = (value, place) =>
  Object.fromEntries(
    Object.entries(named(port)(value, place)).flatMap(([name, number]) => {
      if (!isLabel(name) || name.length > 62)
        wrong(
          below(place, name),
          `'${name}' is not a valid name of a port: up to 62 letters, digits, and - within`,
        );
      return number === undefined ? [] : [[name, number]];
    }),
  );

/** Reads an entry of `endpoints`, or a WorkloadEntry. */
const workload: ReadMember<Workload> = (value, place) =>
  members(value, place, [], (get) => ({
    address: get('address', placeOfWork),
    ports: get('ports', namedPorts),
    labels: get('labels', matchLabels),
    network: get('network', text),
    locality: get('locality', text),
    weight: get('weight', count) ?? 0,
    serviceAccount: get('serviceAccount', text),
  }));

/** Reads a WorkloadEntry, which must have an address. */
export const readWorkloadEntry: ReadMember<Workload> = (value, place) => {
  const read = workload(value, place);
  checkAddress(read, below(place, 'address'));
  return read;
};

/** Reads the template of WorkloadEntries, which needs no address. */
export const readWorkloadTemplate: ReadMember<Workload> = (value, place) => {
  const read = workload(value, place);
  if (read.address !== '') checkAddress(read, below(place, 'address'));
  return read;
};

function checkAddress({ address: workloadAddress, ports, network }: Workload, place: Place): void {
  if (workloadAddress === '' && network === '')
    wrong(place, 'it is missing: an IP address, a DNS name, or unix:///path');
  if (workloadAddress === '' && network !== '')
    warn(
      place,
      `it is missing: the workload is reached only through a gateway of network '${network}' (--networksConfig)`,
    );
  if (!workloadAddress.startsWith('unix://')) {
    if (workloadAddress !== '' && !isIpAddress(workloadAddress) && !isDnsName(workloadAddress))
      wrong(place, `'${workloadAddress}' is not an IP address, a DNS name or unix:///path`);
    return;
  }
  if (!/^unix:\/\/[/@]/.test(workloadAddress))
    wrong(place, `'${workloadAddress}' has no absolute path: unix:///path, or unix://@name`);
  else if (workloadAddress.endsWith('/'))
    wrong(place, `'${workloadAddress}' is a folder: name a socket in it`);
  checkSocketPath(workloadAddress.slice('unix://'.length), place);
  if (Object.keys(ports).length > 0) wrong(place, 'a Unix socket has no ports');
}

/** Reads the hosts. A duplicate host is served once. */
const distinctHosts: ReadMember<readonly string[]> = (value, place) => {
  const hosts = list(hostName('too'), most.ofEntry)(value, place);
  hosts.forEach((host, index) => {
    if (hosts.indexOf(host) !== index) warn(below(place, `[${index}]`), `'${host}' is there twice`);
  });
  return [...new Set(hosts)];
};

/** @param distribution the annotation `networking.istio.io/traffic-distribution` */
export function readServiceEntry(
  namespace: string,
  distribution: string,
): ReadMember<ServiceEntry> {
  return (value, place) => {
    const whole = place.parent ?? place;
    const annotation = below(
      below(below(whole, 'metadata'), 'annotations'),
      distributionAnnotation,
    );
    const read = members(value, place, [], (get) => ({
      hosts: get('hosts', distinctHosts),
      addresses: get('addresses', list(address, most.ofEntry)),
      ports: get('ports', list(servicePort, most.ofEntry)),
      location: get(
        'location',
        oneOf({ MESH_EXTERNAL: 'external', MESH_INTERNAL: 'internal' } as const, 'external'),
      ),
      resolution: get(
        'resolution',
        oneOf(
          {
            NONE: 'none',
            STATIC: 'static',
            DNS: 'dns',
            DNS_ROUND_ROBIN: 'dns-round-robin',
            DYNAMIC_DNS: 'dynamic-dns',
          } as const,
          'none',
        ),
      ),
      endpoints: get('endpoints', list(workload, most.endpoints)),
      workloadSelector: get('workloadSelector', selector('labels')),
      subjectAltNames: get('subjectAltNames', list(needed)),
      exportTo: get('exportTo', exportTo(namespace, 'too')),
      trafficDistribution: trafficDistribution(distribution, annotation),
    }));
    check(read, place);
    return read;
  };
}

function check(entry: ServiceEntry, place: Place): void {
  checkHosts(entry, place);
  checkPorts(entry, place);
  checkAddresses(entry, place);
  checkResolution(entry, place);
  if (entry.resolution === 'dynamic-dns') checkDynamicDns(entry, place);
  entry.endpoints.forEach((endpoint, index) => {
    checkEndpoint(entry, endpoint, below(place, `endpoints[${index}]`));
  });
}

function checkHosts({ hosts, addresses, ports }: ServiceEntry, place: Place): void {
  if (hosts.length === 0) wrong(below(place, 'hosts'), 'it is missing: at least one host');
  const isByName = addresses.length === 0 && ports.some(({ protocol }) => isTls(protocol));
  hosts.forEach((host, index) => {
    const where = below(place, `hosts[${index}]`);
    if (host === '*')
      wrong(where, "'*' is not a host of a service: name one, or '*.' and a domain");
    if (isIpAddress(host))
      wrong(
        where,
        `'${host}' is not a host of a service: give a DNS name, and the address in addresses`,
      );
    if (isByName && isPartialWildcard(host))
      warn(
        where,
        `Envoy cannot match TLS connections to '${host}': its ports with TLS are not served`,
      );
  });
}

function checkPorts({ hosts, ports, resolution }: ServiceEntry, place: Place): void {
  if (ports.length === 0 && !hosts.some((host) => host.startsWith('*')))
    warn(below(place, 'ports'), 'without a port nothing is served');
  ports.forEach((servedPort, index) => {
    const { number, name, protocol } = servedPort;
    const where = below(place, `ports[${index}]`);
    const isSecond = (isSame: (candidate: ServicePort) => boolean) =>
      ports.findIndex(isSame) !== index;
    if (number !== 0 && isSecond((candidate) => candidate.number === number))
      wrong(below(where, 'number'), `${number} is there twice`);
    if (name !== '' && isSecond((candidate) => candidate.name === name))
      wrong(below(where, 'name'), `'${name}' is there twice`);
    if (hosts.length > 1 && resolution !== 'none' && !isHttp(protocol) && !isTls(protocol))
      wrong(
        below(where, 'protocol'),
        'only HTTP and TLS name the host of a connection: make an entry for each host',
      );
  });
}

function checkAddresses({ hosts, addresses, resolution }: ServiceEntry, place: Place): void {
  addresses.forEach((listedAddress, index) => {
    if (listedAddress.includes('/') && resolution !== 'none' && resolution !== 'static')
      wrong(
        below(place, `addresses[${index}]`),
        `'${listedAddress}' is a range, which only resolution NONE and STATIC may have: give single addresses`,
      );
  });
  if (addresses.length > 0 && resolution === 'none' && hosts.length === 0)
    wrong(below(place, 'addresses'), 'there is no host for them');
}

/** Checks whether there are endpoints if, and only if, the resolution needs them. */
function checkResolution(
  { hosts, resolution, endpoints, workloadSelector }: ServiceEntry,
  place: Place,
): void {
  if (endpoints.length > 0 && workloadSelector !== undefined)
    wrong(
      below(place, 'workloadSelector'),
      'endpoints and workloadSelector exclude each other: leave one out',
    );
  if (resolution === 'none' && endpoints.length > 0)
    wrong(
      below(place, 'endpoints'),
      'with resolution NONE there are none: leave them out, or use STATIC or DNS',
    );
  if (resolution === 'dns-round-robin' && endpoints.length > 1)
    wrong(
      below(place, 'endpoints'),
      'with resolution DNS_ROUND_ROBIN there is one at most: use DNS',
    );
  if (
    hosts.some((host) => host.startsWith('*')) &&
    resolution.startsWith('dns') &&
    endpoints.length === 0
  )
    wrong(
      below(place, 'resolution'),
      'a host with * cannot be looked up: give endpoints, or resolution NONE or DYNAMIC_DNS',
    );
}

/** Checks that each call names its host, which Envoy then resolves. */
function checkDynamicDns(
  { hosts, ports, endpoints, workloadSelector }: ServiceEntry,
  place: Place,
): void {
  hosts.forEach((host, index) => {
    if (!host.startsWith('*.') && host !== '*')
      wrong(
        below(place, `hosts[${index}]`),
        `'${host}' is one name, and resolution DYNAMIC_DNS is for a host with '*.': use DNS`,
      );
  });
  ports.forEach(({ protocol }, index) => {
    if (!isHttp(protocol) && !isTls(protocol))
      wrong(
        below(place, `ports[${index}].protocol`),
        'with resolution DYNAMIC_DNS only HTTP and TLS name the host of a connection: give one of them',
      );
  });
  if (endpoints.length > 0)
    wrong(
      below(place, 'endpoints'),
      'with resolution DYNAMIC_DNS there are none: leave them out, or use DNS',
    );
  if (workloadSelector !== undefined)
    wrong(
      below(place, 'workloadSelector'),
      'with resolution DYNAMIC_DNS no workload is selected: leave it out, or use STATIC',
    );
}

function checkEndpoint(
  { ports, resolution }: ServiceEntry,
  endpoint: Workload,
  place: Place,
): void {
  const where = below(place, 'address');
  const isUnix = endpoint.address.startsWith('unix://');
  checkAddress(endpoint, where);
  if (isUnix && ports.length !== 1)
    wrong(where, 'a Unix socket is for a service with exactly one port');
  if (isUnix && resolution !== 'static') wrong(where, 'a Unix socket needs resolution STATIC');
  if (
    resolution === 'static' &&
    !isUnix &&
    endpoint.address !== '' &&
    !isIpAddress(endpoint.address)
  )
    wrong(
      where,
      `'${endpoint.address}' is not an IP address, which resolution STATIC needs: use DNS`,
    );
  for (const name of Object.keys(endpoint.ports))
    if (!ports.some((servedPort) => servedPort.name === name))
      wrong(below(place, `ports.${name}`), `the service has no port '${name}'`);
}
