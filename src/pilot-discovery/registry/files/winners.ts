import { type AnyResource, type Flaw, keyOf, type ResourceKey } from '../../istio/model.ts';
import { SortedMap } from '../../../shared/maps/sorted-map.ts';
import type { KnownFile } from './known-file.ts';

/** The resources of a folder as a whole. Immutable. */
export interface Winners {
  /** The resource that counts, by key. */
  readonly resources: SortedMap<AnyResource>;
  /** The content of one file under one key, by key and path. The files of a key are in order. */
  readonly claims: SortedMap<Claim>;
  /** Flaws of a file itself, by path; and flaws because of other files, by path and key. */
  readonly flaws: SortedMap<readonly Flaw[]>;
}

/** The content of one file under one key. */
interface Claim {
  /** In order. The first one counts. */
  readonly resources: readonly AnyResource[];
  readonly isBad: boolean;
  /** The last good version, if the resource is bad now. */
  readonly kept: AnyResource | undefined;
  /** A resource that closes what the bad one would restrict. */
  readonly closing: AnyResource | undefined;
}

/** A file before and after a look; undefined if it does not exist. */
export interface FileEdit {
  readonly before: KnownFile | undefined;
  readonly after: KnownFile | undefined;
}

export const noWinners: Winners = {
  resources: SortedMap.empty(),
  claims: SortedMap.empty(),
  flaws: SortedMap.empty(),
};

/** It sorts before each character of a path or a key, so that the paths of a key stay in order. */
const divider = '\0';

/**
 * Returns the winners after some files have changed. For each key the winner is the first resource
 * of the first file that has it. Without one, it is the last good version in a file in which it is
 * bad now, or else the previous winner, if it is bad in some file. A bad resource without a good
 * version is replaced by one that closes what it would restrict. Only the content of changed files
 * is looked at. Pure.
 */
export function withFiles(winners: Winners, edits: Iterable<FileEdit>): Winners {
  const claimEdits = new Map<string, Claim | undefined>();
  const flawEdits = new Map<string, readonly Flaw[] | undefined>();
  const keys = new Set<ResourceKey>();
  for (const { before, after } of edits) {
    const [old, now] = [claimsOf(before), claimsOf(after)];
    for (const key of new Set([...old.keys(), ...now.keys()])) {
      if (isSame(old.get(key), now.get(key))) continue;
      keys.add(key);
      claimEdits.set(`${key}${divider}${(after ?? before)?.path ?? ''}`, now.get(key));
    }
    if (before !== undefined) flawEdits.set(before.path, undefined);
    if (after !== undefined && after.flaws.length > 0) flawEdits.set(after.path, after.flaws);
  }
  const claims = winners.claims.with(claimEdits);
  const resources = new Map<ResourceKey, AnyResource | undefined>();
  for (const key of keys) {
    for (const path of pathsOf(winners.claims, key))
      flawEdits.set(`${path}${divider}${key}`, undefined);
    const { winner, flaws } = winnerOf(key, claims, winners.resources.get(key));
    resources.set(key, winner);
    for (const flaw of flaws) {
      const name = `${flaw.origin.path}${divider}${key}`;
      flawEdits.set(name, [...(flawEdits.get(name) ?? []), flaw]);
    }
  }
  return {
    resources: winners.resources.with(resources),
    claims,
    flaws: winners.flaws.with(flawEdits),
  };
}

function claimsOf(file: KnownFile | undefined): ReadonlyMap<ResourceKey, Claim> {
  const claims = new Map<ResourceKey, Claim>();
  if (file === undefined) return claims;
  const add = (key: ResourceKey, part: Partial<Claim>) => {
    const nothing = { resources: [], isBad: false, kept: undefined, closing: undefined };
    claims.set(key, { ...(claims.get(key) ?? nothing), ...part });
  };
  for (const resource of file.resources) {
    const key = keyOf(resource);
    add(key, { resources: [...(claims.get(key)?.resources ?? []), resource] });
  }
  for (const { key, severity } of file.flaws)
    if (key !== undefined && severity === 'error') add(key, { isBad: true });
  for (const [key, kept] of file.kept) add(key, { kept });
  for (const closing of file.closing) {
    const key = keyOf(closing);
    if (claims.get(key)?.closing === undefined) add(key, { closing });
  }
  return claims;
}

function isSame(a: Claim | undefined, b: Claim | undefined): boolean {
  return (
    a?.isBad === b?.isBad &&
    a?.kept === b?.kept &&
    a?.closing === b?.closing &&
    a?.resources.length === b?.resources.length &&
    a?.resources.every((resource, index) => resource === b?.resources[index]) !== false
  );
}

function* pathsOf(claims: Winners['claims'], key: ResourceKey): Generator<string> {
  const prefix = `${key}${divider}`;
  for (const [name] of claims.withPrefix(prefix)) yield name.slice(prefix.length);
}

function winnerOf(
  key: ResourceKey,
  claims: Winners['claims'],
  last: AnyResource | undefined,
): { readonly winner: AnyResource | undefined; readonly flaws: readonly Flaw[] } {
  const keyClaims = [...claims.withPrefix(`${key}${divider}`)].map(([, claim]) => claim);
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
  const reason = `${key} is in ${winner.origin.path}:${winner.origin.line} too, which comes first; this one is not used`;
  return { key, origin, field: '', reason, severity: 'error' };
}
