import { isIP } from 'node:net';
import { canonicalAddress } from '../fields/canonical.ts';
import type { EndpointSlice, SliceEndpoint, SlicePort } from './endpoint-slice.ts';
import { isLabel } from '../fields/host-names.ts';
import type { KubernetesMetadata } from './kubernetes-metadata.ts';
import {
  below,
  boolean,
  type Get,
  ignored,
  list,
  members,
  needed,
  oneOf,
  type Place,
  port,
  type ReadMember,
  text,
  warn,
  wrong,
} from '../fields/members.ts';
import { transport } from '../fields/port-protocol.ts';

/** The limits of Kubernetes. Its limit for ports is higher, but no Service here has more. */
const most = { endpoints: 1_000, addresses: 100, ports: 256 };

const serviceName = 'kubernetes.io/service-name';

/** Reads an EndpointSlice of Kubernetes. */
export function readEndpointSlice(
  get: Get,
  { labels }: KubernetesMetadata,
  place: Place,
): EndpointSlice {
  const service = labels[serviceName] ?? '';
  const label = below(below(below(place, 'metadata'), 'labels'), serviceName);
  if (service === '') wrong(label, 'it is missing: the name of the Service of these endpoints');
  else if (!isLabel(service)) wrong(label, `'${service}' is not a valid name of a Service`);
  const type = get('addressType', family);
  const ports = get('ports', endpointPorts);
  const endpoints = get('endpoints', list(endpoint(type), most.endpoints));
  return { service, ports, endpoints: type === 'names' ? [] : endpoints };
}

/** Reads the ports of endpoints: those with TCP. */
export const endpointPorts: ReadMember<readonly SlicePort[]> = (value, place) => {
  const ports = list(slicePort, most.ports)(value, place).flatMap((readPort) => readPort ?? []);
  const names = ports.map(({ name }) => name);
  names.forEach((name, index) => {
    if (names.indexOf(name) !== index) wrong(place, `the name '${name}' is there twice`);
  });
  return ports;
};

/** Reads a port; undefined for another transport than TCP, which is not served. */
const slicePort: ReadMember<SlicePort | undefined> = (value, place) =>
  members(value, place, [], (get, has) => {
    get('appProtocol', ignored);
    const spoken = get('protocol', transport);
    const name = get('name', text);
    const number = get('port', port);
    if (!has('port')) wrong(below(place, 'port'), 'it is missing: a port from 1 to 65535');
    return spoken === 'tcp' && number !== undefined ? { name, number } : undefined;
  });

type Family = 4 | 6 | 'names' | 'unknown';

const family: ReadMember<Family> = (value, place) => {
  if (value === undefined) wrong(place, 'it is missing: IPv4 or IPv6');
  const read = oneOf<Family>({ IPv4: 4, IPv6: 6, FQDN: 'names' }, 'unknown')(value, place);
  if (read === 'names')
    warn(place, 'FQDN is not served: give IP addresses, or a ServiceEntry with resolution DNS');
  return read;
};

function address(addressType: Family): ReadMember<string> {
  return (value, place) => {
    const read = needed(value, place);
    if (read === '' || addressType === 'names' || addressType === 'unknown') return read;
    if (isIP(read) !== addressType) {
      wrong(place, `'${read}' is not an address of IPv${addressType}, as addressType says`);
      return '';
    }
    return canonicalAddress(read);
  };
}

function endpoint(addressType: Family): ReadMember<SliceEndpoint> {
  return (value, place) =>
    members(value, place, [], (get) => {
      for (const name of ['deprecatedTopology', 'hints', 'hostname', 'nodeName', 'zone'])
        get(name, ignored);
      const addresses = get('addresses', list(address(addressType), most.addresses));
      if (addresses.length === 0)
        wrong(below(place, 'addresses'), 'it is missing: at least one address');
      return {
        addresses: addresses.filter((entry) => entry !== ''),
        readiness: get('conditions', readiness),
        pod: get('targetRef', podName),
      };
    });
}

/** Reads the readiness. An endpoint with an unknown state gets calls, as Kubernetes specifies. */
const readiness: ReadMember<SliceEndpoint['readiness']> = (value, place) =>
  members(value, place, [], (get) => {
    for (const name of ['serving', 'terminating']) get(name, boolean);
    return get('ready', boolean) === false ? 'not-ready' : 'ready';
  });

/** Reads a `targetRef`: the name of a Pod, or '' for another kind. */
export const podName: ReadMember<string> = (value, place) =>
  members(value, place, [], (get) => {
    for (const name of ['apiVersion', 'fieldPath', 'namespace', 'resourceVersion', 'uid'])
      get(name, ignored);
    const name = get('name', text);
    return get('kind', text) === 'Pod' ? name : '';
  });
