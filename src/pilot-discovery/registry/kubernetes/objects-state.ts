// Why: docs/decisions/093-the-control-plane-follows-each-kind.md
import type { FollowSign, FollowFailure } from '../../../shared/kube/follow-state.ts';
import type { KubeObject } from '../../../shared/kube/kube-object.ts';
import { changedKeys, SortedMap } from '../../../shared/maps/sorted-map.ts';
import { unreachable } from '../../../operators/tagged-union.ts';
import type { StoreEvent } from '../../environment/store-event.ts';
import { isSameContent } from '../../istio/documents/is-same-content.ts';
import {
  type AnyResource,
  type Flaw,
  type Kind,
  keyOf,
  type ResourceKey,
} from '../../istio/documents/model.ts';
import type { ReadText } from '../../istio/documents/read-resources.ts';
import { claimsOf, winnerOf } from '../claims.ts';

/** Reads an object as its reader does. Pure; never throws. */
export type ReadKubeObject = (object: KubeObject) => ReadText;

/** The last reading of an object. */
interface ObjectReading {
  readonly resourceVersion: string;
  /** The resource in use: that of the object, its last good version, or a stricter one. */
  readonly resource: AnyResource | undefined;
  readonly flaws: readonly Flaw[];
}

interface KindState {
  readonly objects: SortedMap<ObjectReading>;
  /** `absent`: the API does not have the kind, and no object of it is known. */
  readonly progress: 'asked' | 'listed' | 'absent';
  /** Why the known objects may be old; undefined if they are not. */
  readonly trouble: Trouble | undefined;
}

interface Trouble {
  readonly cause: FollowFailure;
  readonly reason: string;
}

/** All objects of an API. Immutable. */
export interface ObjectsState {
  readonly kinds: ReadonlyMap<Kind, KindState>;
  /** The flaws of objects that have any, by key. */
  readonly flaws: SortedMap<readonly Flaw[]>;
  readonly isSynced: boolean;
  /** Why not all objects are current, as in the last event; undefined if they are. */
  readonly lost: string | undefined;
  /**
   * The first reason why the API cannot be reached; undefined if it answers. Later reasons are not
   * reported until it answers for each kind: all of them are one loss.
   */
  readonly unreachable: string | undefined;
  /** The causes that were reported since all objects were current, or the API answers again. */
  readonly causes: ReadonlySet<FollowFailure>;
}

const unknown: KindState = { objects: SortedMap.empty(), progress: 'asked', trouble: undefined };

/** Returns the state before the first answer of the API. */
export function noObjects(kinds: Iterable<Kind>): ObjectsState {
  return {
    kinds: new Map([...kinds].map((kind) => [kind, unknown])),
    flaws: SortedMap.empty(),
    isSynced: false,
    lost: undefined,
    unreachable: undefined,
    causes: new Set(),
  };
}

/**
 * Returns the objects after a sign about one kind, and the events. An object that has become bad
 * keeps its last good version. While a kind cannot be followed, its objects stay. Refusals are
 * reported when the API has answered about each kind, and once for each status. Pure.
 *
 * @param source the name of the source
 */
export function reduceObjects(
  state: ObjectsState,
  { kind, sign }: { readonly kind: Kind; readonly sign: FollowSign },
  read: ReadKubeObject,
  source: string,
): readonly [ObjectsState, readonly StoreEvent[]] {
  const before = state.kinds.get(kind) ?? unknown;
  const after = kindAfter(before, kind, sign, read);
  const kinds = new Map(state.kinds).set(kind, after);
  const keys = changedKeys(before.objects, after.objects);
  const flaws = flawsAfter(state.flaws, keys, before, after);
  const isAll = [...kinds.values()].every(({ progress }) => progress !== 'asked');
  const troubles = [...kinds.values()].flatMap(({ trouble }) => trouble ?? []);
  const unanswered = troubles.find(({ cause }) => cause === 'no-answer');
  const isStill = state.unreachable !== undefined && unanswered !== undefined;
  const unreachableFor = isStill ? state.unreachable : unanswered?.reason;
  const lost =
    unreachableFor ?? ([...kinds.values()].some(isAwaited) ? undefined : refusalsOf(troubles));
  const causes = causesAfter(state, lost, troubles);
  const isNews = [...causes].some((cause) => !state.causes.has(cause));
  const isBack = isAll && lost === undefined && (!state.isSynced || state.lost !== undefined);
  const next: ObjectsState = {
    kinds,
    flaws,
    isSynced: state.isSynced || (isAll && lost === undefined),
    lost: lost ?? (isBack ? undefined : state.lost),
    unreachable: unreachableFor,
    causes,
  };
  return [
    next,
    [
      ...changedEvents(keys, before, after, source),
      ...(flaws === state.flaws
        ? []
        : [{ type: 'flaws', source, flaws: [...flaws.values()].flat() } as const]),
      ...(lost === undefined || lost === state.lost
        ? []
        : [{ type: isNews ? 'lost' : 'still-lost', source, reason: lost } as const]),
      ...(isBack ? [{ type: 'synced', source } as const] : []),
    ],
  ];
}

