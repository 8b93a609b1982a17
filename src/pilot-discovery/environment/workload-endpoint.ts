import { ownMember } from '../../shared/text/own-member.ts';
import type { MeshConfig } from '../istio/mesh/mesh-config.ts';
import { keyOf, type Resource, type ResourceKey } from '../istio/documents/model.ts';
import type { Workload } from '../istio/hosts/service-entry.ts';
import type { Labels } from '../istio/fields/values.ts';
import type { Endpoint, Environment } from './environment.ts';
import { localityLabels } from './locality-labels.ts';

const unix = 'unix://';

/** Returns whether a workload is at a Unix socket. */
export const isSocket = ({ address }: Workload): boolean => address.startsWith(unix);

/** Returns the endpoint for one port of a workload. */
export function workloadEndpoint(
  workload: Workload,
  port: number,
  identity: string,
  origin: Pick<Endpoint, 'namespace' | 'workloadName' | 'key'>,
): Endpoint {
  const { address, network, locality, weight } = workload;
  const isPath = isSocket(workload);
  return {
    address: isPath ? address.slice(unix.length) : address,
    port: isPath ? 0 : port,
    labels: { ...workload.labels, ...localityLabels(locality, network) },
    network,
    locality,
    weight,
    identity,
    tlsMode: tlsModeOf(workload),
    readiness: 'ready',
    ...origin,
  };
}

/** Returns the endpoint of a WorkloadEntry. */
export const entryEndpoint = (
  entry: Resource<'WorkloadEntry'>,
  port: number,
  { trustDomain }: MeshConfig,
): Endpoint =>
  workloadEndpoint(
    entry.spec,
    port,
    identityOf(trustDomain, entry.namespace, entry.spec.serviceAccount),
    { namespace: entry.namespace, workloadName: entry.name, key: keyOf(entry) },
  );

/** The parts of the environment that affect endpoints of Pods. */
type PodPlace = Pick<Environment, 'mesh' | 'network'>;

/**
 * Returns the endpoint of a Pod at one of its addresses. As in Istio, it supports mutual TLS if its
 * label says so; a sidecar injector adds this label.
 */
export function podEndpoint(
  { namespace, labels, spec }: Resource<'Pod'>,
  address: string,
  port: number,
  { mesh: { trustDomain }, network: networkOfMesh }: PodPlace,
  key: ResourceKey,
): Endpoint {
  const { locality, node, serviceAccount, workloadName, readiness } = spec;
  const network = spec.network || networkOfMesh;
  return {
    address,
    port,
    labels: {
      ...labels,
      ...localityLabels(locality, network),
      ...(node !== '' && { 'kubernetes.io/hostname': node }),
    },
    network,
    locality,
    weight: 0,
    identity: identityOf(trustDomain, namespace, serviceAccount),
    tlsMode: ownMember(labels, tlsMode) === 'istio' ? 'istio' : 'disabled',
    readiness,
    namespace,
    workloadName,
    key,
  };
}

/** Returns the number of a port by its name among the ports of a WorkloadEntry. */
export const portNamed = ({ ports }: Workload, name: string): number | undefined =>
  ownMember(ports, name);

/** Returns the labels by which a WorkloadEntry is selected. */
export const labelsOfEntry = ({ spec }: Resource<'WorkloadEntry'>): Labels => spec.labels;
export const labelsOfPod = ({ labels }: Resource<'Pod'>): Labels => labels;

/** Returns the name of an account in certificates; '' if there is no account. */
export const identityOf = (trustDomain: string, namespace: string, account: string): string =>
  account === '' ? '' : `spiffe://${trustDomain}/ns/${namespace}/sa/${account}`;

const tlsMode = 'security.istio.io/tlsMode';

/**
 * Returns the TLS mode as in Istio: that of the label, else mutual TLS if the workload has an
 * account.
 */
function tlsModeOf({ labels, serviceAccount }: Workload): Endpoint['tlsMode'] {
  const label = labels[tlsMode];
  return label === 'istio' || (label === undefined && serviceAccount !== '') ? 'istio' : 'disabled';
}
