import type { SortedMap } from '../../shared/maps/sorted-map.ts';
import type { EndpointReadiness } from '../istio/endpoint-slice.ts';
import type { MeshConfig } from '../istio/mesh-config.ts';
import type { Flaw, Resource, ResourceKey } from '../istio/model.ts';
import type { ExportTo, Labels } from '../istio/values.ts';
import type { ServicePort } from '../istio/service-entry.ts';
import type { FetchedKeys } from './fetched-keys.ts';
import type { Index } from './grouped.ts';
import type { Resources } from './resources.ts';

/** Which clusters a gateway is given: those that its routes lead to, or all that it sees. */
export type GatewayClusters = 'reached' | 'all';

/**
 * What the generators read: an index of the store. Immutable. A part that no change has touched is
 * the same object as in the environment before, so its identity may stand for its content. Maps are
 * in order of their names.
 */
export interface Environment {
  /** All that it is made of, as the sources have told it. */
  readonly resources: Resources;
  readonly mesh: MeshConfig;
  readonly gatewayClusters: GatewayClusters;
  /**
   * Each host once, by name of the host; of several with a host the oldest comes first, and wins
   * where only one can be.
   */
  readonly services: SortedMap<readonly Service[]>;
  /** By {@link serviceKey}, then by number of the service's port. */
  readonly endpoints: SortedMap<ServiceEndpoints>;
  /** Keys of services, by an address at which one of their ports is served. */
  readonly served: Index<string>;
  /**
   * Oldest first, with full names of hosts and gateways; delegates are put in where they belong,
   * and are not here themselves.
   */
  readonly virtualServices: readonly Resource<'VirtualService'>[];
  /** By full name of the host, which they have too; oldest first. */
  readonly destinationRules: SortedMap<readonly Resource<'DestinationRule'>[]>;
  /** By namespace. */
  readonly peerAuthentications: SortedMap<readonly Resource<'PeerAuthentication'>[]>;
  /** Of issuers of tokens. */
  readonly fetchedKeys: FetchedKeys;
  /** By namespace: of both kinds. */
  readonly accessPolicies: SortedMap<readonly Resource<AccessPolicyKind>[]>;
  readonly gateways: SortedMap<readonly Resource<'Gateway'>[]>;
  readonly sidecars: SortedMap<readonly Resource<'Sidecar'>[]>;
  /** By namespace and address. */
  readonly workloadEntries: Index<Resource<'WorkloadEntry'>>;
  /** By `all` and namespace, and by `labelled`, namespace, label and value. */
  readonly workloadsByLabel: Index<Resource<'WorkloadEntry'>>;
  /** Those that select workloads: by namespace, and a label with its value that they ask for. */
  readonly entriesByLabel: Index<Resource<'ServiceEntry'>>;
  /** Services of Kubernetes that select workloads: as `entriesByLabel`. */
  readonly servicesByLabel: Index<Resource<'Service'>>;
  /** As `workloadsByLabel`; by `at`, namespace and address too. */
  readonly pods: Index<Resource<'Pod'>>;
  /** ExternalNames: by `of` and their own host, and by `for` and the host that they stand for. */
  readonly aliases: Index<Resource<'Service'>>;
  /** By `service` and `pod`, namespace, and name of their Service or of one of their Pods. */
  readonly endpointSlices: Index<Resource<'EndpointSlice'>>;
  /** What is left out of it, as a route to a delegate that is not there. */
  readonly warnings: readonly Flaw[];
}

export type AccessPolicyKind = 'AuthorizationPolicy' | 'RequestAuthentication';

/** One host of a ServiceEntry, or a Service of Kubernetes. */
export interface Service {
  readonly host: string;
  /** As telemetry has it: the name of a Service of Kubernetes, else the host. */
  readonly name: string;
  readonly namespace: string;
  /** The kind of what it is made of. */
  readonly registry: RegistryName;
  /** As the resource has it; empty where it has none. */
  readonly addresses: readonly string[];
  /** Other hosts by which it is called, sorted. */
  readonly aliases: readonly string[];
  readonly ports: readonly ServicePort[];
  readonly location: 'external' | 'internal';
  readonly resolution: 'none' | 'static' | 'dns' | 'dns-round-robin';
  readonly subjectAltNames: readonly string[];
  readonly exportTo: ExportTo;
  readonly labels: Labels;
  readonly createdMs: number;
  /** What it is made of. */
  readonly key: ResourceKey;
}

/** The kinds of which services are made. */
export type RegistryName = 'ServiceEntry' | 'Service';

export const serviceKey = ({ namespace, host }: Pick<Service, 'namespace' | 'host'>): string =>
  `${namespace}/${host}`;

/** The namespace of a service, by its key. */
export const namespaceOf = (key: string): string => key.slice(0, key.indexOf('/'));

/** The host of a service, by its key. */
export const hostOf = (key: string): string => key.slice(key.indexOf('/') + 1);

export type ServiceEndpoints = ReadonlyMap<number, readonly Endpoint[]>;

/** Where one port of a service is served. */
export interface Endpoint {
  /** An IP address, a name, or the path of a Unix socket (`port` is 0 then). */
  readonly address: string;
  readonly port: number;
  /** Its own, and those of Istio that tell its locality. */
  readonly labels: Labels;
  readonly network: string;
  /** `region/zone/subzone`; '' where it is not known. */
  readonly locality: string;
  /** 0 where it is not said. */
  readonly weight: number;
  /** `spiffe://TRUST_DOMAIN/ns/NAMESPACE/sa/ACCOUNT`; '' where it has no account. */
  readonly identity: string;
  readonly tlsMode: 'istio' | 'disabled';
  /** Of the WorkloadEntry or the Pod; '' of any other, as its name. */
  readonly namespace: string;
  readonly workloadName: string;
  readonly readiness: EndpointReadiness;
  /** What says that it is there: a WorkloadEntry, an EndpointSlice, a Pod, or the ServiceEntry. */
  readonly key: ResourceKey;
}