/** Whether the API has said nothing about a kind yet. */
const isAwaited = ({ progress, trouble }: KindState): boolean =>
  progress === 'asked' && trouble === undefined;

function kindAfter(
  before: KindState,
  kind: Kind,
  sign: FollowSign,
  read: ReadKubeObject,
): KindState {
  const keyOfObject = ({ metadata: { name, namespace = '' } }: KubeObject): ResourceKey =>
    keyOf({ kind, namespace, name });
  // After an outage, the API may have other data under a version that it used before.
  const isTrusted = before.trouble === undefined;
  const edit = (object: KubeObject) => {
    const key = keyOfObject(object);
    return [key, objectAfter(before.objects.get(key), { object, isTrusted }, key, read)] as const;
  };
  switch (sign.type) {
    case 'listed': {
      const listed = new Set(sign.objects.map(keyOfObject));
      const vanished = [...before.objects.keys()].filter((key) => !listed.has(key));
      const edits = [
        ...sign.objects.map(edit),
        ...vanished.map((key) => [key, undefined] as const),
      ];
      return { ...before, objects: before.objects.with(edits), progress: 'listed' };
    }
    case 'set':
      return { ...before, objects: before.objects.with([edit(sign.object)]) };
    case 'removed':
      return { ...before, objects: before.objects.with([[keyOfObject(sign.object), undefined]]) };
    case 'current':
      return { ...before, trouble: undefined };
    case 'lost':
      // Before the API removes a definition, it removes the objects of that kind one by one.
      return sign.cause === 'no-kind' && before.objects.size === 0
        ? { ...before, progress: 'absent', trouble: undefined }
        : {
            ...before,
            trouble: { cause: sign.cause, reason: sign.reason },
          };
    default:
      return unreachable(sign);
  }
}

function objectAfter(
  before: ObjectReading | undefined,
  {
    object,
    isTrusted,
  }: {
    readonly object: KubeObject;
    /** Whether an object with an unchanged version is unchanged. */
    readonly isTrusted: boolean;
  },
  key: ResourceKey,
  read: ReadKubeObject,
): ObjectReading {
  const { resourceVersion } = object.metadata;
  if (isTrusted && before?.resourceVersion === resourceVersion) return before;
  const content = read(object);
  const claim = claimsOf({ ...content, kept: new Map() }).get(key);
  const { winner, flaws } = winnerOf(key, claim === undefined ? [] : [claim], before?.resource);
  return {
    resourceVersion,
    resource: isSameContent(before?.resource, winner) ? before?.resource : winner,
    flaws: [...content.flaws, ...flaws],
  };
}

function changedEvents(
  keys: readonly ResourceKey[],
  before: KindState,
  after: KindState,
  source: string,
): readonly StoreEvent[] {
  const [old, now] = [before, after].map(
    ({ objects }) =>
      (key: ResourceKey) =>
        objects.get(key)?.resource,
  );
  if (old === undefined || now === undefined) return [];
  const changed = keys.filter((key) => old(key) !== now(key));
  if (changed.length === 0) return [];
  const upserts = changed.map(now).filter((resource) => resource !== undefined);
  const removes = changed.filter((key) => now(key) === undefined);
  return [{ type: 'changed', source, upserts, removes }];
}

function flawsAfter(
  flaws: ObjectsState['flaws'],
  keys: readonly ResourceKey[],
  before: KindState,
  after: KindState,
): ObjectsState['flaws'] {
  const edits = keys.flatMap((key) => {
    const [old, now] = [before.objects.get(key)?.flaws ?? [], after.objects.get(key)?.flaws ?? []];
    return old.length + now.length === 0 || JSON.stringify(old) === JSON.stringify(now)
      ? []
      : [[key, now.length === 0 ? undefined : now] as const];
  });
  return edits.length === 0 ? flaws : flaws.with(edits);
}

/**
 * Returns the causes that are reported after an event. While the API cannot be reached, `no-answer`
 * is the only cause: when the API answers, refusals are reported again.
 */
function causesAfter(
  { causes }: ObjectsState,
  lost: string | undefined,
  troubles: readonly Trouble[],
): ReadonlySet<FollowFailure> {
  const current = troubles.map(({ cause }) => cause);
  if (current.length === 0) return new Set();
  if (lost === undefined) return causes;
  if (current.includes('no-answer')) return new Set(['no-answer']);
  return new Set([...[...causes].filter((cause) => cause !== 'no-answer'), ...current]);
}

/** The largest number of reasons in one event. */
const mostReasons = 3;

/** Returns why kinds cannot be followed: each reason once. */
function refusalsOf(troubles: readonly Trouble[]): string | undefined {
  const reasons = new Set(troubles.map(({ reason }) => reason));
  if (reasons.size === 0) return undefined;
  const shown = [...reasons].sort().slice(0, mostReasons);
  const others = reasons.size - shown.length;
  return [...shown, ...(others > 0 ? [`${others} more reasons`] : [])].join('; ');
}
