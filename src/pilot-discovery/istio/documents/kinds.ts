import type { IfRefused } from './closed-spec.ts';
import type { Group, KubernetesGroup } from './group-versions.ts';
import type { KubernetesMetadata, ObjectName } from '../hosts/kubernetes-metadata.ts';
import type { Get, Place, ReadMember } from '../fields/members.ts';
import type { Specs, WrittenKind } from './model.ts';
import {
  closedPeerAuthentication,
  readPeerAuthentication,
} from '../security/read-peer-authentication.ts';
import { readAuthorizationPolicy } from '../security/read-authorization-policy.ts';
import { readDestinationRule } from '../traffic/read-destination-rule.ts';
import { readEndpoints } from '../hosts/read-endpoints.ts';
import { readEndpointSlice } from '../hosts/read-endpoint-slice.ts';
import { readKubernetesNamespace } from '../hosts/read-kubernetes-namespace.ts';
import { readKubernetesNode } from '../hosts/read-kubernetes-node.ts';
import { readKubernetesService } from '../hosts/read-kubernetes-service.ts';
import {
  closedAccessPolicy,
  readRequestAuthentication,
} from '../security/read-request-authentication.ts';
import { readPod } from '../hosts/read-pod.ts';
import { readGateway } from '../workloads/read-gateway.ts';
import { readServiceEntry, readWorkloadEntry } from '../hosts/read-service-entry.ts';
import { readSidecar } from '../workloads/read-sidecar.ts';
import { readTelemetry } from '../telemetry/read-telemetry.ts';
import { readVirtualService } from '../traffic/read-virtual-service.ts';
import { readWorkloadGroup } from '../workloads/read-workload-group.ts';
import { readWorkloadSettings } from '../workloads/read-workload-settings.ts';

/** The members of a resource by which its reader is chosen, and settings for that reader. */
export interface Head {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  /** The annotation `istio.io/dry-run`. */
  readonly dryRun: string;
  /** The annotation `networking.istio.io/traffic-distribution`. */
  readonly distribution: string;
}

/** A kind of Istio has its content in `spec`. Its `status` is not used. */
interface ReadIstio<K extends WrittenKind> {
  readonly group: Exclude<Group, KubernetesGroup>;
  readonly read: (head: Head) => ReadMember<Specs[K]>;
  readonly ifRefused?: IfRefused<Specs[K]>;
}

/** A kind of Kubernetes may have any members beside its metadata. */
interface ReadKubernetes<K extends WrittenKind> {
  readonly group: KubernetesGroup;
  readonly readWhole: (get: Get, metadata: KubernetesMetadata, place: Place) => Specs[K];
  /** Undefined if `readWhole` checks the name. */
  readonly named?: ObjectName;
}

/** The reader of a kind. */
export type ReadKind<K extends WrittenKind> = ReadIstio<K> | ReadKubernetes<K>;

const ports = 'connections to the ports that its errors affect are refused';

/** All kinds that are read. */
export const kinds: { readonly [K in WrittenKind]: ReadKind<K> } = {
  ServiceEntry: {
    group: 'networking',
    read: ({ namespace, distribution }) => readServiceEntry(namespace, distribution),
  },
  WorkloadEntry: { group: 'networking', read: () => readWorkloadEntry },
  VirtualService: { group: 'networking', read: ({ namespace }) => readVirtualService(namespace) },
  DestinationRule: {
    group: 'networking',
    read: ({ namespace }) => readDestinationRule(namespace),
    ifRefused: { consequence: 'nothing is sent to destinations for which its TLS is wrong' },
  },
  Gateway: {
    group: 'networking',
    read: ({ namespace }) => readGateway(namespace),
    ifRefused: { consequence: 'nothing is served by a server whose TLS is wrong' },
  },
  Sidecar: { group: 'networking', read: () => readSidecar },
  PeerAuthentication: {
    group: 'security',
    read: () => readPeerAuthentication,
    ifRefused: { consequence: ports, otherwise: closedPeerAuthentication },
  },
  AuthorizationPolicy: {
    group: 'security',
    read: ({ namespace, dryRun }) => readAuthorizationPolicy(namespace, dryRun),
    ifRefused: { consequence: ports, otherwise: closedAccessPolicy },
  },
  RequestAuthentication: {
    group: 'security',
    read: () => readRequestAuthentication,
    ifRefused: { consequence: ports, otherwise: closedAccessPolicy },
  },
  Telemetry: { group: 'telemetry', read: () => readTelemetry },
  ProxyConfig: { group: 'networking', read: () => readWorkloadSettings },
  WorkloadGroup: { group: 'networking', read: () => readWorkloadGroup },
  Service: { group: 'core', readWhole: readKubernetesService },
  EndpointSlice: { group: 'discovery.k8s.io', readWhole: readEndpointSlice, named: 'subdomain' },
  Endpoints: { group: 'core', readWhole: readEndpoints },
  Pod: { group: 'core', readWhole: readPod, named: 'subdomain' },
  Node: { group: 'core', readWhole: readKubernetesNode, named: 'subdomain' },
  Namespace: { group: 'core', readWhole: readKubernetesNamespace, named: 'label' },
};

/** Whether resources of a kind have no namespace. */
export const isOfCluster = (kind: string): boolean => kind === 'Node' || kind === 'Namespace';
