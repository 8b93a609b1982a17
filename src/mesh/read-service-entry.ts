import { isIpAddress } from '../config/host-port.ts';
import type { Protocol } from './values.ts';
import { below, count, exportTo, hostName, isDnsName, labels, list, members, named, needed, oneOf, type Place, port, type Read, selector, text, wrong } from './members.ts'; // prettier-ignore
import type { ServiceEntry, ServicePort, Workload } from './service-entry.ts';

const protocols: Readonly<Record<string, Protocol>> = {
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

/** Of a port that says no protocol it is told from what comes, as in Istio: its name says none. */
export const servicePort: Read<ServicePort> = (value, place) =>
  members(value, place, [], (get, has) => {
    const number = get('number', port);
    const name = get('name', needed);
    const said = get('protocol', text).toUpperCase();
    const targetPort = get('targetPort', port);
    if (!has('number')) wrong(below(place, 'number'), 'it is missing: a port from 1 to 65535');
    const protocol = said === '' ? 'auto' : protocols[said];
    if (protocol === undefined) wrong(below(place, 'protocol'), `'${said}' is not one of ${Object.keys(protocols).join(', ')}`);
    return { number: number ?? 0, name, protocol: protocol ?? 'auto', targetPort };
  });

const cidr = /^[^/]+\/\d{1,3}$/;

const address: Read<string> = (value, place) => {
  const read = needed(value, place);
  const [host = '', length] = read.split('/');
  const isRight = isIpAddress(host) && (length === undefined || (cidr.test(read) && Number(length) <= (host.includes(':') ? 128 : 32)));
  if (read !== '' && !isRight) wrong(place, `'${read}' is no IP address and no CIDR`);
  return read;
};

/** An entry of `endpoints`, and a WorkloadEntry. */
const workload: Read<Workload> = (value, place) =>
  members(value, place, [], (get) => ({
    address: get('address', text),
    ports: Object.fromEntries(
      Object.entries(get('ports', named(port))).flatMap(([name, number]) => (number === undefined ? [] : [[name, number]])),
    ),
    labels: get('labels', labels),
    network: get('network', text),
    locality: get('locality', text),
    weight: get('weight', count) ?? 0,
    serviceAccount: get('serviceAccount', text),
  }));

/** A WorkloadEntry, which has to have an address. */
export const readWorkloadEntry: Read<Workload> = (value, place) => {
  const read = workload(value, place);
  checkAddress(read, below(place, 'address'));
  return read;
};

function checkAddress({ address: at, ports }: Workload, place: Place): void {
  if (at === '') wrong(place, 'it is missing: an IP address, a DNS name, or unix:///path');
  if (!at.startsWith('unix://')) {
    if (at !== '' && !isIpAddress(at) && !isDnsName(at)) wrong(place, `'${at}' is no IP address, no DNS name and no unix:///path`);
    return;
  }
  if (!at.startsWith('unix:///')) wrong(place, `'${at}' has no absolute path: unix:///path`);
  if (Object.keys(ports).length > 0) wrong(place, 'a Unix socket has no ports');
}

export function readServiceEntry(namespace: string): Read<ServiceEntry> {
  return (value, place) => {
    const read = members(value, place, [], (get) => ({
      hosts: get('hosts', list(hostName('too'))),
      addresses: get('addresses', list(address)),
      ports: get('ports', list(servicePort)),
      location: get('location', oneOf({ MESH_EXTERNAL: 'external', MESH_INTERNAL: 'internal' } as const, 'external')),
      resolution: get(
        'resolution',
        oneOf({ NONE: 'none', STATIC: 'static', DNS: 'dns', DNS_ROUND_ROBIN: 'dns-round-robin' } as const, 'none'),
      ),
      endpoints: get('endpoints', list(workload)),
      workloadSelector: get('workloadSelector', selector('labels')),
      subjectAltNames: get('subjectAltNames', list(needed)),
      exportTo: get('exportTo', exportTo(namespace)),
    }));
    check(read, place);
    return read;
  };
}

function check({ hosts, addresses, ports, resolution, endpoints, workloadSelector }: ServiceEntry, place: Place): void {
  const at = (step: string) => below(place, step);
  if (hosts.length === 0) wrong(at('hosts'), 'it is missing: at least one host');
  hosts.forEach((host, index) => {
    if (host === '*') wrong(at(`hosts[${index}]`), "'*' is no host of a service: name one, or '*.' and a domain");
    if (hosts.indexOf(host) !== index) wrong(at(`hosts[${index}]`), `'${host}' is there twice`);
  });
  ports.forEach(({ number, name }, index) => {
    const isSecond = (same: (one: ServicePort) => boolean) => ports.findIndex(same) !== index;
    if (number !== 0 && isSecond((one) => one.number === number)) wrong(at(`ports[${index}].number`), `${number} is there twice`);
    if (name !== '' && isSecond((one) => one.name === name)) wrong(at(`ports[${index}].name`), `'${name}' is there twice`);
  });
  if (ports.length === 0 && !hosts.some((host) => host.startsWith('*'))) wrong(at('ports'), 'it is missing: at least one port');
  if (endpoints.length > 0 && workloadSelector !== undefined)
    wrong(at('workloadSelector'), 'endpoints and workloadSelector exclude each other: leave one out');
  if (resolution === 'none' && endpoints.length > 0)
    wrong(at('endpoints'), 'with resolution NONE there are none: leave them out, or use STATIC or DNS');
  if (resolution === 'dns-round-robin' && endpoints.length > 1)
    wrong(at('endpoints'), 'with resolution DNS_ROUND_ROBIN there is one at most: use DNS');
  if (hosts.some((host) => host.startsWith('*')) && resolution.startsWith('dns') && endpoints.length === 0)
    wrong(at('resolution'), 'a host with * cannot be looked up: give endpoints, or resolution NONE');
  if (addresses.length > 0 && resolution === 'none' && hosts.length === 0) wrong(at('addresses'), 'there is no host for them');
  endpoints.forEach((endpoint, index) => {
    const where = at(`endpoints[${index}].address`);
    const isUnix = endpoint.address.startsWith('unix://');
    checkAddress(endpoint, where);
    if (isUnix && resolution !== 'static') wrong(where, 'a Unix socket needs resolution STATIC');
    if (resolution === 'static' && !isUnix && endpoint.address !== '' && !isIpAddress(endpoint.address))
      wrong(where, `'${endpoint.address}' is no IP address, as resolution STATIC wants it: use DNS`);
    for (const name of Object.keys(endpoint.ports))
      if (!ports.some((one) => one.name === name)) wrong(at(`endpoints[${index}].ports.${name}`), `the service has no port '${name}'`);
  });
}
