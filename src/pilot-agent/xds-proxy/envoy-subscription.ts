import type { Resource } from '../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { type TypeResources, wildcard } from '../../shared/xds/resources.ts';
import type { TypeSubscription } from '../../shared/xds/type-subscription.ts';
import type { GivenResource, ResourceOrigins } from './resource-origins.ts';

/** What an Envoy is given: what is new to it, and, for state of the world, all that it then has. */
export interface EnvoyAnswer {
  readonly version: string;
  readonly changed: readonly Resource[];
  readonly removed: readonly string[];
  readonly all: () => readonly Resource[];
  /** Some of it is stored, and not from the control plane. */
  readonly isStored: boolean;
}

/** A subscription of an Envoy to what the control plane says. */
export interface EnvoyKind {
  readonly resource: GivenResource;
  readonly had: 'unknown';
  readonly source: ResourceOrigins;
  /** The version, and whether Envoy has NACKed what it was given before. */
  readonly note: { readonly version: string; readonly isAfterNack: boolean };
  readonly message: EnvoyAnswer;
  readonly context: { readonly nonce: string; readonly origins: ResourceOrigins };
  readonly reason: never;
}

/** What one Envoy wants of one type, and what it has. */
export type EnvoySubscription = TypeSubscription<EnvoyKind>;

/** The names that are subscribed; the asterisk is one of them if all are. Pure. */
export function namesOf(subscription: EnvoySubscription): ReadonlySet<string> {
  const { names } = subscription;
  return subscription.wildcard ? new Set([wildcard, ...names]) : names;
}

/** What Envoy has ACKed of what it has asked for; undefined unless that is all. Pure. */
export function acceptedBy(subscription: EnvoySubscription): TypeResources | undefined {
  const { names, held, accepted, inFlight, refused, unanswered, answers } = subscription;
  if (answers === 0 || inFlight !== undefined || refused.size > 0) return undefined;
  const entries = [...held];
  const isOpen = unanswered.size > 0 || (!subscription.wildcard && held.size < names.size);
  if (isOpen || entries.some(([, given]) => given === 'unknown')) return undefined;
  const resources = entries.flatMap(([name, given]): readonly (readonly [string, Resource])[] =>
    typeof given === 'object' ? [[name, given]] : [],
  );
  const absent = entries.flatMap(([name, given]) => (given === 'absent' ? [name] : []));
  return {
    version: accepted?.version ?? '',
    resources: new Map(resources),
    absent: new Set(absent),
  };
}
