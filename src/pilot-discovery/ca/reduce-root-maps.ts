// Why: docs/decisions/106-each-instance-publishes-the-roots.md
import { backOff, jitter } from '../../operators/back-off.ts';
import type { Step } from '../../operators/reduce-with-effects.ts';
import { unreachable } from '../../operators/tagged-union.ts';
import type { FollowFailure } from '../../shared/kube/follow-state.ts';
import { SortedMap } from '../../shared/maps/sorted-map.ts';
import { isSelected, type LabelSelector } from '../istio/fields/label-selector.ts';
import type { RootBundle } from './root-bundle.ts';
import type { LiveNamespace, PublishedKind, RootMapsEvent } from './root-maps-event.ts';

/** The next thing to do. A `wait` replaces the previous one; an undefined `pause` only ends it. */
export type RootMapsEffect =
  | { readonly type: 'wait'; readonly pause: number | undefined }
  | { readonly type: 'write'; readonly namespace: string; readonly bundle: RootBundle };

/** News for an operator. */
export type RootMapsNews =
  /** All namespaces have the roots, after `written` ConfigMaps were written. */
  | {
      readonly type: 'roots-published';
      readonly digest: string;
      readonly namespaces: number;
      readonly written: number;
    }
  /** ConfigMaps cannot be read or written, because of `reason`. The program tries again. */
  | { readonly type: 'roots-unpublished'; readonly reason: string }
  /** Another program replaces the roots in this namespace each time that they are written. */
  | { readonly type: 'roots-contested'; readonly namespace: string };

/** A namespace that must have the roots. */
interface Duty {
  /** When the ConfigMap is written, in ms since 1970; undefined if it has the roots. */
  readonly dueAt: number | undefined;
  /** Whether the ConfigMap has had the roots since the last time that it lost them. */
  readonly had: 'nothing yet' | 'the roots';
  /** How often it lost them, and when it last did. */
  readonly losses: number;
  readonly lostAt: number;
  /** Consecutive writes that have failed, or had no effect. */
  readonly failures: number;
}

export interface RootMapsState {
  /** Each of these is undefined until it is known. */
  readonly bundle: RootBundle | undefined;
  readonly selectors: readonly LabelSelector[] | undefined;
  readonly namespaces: SortedMap<LiveNamespace> | undefined;
  readonly digests: SortedMap<string> | undefined;
  /** The kinds that cannot be followed now. */
  readonly unread: ReadonlySet<PublishedKind>;
  readonly duties: SortedMap<Duty>;
  /** The namespaces among them whose ConfigMap has to be written. */
  readonly pending: ReadonlySet<string>;
  /** The namespace whose ConfigMap is being written. */
  readonly writing: { readonly namespace: string; readonly since: 'unseen' | 'seen' } | undefined;
  /** Consecutive failures in all namespaces. Nothing is written before `resumeAt`. */
  readonly failures: number;
  readonly resumeAt: number;
  /** ConfigMaps that were written since all namespaces had the roots. */
  readonly written: number;
  /** The trouble that was reported: the causes, and when the roots were last contested. */
  readonly causes: ReadonlySet<FollowFailure>;
  readonly contestedAt: number | undefined;
  /** The news of the last event. */
  readonly news: readonly RootMapsNews[];
}

export const nothingPublished: RootMapsState = {
  bundle: undefined,
  selectors: undefined,
  namespaces: undefined,
  digests: undefined,
  unread: new Set(),
  duties: SortedMap.empty(),
  pending: new Set(),
  writing: undefined,
  failures: 0,
  resumeAt: 0,
  written: 0,
  causes: new Set(),
  contestedAt: undefined,
  news: [],
};

/** As in istiod, which publishes in kube-system too. */
const ignored: ReadonlySet<string> = new Set([
  'kube-public',
  'kube-node-lease',
  'local-path-storage',
]);

/** In ms. */
const pauses = {
  /** From a lost bundle to its repair. */
  repair: { first: 200, longest: 800 },
  /** The same, if another program replaces it again and again. */
  contested: { first: 30_000, longest: 300_000 },
  /** After a failure: for its namespace, and for all of them. */
  failed: { first: 1_000, longest: 300_000 },
  all: { first: 1_000, longest: 30_000 },
  /** From a write to the check whether the watch has reported it. */
  unseen: 10_000,
  /** Between two writes. */
  apart: 10,
  /** Losses that are further apart do not count together. */
  calm: 900_000,
} as const;
const spread = 0.5;
/** Losses beyond this number are a contest. */
const tolerated = 3;
/** A single failure is not news: a namespace may have been removed at that moment. */
const newsworthy = 2;

type Next = Step<RootMapsState, RootMapsEffect>;

/**
 * Decides which ConfigMaps `istio-ca-root-cert` are written, one after another: those of the
 * selected namespaces that do not have the roots. Nothing is written before the API has listed
 * namespaces and ConfigMaps. After a failure everything waits; if another program replaces the
 * roots, they are written more and more rarely. Pure.
 */
