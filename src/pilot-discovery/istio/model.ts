import type { AccessPolicy } from './access-policy.ts';
import type { DestinationRule } from './destination-rule.ts';
import type { EndpointSlice } from './endpoint-slice.ts';
import type { Gateway } from './gateway.ts';
import type { KubernetesService } from './kubernetes-service.ts';
import type { Pod } from './pod.ts';
import type { PeerAuthentication } from './peer-authentication.ts';
import type { ServiceEntry, WorkloadEntry } from './service-entry.ts';
import type { Sidecar } from './sidecar.ts';
import type { Labels } from './values.ts';
import type { VirtualService } from './virtual-service.ts';

/**
 * What each kind of resource says. All values are read: a duration is in ms, a match is one of
 * three, a default of Istio is filled in where it does not depend on other resources.
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
  readonly Service: KubernetesService;
  readonly EndpointSlice: EndpointSlice;
  readonly Pod: Pod;
}

export type Kind = keyof Specs;

/** `Kind/namespace/name`. It names a resource among all. */
export type ResourceKey = string;

export const keyOf = ({
  kind,
  namespace,
  name,
}: Pick<Resource, 'kind' | 'namespace' | 'name'>): ResourceKey => `${kind}/${namespace}/${name}`;

/** Where a resource comes from, as a person finds it. */
export interface Origin {
  /** The name of the source. */
  readonly source: string;
  /** The file, or what stands for one; '' where there is none. */
  readonly path: string;
  /** Of its first line, from 1; 0 where there is none. */
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
   * `creationTimestamp`, ms since 1970; 0 where there is none. Of two in conflict the older wins.
   */
  readonly createdMs: number;
  /** A hash of what it says. Its origin has no part in it. */
  readonly version: string;
  readonly origin: Origin;
  /**
   * It is refused and was never right, so it closes what it would restrict: what follows, in a
   * sentence. Undefined of a good one.
   */
  readonly closes?: string;
  readonly spec: Specs[K];
}

/** A resource of some kind, told apart by `kind`. */
export type AnyResource = { readonly [K in Kind]: Resource<K> }[Kind];

/** What is wrong in a resource or a file. */
export interface Flaw {
  /** Of the resource; undefined where its name cannot be told, or the whole file cannot be read. */
  readonly key: ResourceKey | undefined;
  readonly origin: Origin;
  /** `spec.http[0].route`; '' for the whole. */
  readonly field: string;
  /** What is wrong and what would be right, in one sentence. */
  readonly reason: string;
  /**
   * `warning`: the resource is used all the same. `info`: it is nothing of Istio, which the reason
   * names.
   */
  readonly severity: 'error' | 'warning' | 'info';
}
