import type { Resource } from '../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { type TypeResources, wildcard } from '../../shared/xds/resources.ts';
import type { TypeSubscription } from '../../shared/xds/type-subscription.ts';
import type { GivenResource, ResourceOrigins } from './resource-origins.ts';

/**
 * An answer to an Envoy: the changes, and every resource that Envoy has after them (`all`). A
 * wildcard answer in state of the world has all resources.
 */
export interface EnvoyAnswer {
  readonly version: string;
  readonly changed: readonly Resource[];
  readonly removed: readonly string[];
  readonly all: () => readonly Resource[];
  /** Whether some of it is stored, and does not come from the control plane. */
  readonly isStored: boolean;
}

/** A subscription of an Envoy, which is answered with the resources of the control plane. */
export interface EnvoyKind {
  readonly resource: GivenResource;
  readonly had: 'unknown';
  readonly source: ResourceOrigins;
  /** The version, and whether Envoy had NACKed an answer before this one. */
  readonly note: { readonly version: string; readonly isAfterNack: boolean };
  readonly message: EnvoyAnswer;
  readonly context: { readonly nonce: string; readonly origins: ResourceOrigins };
  readonly reason: never;
}

/** The resources of one type that one Envoy wants, and those that it has. */
export type EnvoySubscription = TypeSubscription<EnvoyKind>;

/** Returns the subscribed names, with the asterisk if all are subscribed. Pure. */
export function namesOf(subscription: EnvoySubscription): ReadonlySet<string> {
  const { names } = subscription;
  return subscription.wildcard ? new Set([wildcard, ...names]) : names;
}

/**
 * Returns the resources of a type that Envoy has ACKed; undefined if some are still pending, or
 * were NACKed. Pure.
 */
export function acceptedBy(subscription: EnvoySubscription): TypeResources | undefined {
  const {
    names,
    clientResources: envoyResources,
    accepted,
    inFlight,
    refused,
    unanswered,
    answers,
  } = subscription;
  const wantsNothing = !subscription.wildcard && names.size === 0;
  if ((answers === 0 && !wantsNothing) || inFlight !== undefined || refused.size > 0)
    return undefined;
  const entries = [...envoyResources];
  const isOpen =
    unanswered.size > 0 || (!subscription.wildcard && envoyResources.size < names.size);
  if (isOpen || entries.some(([, resource]) => resource === 'unknown')) return undefined;
  const resources = entries.flatMap(([name, resource]): readonly (readonly [string, Resource])[] =>
    typeof resource === 'object' ? [[name, resource]] : [],
  );
  const absent = entries.flatMap(([name, resource]) => (resource === 'absent' ? [name] : []));
  return {
    version: accepted?.version ?? '',
    resources: new Map(resources),
    absent: new Set(absent),
  };
}
