import { ownMember } from '../../../shared/text/own-member.ts';
import { ipAddress } from '../fields/ip-address.ts';
import { networkIn } from '../fields/network-label.ts';
import type { KubernetesMetadata } from './kubernetes-metadata.ts';
import {
  type Get,
  lenient,
  list,
  members,
  oneOf,
  port,
  type ReadMember,
  text,
} from '../fields/members.ts';
import type { Pod } from './pod.ts';
import type { Labels } from '../fields/values.ts';

/** Kubernetes has no limits here, but no Pod has more. */
const most = { containers: 128, ports: 1_024, addresses: 2, conditions: 128 };

/** Reads a Pod of Kubernetes. Most of a Pod is for the kubelet, and is not read. */
export function readPod(get: Get, metadata: KubernetesMetadata): Pod {
  const { labels, deletionTimestamp } = metadata;
  const spec = get('spec', (value, specPlace) =>
    members(value, lenient(specPlace), [], (specMember) => ({
      ports: new Map(
        [...specMember('initContainers', containers), ...specMember('containers', containers)]
          .filter(({ name, protocol }) => name !== '' && (protocol || 'TCP') === 'TCP')
          .map(({ name, number }) => [name, number] as const),
      ),
      serviceAccount:
        specMember('serviceAccountName', text) || specMember('serviceAccount', text) || 'default',
      node: specMember('nodeName', text),
    })),
  );
  const { addresses, readiness } = get('status', status);
  return {
    ...spec,
    addresses,
    // Its containers may have ended before Kubernetes says that it is not ready.
    readiness: deletionTimestamp === '' ? readiness : 'not-ready',
    locality: localityOf(labels),
    network: networkIn(labels),
    workloadName: workloadNameOf(metadata),
  };
}

const ports = list(
  (value, place) =>
    members(value, place, [], (get) => ({
      name: get('name', text),
      number: get('containerPort', port) ?? 0,
      protocol: get('protocol', text),
    })),
  most.ports,
);

const portLists = list(
  (value, place) => members(value, place, [], (get) => get('ports', ports)),
  most.containers,
);

const containers: typeof ports = (value, place) => portLists(value, place).flat();

const status: ReadMember<Pick<Pod, 'addresses' | 'readiness'>> = (value, place) =>
  members(value, lenient(place), [], (get) => {
    const alone = get('podIP', ipAddress);
    const several = get(
      'podIPs',
      list(
        (entry, entryPlace) =>
          members(entry, entryPlace, [], (entryMember) => entryMember('ip', ipAddress)),
        most.addresses,
      ),
    );
    const phase = get(
      'phase',
      oneOf(
        {
          Pending: 'alive',
          Running: 'alive',
          Unknown: 'alive',
          Succeeded: 'ended',
          Failed: 'ended',
        } as const,
        'alive',
      ),
    );
    const isUnready = get('conditions', conditions).some(
      ({ type, status: conditionStatus }) => type === 'Ready' && conditionStatus !== 'True',
    );
    const addresses = [...new Set([alone, ...several])].filter((ip) => ip !== '');
    return {
      addresses: phase === 'ended' ? [] : addresses,
      readiness: isUnready ? 'not-ready' : 'ready',
    };
  });

const conditions = list(
  (value, place) =>
    members(value, place, [], (get) => ({
      type: get('type', text),
      status: get('status', text),
    })),
  most.conditions,
);

/** Returns the locality. The label may have dots instead of slashes. */
function localityOf(labels: Labels): string {
  const label = ownMember(labels, 'istio-locality') ?? '';
  return label.includes('/') ? label : label.replaceAll('.', '/');
}

/**
 * Returns the name that people use: the Deployment of its ReplicaSet, else its controller, else the
 * Pod.
 */
function workloadNameOf({ name, generateName, owner, labels }: KubernetesMetadata): string {
  if (generateName === '' || owner === undefined) return name;
  const hash = ownMember(labels, 'pod-template-hash') ?? '';
  if (owner.kind === 'ReplicaSet' && hash !== '' && owner.name.endsWith(`-${hash}`))
    return owner.name.slice(0, -hash.length - 1);
  if (owner.kind === 'Job') return owner.name.replace(/-\d{8,10}$/, '');
  return owner.name;
}
