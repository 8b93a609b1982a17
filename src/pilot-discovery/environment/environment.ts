import type { SortedMap } from '../../shared/maps/sorted-map.ts';
import type { EndpointReadiness } from '../istio/hosts/endpoint-slice.ts';
import type { MeshConfig } from '../istio/mesh/mesh-config.ts';
import type { MeshNetworks } from '../istio/mesh/mesh-networks.ts';
import type { Flaw, Resource, ResourceKey } from '../istio/documents/model.ts';
import type { ExportTo, Labels } from '../istio/fields/values.ts';
import type { Resolution, ServicePort } from '../istio/hosts/service-entry.ts';
import type { TrafficDistribution } from '../istio/hosts/traffic-distribution.ts';
import type { FetchedKeys } from './fetched-keys.ts';
import type { Index } from './grouped.ts';
import type { Resources } from './resources.ts';

/**
 * The clusters that a gateway receives: those that its routes lead to, or all that are visible to
 * it.
 */
export type GatewayClusters = 'reached' | 'all';

/**
 * The index of the store that the generators read. Immutable. A part that no change has touched is
 * the same object as in the environment before, so its identity may stand for its content. Maps are
 * in order of their names.
 */
export interface Environment {
  /** All resources from which the index is made, as the sources have them. */
  readonly resources: Resources;
  readonly mesh: MeshConfig;
  /** The network of Pods whose labels name none: that of the root namespace; '' for none. */
  readonly network: string;
  /** The networks of the mesh, with the gateways that are Services. */
  readonly networks: MeshNetworks;
  /** The networks as the file or the ConfigMap has them. */
  readonly writtenNetworks: MeshNetworks;
  /** Services of Kubernetes that have addresses outside of the cluster, by key. */
  readonly externalServices: SortedMap<Resource<'Service'>>;
  readonly gatewayClusters: GatewayClusters;
  /**
   * The services of each host. A Service of Kubernetes comes first, then one of Consul, then the
   * oldest; the first one wins if only one can be used.
   */
  readonly services: SortedMap<readonly Service[]>;
  /** By {@link serviceKey}, then by number of the service's port. */
  readonly endpoints: SortedMap<ServiceEndpoints>;
  /** Keys of services, by the address of one of their endpoints. */
  readonly served: Index<string>;
  /**
   * Oldest first, with full names of hosts and gateways. Delegates are not in the list: their
   * routes are in the VirtualServices that lead to them.
   */
  readonly virtualServices: readonly Resource<'VirtualService'>[];
  /** By full name of the host, which is also in the resource; oldest first. */
  readonly destinationRules: SortedMap<readonly Resource<'DestinationRule'>[]>;
  /** By namespace. */
  readonly peerAuthentications: SortedMap<readonly Resource<'PeerAuthentication'>[]>;
  /** The keys of issuers of tokens. */
  readonly fetchedKeys: FetchedKeys;
  /** Policies of both kinds, by namespace. */
  readonly accessPolicies: SortedMap<readonly Resource<AccessPolicyKind>[]>;
  readonly telemetries: SortedMap<readonly Resource<'Telemetry'>[]>;
  readonly gateways: SortedMap<readonly Resource<'Gateway'>[]>;
  readonly sidecars: SortedMap<readonly Resource<'Sidecar'>[]>;
  /** By namespace and address. */
  readonly workloadEntries: Index<Resource<'WorkloadEntry'>>;
  /** By `all` and namespace, and by `labelled`, namespace, label and value. */
  readonly workloadsByLabel: Index<Resource<'WorkloadEntry'>>;
  /**
   * ServiceEntries that select workloads: by namespace, and by one label of the selector with its
   * value.
   */
  readonly entriesByLabel: Index<Resource<'ServiceEntry'>>;
  /** Services of Kubernetes that select workloads, by the same texts as `entriesByLabel`. */
  readonly servicesByLabel: Index<Resource<'Service'>>;
  /**
   * By the same texts as `workloadsByLabel`, by `at`, namespace and address, and by `on` and the
   * name of the Node.
   */
  readonly pods: Index<Resource<'Pod'>>;
  /** ExternalNames: by `of` and their own host, and by `for` and the host to which they point. */
  readonly aliases: Index<Resource<'Service'>>;
  /** By `service` and `pod`, namespace, and name of their Service or of one of their Pods. */
  readonly endpointSlices: Index<Resource<'EndpointSlice'>>;
  /** By namespace and name of one of their Pods. */
  readonly endpointsOfPods: Index<Resource<'Endpoints'>>;
  /** By namespace and name of their ConsulService. */
  readonly consulInstances: Index<Resource<'ConsulInstance'>>;
  /** Warnings about parts that are left out, such as a route to a delegate that does not exist. */
  readonly warnings: readonly Flaw[];
}

export type AccessPolicyKind = 'AuthorizationPolicy' | 'RequestAuthentication';

/** One host of a ServiceEntry, a Service of Kubernetes, or a service of Consul. */
export interface Service {
  readonly host: string;
  /** The name in telemetry: that of a Service of Kubernetes, else the host. */
  readonly name: string;
  readonly namespace: string;
  /** The kind of the resource from which it is made. */
  readonly registry: RegistryName;
  /** The addresses of the resource; empty if it has none. */
  readonly addresses: readonly string[];
  /** Other host names of the service, sorted. */
  readonly aliases: readonly string[];
  readonly ports: readonly ServicePort[];
  readonly location: 'external' | 'internal';
  readonly resolution: Resolution;
  readonly subjectAltNames: readonly string[];
  /** Further service accounts of its namespace that its endpoints may have. */
  readonly serviceAccounts: readonly string[];
  readonly trafficDistribution: TrafficDistribution;
  readonly exportTo: ExportTo;
  readonly labels: Labels;
  readonly createdMs: number;
  /** The resource from which it is made. */
  readonly key: ResourceKey;
}

/** The kinds from which services are made. */
export type RegistryName = 'ServiceEntry' | 'Service' | 'ConsulService';

export const serviceKey = ({ namespace, host }: Pick<Service, 'namespace' | 'host'>): string =>
  `${namespace}/${host}`;

/** Returns the namespace of a service, from its key. */
export const namespaceOf = (key: string): string => key.slice(0, key.indexOf('/'));

/** Returns the host of a service, from its key. */
export const hostOf = (key: string): string => key.slice(key.indexOf('/') + 1);

export type ServiceEndpoints = ReadonlyMap<number, readonly Endpoint[]>;

/** An endpoint of one port of a service. */
export interface Endpoint {
  /** An IP address, a name, or the path of a Unix socket (`port` is 0 then). */
  readonly address: string;
  readonly port: number;
  /** The labels of the workload, and those of Istio that name its locality. */
  readonly labels: Labels;
  readonly network: string;
  /** `region/zone/subzone`; '' if it is unknown. */
  readonly locality: string;
  /** 0 if it is not set. */
  readonly weight: number;
  /** `spiffe://TRUST_DOMAIN/ns/NAMESPACE/sa/ACCOUNT`; '' if it has no account. */
  readonly identity: string;
  readonly tlsMode: 'istio' | 'disabled';
  /** The namespace and the name of the WorkloadEntry or the Pod; '' for any other endpoint. */
  readonly namespace: string;
  readonly workloadName: string;
  readonly readiness: EndpointReadiness;
  /**
   * The resource that declares it: a WorkloadEntry, an EndpointSlice, Endpoints, a Pod, an instance
   * of Consul, or the ServiceEntry.
   */
  readonly key: ResourceKey;
}
