import { isIP } from 'node:net';
import { ownMember } from '../../shared/text/own-member.ts';
import { canonicalAddress } from './canonical.ts';
import type { KubernetesMetadata } from './kubernetes-metadata.ts';
import {
  type Get,
  list,
  members,
  oneOf,
  type Place,
  port,
  type ReadMember,
  text,
  wrong,
} from './members.ts';
import type { Pod } from './pod.ts';
import type { Labels } from './values.ts';

/** Kubernetes has no limits here. No Pod has more. */
const most = { containers: 128, ports: 1_024, addresses: 2, conditions: 128 };

/** Reads a Pod of Kubernetes. Most of a Pod is for the kubelet, and is not read. */
export function readPod(get: Get, metadata: KubernetesMetadata): Pod {
  const { labels } = metadata;
  const spec = get('spec', (value, at) =>
    members(value, lenient(at), [], (of) => ({
      ports: new Map(
        [...of('initContainers', containers), ...of('containers', containers)]
          .filter(({ name, protocol }) => name !== '' && (protocol || 'TCP') === 'TCP')
          .map(({ name, number }) => [name, number] as const),
      ),
      serviceAccount: of('serviceAccountName', text) || of('serviceAccount', text) || 'default',
      node: of('nodeName', text),
    })),
  );
  const { addresses, readiness } = get('status', status);
  return {
    ...spec,
    addresses,
    readiness,
    locality: localityOf(labels),
    network: ownMember(labels, 'topology.istio.io/network') ?? '',
    workloadName: workloadNameOf(metadata),
  };
}

/** Reports no unknown fields: a Pod has many. */
const lenient = (place: Place): Place => ({ ...place, unknown: 'nothing' });

const ports = list(
  (value, place) =>
    members(value, place, [], (of) => ({
      name: of('name', text),
      number: of('containerPort', port) ?? 0,
      protocol: of('protocol', text),
    })),
  most.ports,
);

const portLists = list(
  (value, place) => members(value, place, [], (of) => of('ports', ports)),
  most.containers,
);

const containers: typeof ports = (value, place) => portLists(value, place).flat();

const address: ReadMember<string> = (value, place) => {
  const read = text(value, place);
  if (read !== '' && isIP(read) === 0) wrong(place, `'${read}' is no IP address`);
  return isIP(read) === 0 ? '' : canonicalAddress(read);
};

const status: ReadMember<Pick<Pod, 'addresses' | 'readiness'>> = (value, place) =>
  members(value, lenient(place), [], (of) => {
    const alone = of('podIP', address);
    const several = of(
      'podIPs',
      list((one, at) => members(one, at, [], (its) => its('ip', address)), most.addresses),
    );
    const phase = of(
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
    const isUnready = of('conditions', conditions).some(
      ({ type, status: said }) => type === 'Ready' && said !== 'True',
    );
    const addresses = [...new Set([alone, ...several])].filter((one) => one !== '');
    return {
      addresses: phase === 'ended' ? [] : addresses,
      readiness: isUnready ? 'not-ready' : 'ready',
    };
  });

const conditions = list(
  (value, place) =>
    members(value, place, [], (of) => ({
      type: of('type', text),
      status: of('status', text),
    })),
  most.conditions,
);

/** Returns the locality. The label may have dots instead of slashes. */
function localityOf(labels: Labels): string {
  const said = ownMember(labels, 'istio-locality') ?? '';
  return said.includes('/') ? said : said.replaceAll('.', '/');
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
