// Why: docs/decisions/039-a-set-is-kept-as-a-whole.md
import { type TypeResources, typeUrls } from '../../shared/xds/resources.ts';
import { acceptedBy, type EnvoySubscription } from './envoy-subscription.ts';

/** The last configuration that an Envoy has accepted as a whole. */
export interface LastGood {
  /** By type. */
  readonly types: ReadonlyMap<string, TypeResources>;
  /** The node id that it is for. */
  readonly nodeId: string;
  /** When it was what the control plane says, for the last time. In ms since 1970. */
  readonly confirmedAt: number;
}

/** Secrets are none of them. */
const kept: readonly string[] = Object.values(typeUrls);

/**
 * What an Envoy has accepted, pruned to what it subscribes; undefined unless it has accepted all
 * that it has asked for, and has asked for all that there was `before`: a child asks for one type
 * after the other. What has not changed stays the same object. Pure.
 */
export function goodOf(
  subscriptions: ReadonlyMap<string, EnvoySubscription>,
  before: LastGood | undefined,
): ReadonlyMap<string, TypeResources> | undefined {
  if (
    subscriptions.size === 0 ||
    [...(before?.types.keys() ?? [])].some((typeUrl) => !subscriptions.has(typeUrl))
  )
    return undefined;
  const types = new Map<string, TypeResources>();
  for (const [typeUrl, subscription] of subscriptions) {
    if (!kept.includes(typeUrl)) continue;
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

/** What was made of a subscription: few of them differ from one time to the next. */
const made = new WeakMap<EnvoySubscription, { readonly accepted: TypeResources | undefined }>();

function acceptedAs(
  subscription: EnvoySubscription,
  old: TypeResources | undefined,
): TypeResources | undefined {
  const known = made.get(subscription);
  if (known !== undefined && (known.accepted === undefined || known.accepted === old))
    return known.accepted;
  const fresh = acceptedBy(subscription);
  const accepted = fresh !== undefined && isSame(old, fresh) ? old : fresh;
  made.set(subscription, { accepted });
  return accepted;
}

function isSame(a: TypeResources | undefined, b: TypeResources): a is TypeResources {
  if (a?.resources.size !== b.resources.size || a.absent.size !== b.absent.size) return false;
  return (
    [...b.resources].every(([name, resource]) => a.resources.get(name) === resource) &&
    [...b.absent].every((name) => a.absent.has(name))
  );
}
