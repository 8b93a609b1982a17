// Why: docs/decisions/039-a-set-is-kept-as-a-whole.md
import { type TypeResources, typeUrls } from '../../shared/xds/resources.ts';
import { acceptedBy, type EnvoySubscription } from './envoy-subscription.ts';

/** The last configuration of which an Envoy has ACKed all types. */
export interface LastGood {
  /** The resources by type. */
  readonly types: ReadonlyMap<string, TypeResources>;
  /** The node id that it is for. */
  readonly nodeId: string;
  /** When the control plane last confirmed this configuration, in ms since 1970. */
  readonly confirmedAt: number;
}

/** The types that are stored. Secrets are not. */
const storedTypes: readonly string[] = Object.values(typeUrls);

/**
 * Returns the resources that an Envoy has ACKed, reduced to those that it subscribes. Returns
 * undefined if it has not ACKed everything that it requested, or not requested each type of
 * `awaited`. A type that has not changed stays the same object. Pure.
 */
export function goodOf(
  subscriptions: ReadonlyMap<string, EnvoySubscription>,
  before: LastGood | undefined,
  awaited: Iterable<string>,
): ReadonlyMap<string, TypeResources> | undefined {
  if (subscriptions.size === 0 || [...awaited].some((typeUrl) => !subscriptions.has(typeUrl)))
    return undefined;
  const types = new Map<string, TypeResources>();
  for (const [typeUrl, subscription] of subscriptions) {
    if (!storedTypes.includes(typeUrl)) continue;
    const accepted = acceptedAs(subscription, before?.types.get(typeUrl));
    if (accepted === undefined) return undefined;
    types.set(typeUrl, accepted);
  }
  const old = before?.types;
  return old?.size === types.size &&
    [...types].every(([typeUrl, type]) => old.get(typeUrl) === type)
    ? old
    : types;
}

/** The result for each subscription: few subscriptions change between two calls. */
const cachedResults = new WeakMap<
  EnvoySubscription,
  { readonly accepted: TypeResources | undefined }
>();

function acceptedAs(
  subscription: EnvoySubscription,
  old: TypeResources | undefined,
): TypeResources | undefined {
  const cached = cachedResults.get(subscription);
  if (cached !== undefined && (cached.accepted === undefined || cached.accepted === old))
    return cached.accepted;
  const computed = acceptedBy(subscription);
  const accepted = computed !== undefined && isSame(old, computed) ? old : computed;
  cachedResults.set(subscription, { accepted });
  return accepted;
}

function isSame(a: TypeResources | undefined, b: TypeResources): a is TypeResources {
  if (a?.resources.size !== b.resources.size || a.absent.size !== b.absent.size) return false;
  return (
    [...b.resources].every(([name, resource]) => a.resources.get(name) === resource) &&
    [...b.absent].every((name) => a.absent.has(name))
  );
}
