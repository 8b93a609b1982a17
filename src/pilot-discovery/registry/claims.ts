import { type AnyResource, type Flaw, keyOf, type ResourceKey } from '../istio/documents/model.ts';
import { placeOf } from '../istio/documents/place-of.ts';
import { groupedBy } from '../environment/grouped.ts';

/** The content of a file, or of an object of an API. */
export interface ClaimingContent {
  /** In order. A key may occur more than once. */
  readonly resources: readonly AnyResource[];
  readonly flaws: readonly Flaw[];
  /** Stricter resources in the place of bad ones without a good version. See `closes`. */
  readonly closing: readonly AnyResource[];
  /** The last good versions of resources that are bad now. */
  readonly kept: ReadonlyMap<ResourceKey, AnyResource>;
}

/** The content of one file or object under one key. */
export interface KeyClaim {
  /** In order. The first one counts. */
  readonly resources: readonly AnyResource[];
  readonly isBad: boolean;
  /** The last good version, if the resource is bad now. */
  readonly kept: AnyResource | undefined;
  /** A stricter resource in the place of the bad one. */
  readonly closing: AnyResource | undefined;
}

/** Returns the parts of a content by their keys; none if the content is undefined. Pure. */
export function claimsOf(content: ClaimingContent | undefined): ReadonlyMap<ResourceKey, KeyClaim> {
  const claims = new Map<ResourceKey, KeyClaim>();
  if (content === undefined) return claims;
  const add = (key: ResourceKey, part: Partial<KeyClaim>) => {
    const nothing = { resources: [], isBad: false, kept: undefined, closing: undefined };
    claims.set(key, { ...(claims.get(key) ?? nothing), ...part });
  };
  for (const [key, resources] of groupedBy(content.resources, keyOf)) add(key, { resources });
  for (const { key, severity } of content.flaws)
    if (key !== undefined && severity === 'error') add(key, { isBad: true });
  for (const [key, kept] of content.kept) add(key, { kept });
  for (const closing of content.closing) {
    const key = keyOf(closing);
    if (claims.get(key)?.closing === undefined) add(key, { closing });
  }
  return claims;
}

/**
 * Returns the resource that counts under a key, and the flaws of the others. The first resource
 * counts. If there is none, but the resource is bad in some content, its last good version counts:
 * that of a content, or else `last`. If there is no good version either, the stricter resource of a
 * content (`closing`) counts. Pure.
 *
 * @param last the winner before
 */
export function winnerOf(
  key: ResourceKey,
  keyClaims: readonly KeyClaim[],
  last: AnyResource | undefined,
): { readonly winner: AnyResource | undefined; readonly flaws: readonly Flaw[] } {
  const [first, ...others] = keyClaims.flatMap(({ resources }) => resources);
  if (first !== undefined)
    return { winner: first, flaws: others.map((other) => twice(key, other, first)) };
  const lastGood =
    keyClaims.find(({ kept }) => kept !== undefined)?.kept ??
    (last?.closes === undefined && keyClaims.some(({ isBad }) => isBad) ? last : undefined);
  if (lastGood !== undefined) return { winner: lastGood, flaws: [] };
  const closing = keyClaims.find((claim) => claim.closing !== undefined)?.closing;
  return { winner: closing, flaws: closing === undefined ? [] : [neverGood(key, closing)] };
}

function neverGood(key: ResourceKey, { origin, closes = '' }: AnyResource): Flaw {
  const reason = `it has no good version: ${closes}`;
  return { key, origin, field: '', reason, severity: 'error' };
}

function twice(key: ResourceKey, { origin }: AnyResource, winner: AnyResource): Flaw {
  const reason = `${key} is in ${placeOf(winner.origin)} too, which comes first; this one is not used`;
  return { key, origin, field: '', reason, severity: 'error' };
}