export function reduceRootMaps(before: RootMapsState, event: RootMapsEvent): Next {
  const state: RootMapsState = { ...before, news: [] };
  switch (event.type) {
    case 'bundle':
      return state.bundle?.digest === event.bundle.digest
        ? [state, []]
        : judgeAll(withBundle(state, event.bundle), event);
    case 'selectors':
      return judgeAll({ ...state, selectors: event.selectors }, event);
    case 'namespaces': {
      const namespaces = edited(state.namespaces, event.scope, event.namespaces);
      return judge({ ...state, namespaces }, touched(state.namespaces, event), event);
    }
    case 'maps': {
      const digests = edited(state.digests, event.scope, event.digests);
      const writing = state.writing && {
        ...state.writing,
        since: event.digests.has(state.writing.namespace) ? 'seen' : state.writing.since,
      };
      return judge({ ...state, digests, writing }, touched(state.digests, event), event);
    }
    case 'lost':
      return [withLoss(state, event), []];
    case 'followed': {
      const unread = new Set([...state.unread].filter((kind) => kind !== event.kind));
      return next({ ...state, unread }, event.now);
    }
    case 'written':
      return afterWriting(state, event);
    case 'due':
      return next(state, event.now);
    default:
      return unreachable(event);
  }
}

/** The ConfigMap that is being written still gets the previous roots. */
const withBundle = (state: RootMapsState, bundle: RootBundle): RootMapsState => ({
  ...state,
  bundle,
  duties: SortedMap.empty(),
  writing: state.writing && { ...state.writing, since: 'seen' },
});

/** If the API does not answer, that is not news here: the sources report it. */
function withLoss(
  before: RootMapsState,
  event: Extract<RootMapsEvent, { readonly type: 'lost' }>,
): RootMapsState {
  const state = { ...before, unread: new Set(before.unread).add(event.kind) };
  return event.cause === 'no-answer' ? state : withTrouble(state, event);
}

function edited<V>(
  before: SortedMap<V> | undefined,
  scope: 'all' | 'changed',
  entries: ReadonlyMap<string, V | undefined>,
): SortedMap<V> {
  return (scope === 'all' ? SortedMap.empty<V>() : (before ?? SortedMap.empty<V>())).with(entries);
}

/** Returns the names whose values an event may have changed. */
function touched(
  before: SortedMap<unknown> | undefined,
  event: Extract<RootMapsEvent, { readonly type: 'namespaces' | 'maps' }>,
): Iterable<string> {
  const entries = event.type === 'maps' ? event.digests : event.namespaces;
  return event.scope === 'changed'
    ? entries.keys()
    : new Set([...entries.keys(), ...(before?.keys() ?? [])]);
}

const judgeAll = (state: RootMapsState, event: RootMapsEvent): Next =>
  judge(state, state.namespaces?.keys() ?? [], event);

/** Returns whether a namespace must have the roots. */
function isWanted({ namespaces, selectors }: RootMapsState, name: string): boolean {
  const namespace = namespaces?.get(name);
  return (
    namespace !== undefined &&
    !ignored.has(name) &&
    (selectors?.length === 0 ||
      selectors?.some((selector) => isSelected(selector, namespace.labels)) === true)
  );
}

/** Decides again what these namespaces lack. Nothing is decided before everything is known. */
function judge(state: RootMapsState, names: Iterable<string>, event: RootMapsEvent): Next {
  const { bundle, selectors, namespaces, digests } = state;
  if (bundle === undefined || selectors === undefined) return [state, []];
  if (namespaces === undefined || digests === undefined) return [state, []];
  const all = state.duties.size === 0 ? namespaces.keys() : names;
  const pending = new Set(state.pending);
  const contested: string[] = [];
  const edits = [...all].map((name): readonly [string, Duty | undefined] => {
    const old = state.duties.get(name);
    const duty = isWanted(state, name)
      ? dutyAfter(old, hasBundle(bundle, digests.get(name)), event)
      : undefined;
    if (duty?.dueAt === undefined) pending.delete(name);
    else pending.add(name);
    if (duty !== undefined && duty.losses > tolerated && duty.losses > (old?.losses ?? 0))
      contested.push(name);
    return [name, duty];
  });
  const judged = { ...state, duties: state.duties.with(edits), pending };
  return next(withContest(judged, contested[0], event.now), event.now);
}

/** Whether a ConfigMap has the bundle; one that does not exist has no digest. */
const hasBundle = ({ digest, isFor }: RootBundle, existing: string | undefined): boolean =>
  existing === digest || (existing === undefined && isFor === 'namespaces that have one');

