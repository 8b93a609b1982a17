import type { Endpoints, EndpointSubset, SliceEndpoint } from './endpoint-slice.ts';
import { isLabel } from '../fields/host-names.ts';
import { ipAddress } from '../fields/ip-address.ts';
import type { KubernetesMetadata } from './kubernetes-metadata.ts';
import {
  below,
  type Get,
  ignored,
  list,
  members,
  needed,
  type Place,
  type ReadMember,
  wrong,
} from '../fields/members.ts';
import { endpointPorts, podName } from './read-endpoint-slice.ts';

/**
 * The limits of the EndpointSlices that Kubernetes makes of Endpoints, and of a Service's ports.
 */
const most = { subsets: 256, addresses: 1_000 };

/** Kubernetes makes no EndpointSlices of Endpoints with this label. */
const skipMirror = 'endpointslice.kubernetes.io/skip-mirror';

/**
 * Reads Endpoints of Kubernetes. Endpoints that Kubernetes would not copy into EndpointSlices have
 * no subsets.
 */
export function readEndpoints(
  get: Get,
  { name, labels }: KubernetesMetadata,
  place: Place,
): Endpoints {
  if (name !== '' && !isLabel(name))
    wrong(below(below(place, 'metadata'), 'name'), `'${name}' is not a valid name of a Service`);
  const subsets = get('subsets', list(subset, most.subsets));
  return { subsets: labels[skipMirror] === 'true' ? [] : subsets };
}

const subset: ReadMember<EndpointSubset> = (value, place) =>
  members(value, place, [], (get) => {
    const ports = get('ports', endpointPorts);
    const ready = get('addresses', list(endpoint('ready'), most.addresses));
    const notReady = get('notReadyAddresses', list(endpoint('not-ready'), most.addresses));
    if (ready.length + notReady.length === 0)
      wrong(below(place, 'addresses'), 'it is missing: at least one address');
    return { ports, endpoints: [...ready, ...notReady] };
  });

function endpoint(readiness: SliceEndpoint['readiness']): ReadMember<SliceEndpoint> {
  return (value, place) =>
    members(value, place, [], (get) => {
      for (const name of ['hostname', 'nodeName']) get(name, ignored);
      const ip = get('ip', address);
      return { addresses: ip === '' ? [] : [ip], readiness, pod: get('targetRef', podName) };
    });
}

const address: ReadMember<string> = (value, place) =>
  needed(value, place) === '' ? '' : ipAddress(value, place);
