import type { AccessPolicy } from '../security/access-policy.ts';
import type { ConsulInstance, ConsulService } from '../hosts/consul-instance.ts';
import type { DestinationRule } from '../traffic/destination-rule.ts';
import type { Endpoints, EndpointSlice } from '../hosts/endpoint-slice.ts';
import type { Gateway } from '../workloads/gateway.ts';
import type { KubernetesNamespace } from '../hosts/kubernetes-namespace.ts';
import type { KubernetesNode } from '../hosts/kubernetes-node.ts';
import type { KubernetesService } from '../hosts/kubernetes-service.ts';
import type { Pod } from '../hosts/pod.ts';
import type { PeerAuthentication } from '../security/peer-authentication.ts';
import type { ServiceEntry, WorkloadEntry } from '../hosts/service-entry.ts';
import type { Sidecar } from '../workloads/sidecar.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Labels } from '../fields/values.ts';
import type { VirtualService } from '../traffic/virtual-service.ts';
import type { WorkloadGroup } from '../workloads/workload-group.ts';
import type { WorkloadSettings } from '../workloads/workload-settings.ts';

/**
 * The content of each kind of resource. All values are converted: a duration is in ms, a match is
 * one of three types. Defaults of Istio are filled in if they do not depend on other resources.
 */
export interface Specs {
  readonly ServiceEntry: ServiceEntry;
  readonly WorkloadEntry: WorkloadEntry;
  readonly VirtualService: VirtualService;
  readonly DestinationRule: DestinationRule;
  readonly Gateway: Gateway;
  readonly PeerAuthentication: PeerAuthentication;
  readonly Sidecar: Sidecar;
  readonly AuthorizationPolicy: AccessPolicy;
  readonly RequestAuthentication: AccessPolicy;
  readonly Telemetry: Telemetry;
  readonly ProxyConfig: WorkloadSettings;
  readonly WorkloadGroup: WorkloadGroup;
  readonly Service: KubernetesService;
  readonly EndpointSlice: EndpointSlice;
  readonly Endpoints: Endpoints;
  readonly Pod: Pod;
  readonly ConsulService: ConsulService;
  readonly ConsulInstance: ConsulInstance;
  readonly Node: KubernetesNode;
  readonly Namespace: KubernetesNamespace;
}

export type Kind = keyof Specs;

/** The kinds that files and Kubernetes have. */
export type WrittenKind = Exclude<Kind, 'ConsulService' | 'ConsulInstance'>;

/** `Kind/namespace/name`. It is unique among all resources. */
export type ResourceKey = string;

export const keyOf = ({
  kind,
  namespace,
  name,
}: Pick<Resource, 'kind' | 'namespace' | 'name'>): ResourceKey => `${kind}/${namespace}/${name}`;

/** The place where a person finds a resource. */
export interface Origin {
  /** The name of the source. */
  readonly source: string;
  /** The file, or the equivalent of one; '' if there is none. */
  readonly path: string;
  /** The first line, from 1; 0 if there is none. */
  readonly line: number;
}

/** One resource of the configuration. */
export interface Resource<K extends Kind = Kind> {
  readonly kind: K;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Labels;
  readonly annotations: Labels;
  /**
   * `creationTimestamp`, in ms since 1970; 0 if there is none. The older of two conflicting
   * resources wins.
   */
  readonly createdMs: number;
  readonly origin: Origin;
  /**
   * The consequence, in a sentence, of a refused resource that never had a good version: it closes
   * what it would restrict. Undefined for a good resource.
   */
  readonly closes?: string;
  /** The resource as other control planes get it; undefined if none may read it. */
  readonly body?: ResourceBody;
  readonly spec: Specs[K];
}

/** A google.protobuf.Any: the `spec` as a message of Istio's API, or the whole document as JSON. */
export interface ResourceBody {
  readonly typeUrl: string;
  readonly value: Uint8Array;
}

/**
 * Returns the resource of a document as other control planes get it; undefined for none. A refused
 * resource closes what it would restrict. Pure; never throws.
 */
export type WriteBody = (
  kind: WrittenKind,
  document: Readonly<Record<string, unknown>>,
  verdict: 'good' | 'refused',
) => ResourceBody | undefined;

/** A resource of any kind; `kind` distinguishes them. */
export type AnyResource = { readonly [K in Kind]: Resource<K> }[Kind];

/** A flaw of a resource or a file. */
export interface Flaw {
  /**
   * The key of the resource; undefined if its name is not known, or if the whole file cannot be
   * read.
   */
  readonly key: ResourceKey | undefined;
  readonly origin: Origin;
  /** `spec.http[0].route`; '' for the whole resource. */
  readonly field: string;
  /** The mistake and its correction, in one sentence. */
  readonly reason: string;
  /**
   * `warning`: the resource is used nevertheless. `info`: it does not belong to Istio, and the
   * reason names it.
   */
  readonly severity: 'error' | 'warning' | 'info';
}