function dutyAfter(
  before: Duty | undefined,
  isEqual: boolean,
  { now, random }: RootMapsEvent,
): Duty {
  const duty = before ?? {
    ...{ dueAt: now, had: 'nothing yet' as const },
    ...{ losses: 0, lostAt: 0, failures: 0 },
  };
  if (isEqual) return { ...duty, dueAt: undefined, had: 'the roots', failures: 0 };
  if (duty.had === 'nothing yet') return duty;
  const losses = now - duty.lostAt > pauses.calm ? 1 : duty.losses + 1;
  const excess = losses - tolerated;
  const pause =
    excess > 0 ? backOff(pauses.contested, excess - 1) : backOff(pauses.repair, losses - 1);
  const dueAt = now + Math.round(jitter(pause, spread, random));
  return { ...duty, dueAt, had: 'nothing yet', losses, lostAt: now };
}

function withContest(state: RootMapsState, namespace: string | undefined, now: number) {
  if (namespace === undefined) return state;
  const isNew = state.contestedAt === undefined || now - state.contestedAt > pauses.calm;
  const news: readonly RootMapsNews[] = isNew ? [{ type: 'roots-contested', namespace }] : [];
  return { ...state, contestedAt: now, news: [...state.news, ...news] };
}

function withTrouble(
  state: RootMapsState,
  { cause, reason }: { readonly cause: FollowFailure; readonly reason: string },
): RootMapsState {
  const isUnneeded = state.bundle?.isFor === 'namespaces that have one';
  return isUnneeded || state.causes.has(cause)
    ? state
    : {
        ...state,
        causes: new Set(state.causes).add(cause),
        news: [...state.news, { type: 'roots-unpublished', reason }],
      };
}

function afterWriting(
  state: RootMapsState,
  event: Extract<RootMapsEvent, { readonly type: 'written' }>,
): Next {
  const { namespace, failure, now, random } = event;
  const duty = state.duties.get(namespace);
  const isSeen = state.writing?.since === 'seen';
  const rested = { ...state, writing: undefined, resumeAt: now + pauses.apart };
  const withDuty = (next: Duty | undefined) => state.duties.with([[namespace, next]]);
  if (failure === undefined) {
    const unseen =
      duty === undefined || isSeen || duty.dueAt === undefined
        ? duty
        : {
            ...duty,
            had: 'the roots' as const,
            dueAt: now + Math.min(pauses.unseen * 2 ** duty.failures, pauses.failed.longest),
            failures: duty.failures + 1,
          };
    const written = state.written + 1;
    return next({ ...rested, failures: 0, written, duties: withDuty(unseen) }, now);
  }
  const pauseFor = (limits: typeof pauses.failed | typeof pauses.all, failures: number) =>
    now + Math.round(Math.max(jitter(backOff(limits, failures), spread, random), failure.pause));
  const failures = (duty?.failures ?? 0) + 1;
  const failed = {
    ...rested,
    failures: state.failures + 1,
    resumeAt: pauseFor(pauses.all, state.failures),
    duties: withDuty(
      duty?.dueAt === undefined
        ? duty
        : { ...duty, failures, dueAt: pauseFor(pauses.failed, failures - 1) },
    ),
  };
  const cause = failure.status ?? 'no-answer';
  const isNews = Math.max(failures, failed.failures) >= newsworthy && cause !== 'no-answer';
  const { reason } = failure;
  return next(isNews ? withTrouble(failed, { cause, reason }) : failed, now);
}

/** Returns the next thing to do, and the news that everything is done. */
function next(before: RootMapsState, now: number): Next {
  const state = withSuccess(before, now);
  const { bundle, writing, pending, duties, resumeAt } = state;
  if (writing !== undefined || bundle === undefined) return [state, []];
  let first: readonly [string, number] | undefined;
  for (const namespace of pending) {
    const dueAt = duties.get(namespace)?.dueAt;
    if (dueAt !== undefined && (first === undefined || dueAt < first[1]))
      first = [namespace, dueAt];
  }
  if (first === undefined) return [state, [{ type: 'wait', pause: undefined }]];
  const [namespace, dueAt] = first;
  const pause = Math.max(dueAt, resumeAt) - now;
  return pause > 0
    ? [state, [{ type: 'wait', pause }]]
    : [
        { ...state, writing: { namespace, since: 'unseen' } },
        [{ type: 'write', namespace, bundle }],
      ];
}

function withSuccess(state: RootMapsState, now: number): RootMapsState {
  const { bundle, pending, duties, written, writing, contestedAt, causes } = state;
  const isContested = contestedAt !== undefined && now - contestedAt <= pauses.calm;
  const isBusy = pending.size > 0 || writing !== undefined || state.unread.size > 0;
  if (isBusy || bundle === undefined || isContested) return state;
  if (written === 0 && causes.size === 0) return state;
  const calm = { ...state, contestedAt: undefined, causes: new Set<FollowFailure>(), written: 0 };
  const { digest } = bundle;
  const news = { type: 'roots-published', digest, namespaces: duties.size, written } as const;
  return { ...calm, news: [...state.news, news] };
}
