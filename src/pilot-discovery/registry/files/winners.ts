import type { AnyResource, Flaw, ResourceKey } from '../../istio/documents/model.ts';
import { groupedBy } from '../../environment/grouped.ts';
import { SortedMap } from '../../../shared/maps/sorted-map.ts';
import { type KeyClaim, claimsOf, winnerOf } from '../claims.ts';
import type { FileContent } from './file-content.ts';

/** The resources of a folder as a whole. Immutable. */
export interface Winners {
  /** The resource that counts, by key. */
  readonly resources: SortedMap<AnyResource>;
  /** The content of one file under one key, by key and path. The files of a key are in order. */
  readonly claims: SortedMap<KeyClaim>;
  /** Flaws of a file itself, by path; and flaws because of other files, by path and key. */
  readonly flaws: SortedMap<readonly Flaw[]>;
}

/** A file before and after a look; undefined if it does not exist. */
export interface FileEdit {
  readonly before: FileContent | undefined;
  readonly after: FileContent | undefined;
}

export const noWinners: Winners = {
  resources: SortedMap.empty(),
  claims: SortedMap.empty(),
  flaws: SortedMap.empty(),
};

/** It sorts before each character of a path or a key, so that the paths of a key stay in order. */
const divider = '\0';

/**
 * Returns the winners after some files have changed. If files have a resource of one key, the
 * first path counts. Only the content of changed files is looked at. Pure.
 */
export function withFiles(winners: Winners, edits: Iterable<FileEdit>): Winners {
  const claimEdits = new Map<string, KeyClaim | undefined>();
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
    const { winner, flaws } = winnerOf(key, claimsAt(claims, key), winners.resources.get(key));
    resources.set(key, winner);
    for (const [path, ofFile] of groupedBy(flaws, ({ origin }) => origin.path))
      flawEdits.set(`${path}${divider}${key}`, ofFile);
  }
  return {
    resources: winners.resources.with(resources),
    claims,
    flaws: winners.flaws.with(flawEdits),
  };
}

function isSame(a: KeyClaim | undefined, b: KeyClaim | undefined): boolean {
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

const claimsAt = (claims: Winners['claims'], key: ResourceKey): readonly KeyClaim[] =>
  [...claims.withPrefix(`${key}${divider}`)].map(([, claim]) => claim);
