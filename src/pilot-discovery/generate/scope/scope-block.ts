import type { Resource } from '../../istio/documents/model.ts';
import type { Egress } from '../../istio/workloads/sidecar.ts';
import type { Services } from './visible-services.ts';

/** The part of a scope that is for the listeners of one block of a Sidecar, or for all. */
export interface ScopeBlock {
  readonly egress: Egress | undefined;
  readonly services: Services;
  /** The VirtualServices for the mesh that apply, the nearest first. */
  readonly rules: readonly Resource<'VirtualService'>[];
}
