import { emptyHistogram, type Histogram, observed } from '../operators/histogram.ts';
import type { AgentTransition } from './agent.ts';
import { crashPause } from './exits.ts';
import { type Cause, changedBy, withCauses } from './causes.ts';
import { type AgentState, claimOf, isStandalone } from './model.ts';
import type { Exit } from './ports.ts';
import type { Change } from '../streams/reading.ts';

/**
 * The measured times: from the launch of an epoch to LIVE; from the start of its drain to its end;
 * from its launch to its end.
 */
export type Spans = 'start' | 'drain' | 'life';

const limits: Readonly<Record<Spans, readonly number[]>> = {
  start: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
  drain: [1, 5, 10, 30, 60, 120, 300],
  life: [1, 10, 60, 600, 3_600, 21_600, 86_400, 604_800],
};

/** An empty histogram for each span. */
const spans: Readonly<Record<Spans, Histogram>> = {
  start: emptyHistogram(limits.start),
  drain: emptyHistogram(limits.drain),
  life: emptyHistogram(limits.life),
};

/** Adds the spans that ended, in ms. Pure. */
function withEnded(
  before: Readonly<Record<Spans, Histogram>>,
  ended: Readonly<Partial<Record<Spans, number>>>,
) {
  const add = (span: Spans): Histogram =>
    ended[span] === undefined ? before[span] : observed(before[span], ended[span]);
  return { start: add('start'), drain: add('drain'), life: add('life') };
}

/** Something that the timeline records, and when it happened: ms since 1970. */
export type Happening =
  | { readonly type: 'transition'; readonly at: number; readonly transition: AgentTransition }
  /** A source reported that something may have changed. */
  | { readonly type: 'change-seen'; readonly at: number }
  /** All sources were read, after a window or without one. */
  | { readonly type: 'window-closed'; readonly at: number }
  /**
   * Envoy serves the stored configuration, which was confirmed at `confirmedAt`. If that is
   * undefined, Envoy serves the configuration of the control plane.
   */
  | {
      readonly type: 'stored-served';
      readonly at: number;
      readonly confirmedAt: number | undefined;
    };

/**
 * The life of one Envoy process. All times are in ms since 1970, and absent until the event
 * happens.
 */
export interface EpochRecord {
  readonly epoch: number;
  readonly lineage: number;
  readonly hash: string;
  readonly why: 'first' | 'change' | 'by hand' | 'again' | 'rescue' | 'adopted';
  /** The changes since the epoch before, and who requested it; empty if neither is the reason. */
  readonly changed: readonly Change[];
  /** The time of the launch, or of the adoption. */
  readonly launchedAt: number;
  readonly spawnedAt?: number;
  readonly liveAt?: number;
  /**
   * When it was asked to drain: its child or neighbour was LIVE, or the agent was asked to drain or
   * end.
   */
  readonly toldToDrainAt?: number;
  readonly endedAt?: number;
  /** Absent until it is known to exist. */
  readonly pid?: number;
  readonly exit?: Exit;
  /** The agent had asked it to end, or it ended cleanly. */
  readonly isExpected?: boolean;
}

/** The part of the agent's history that is kept. */
export interface Timeline {
  /** The newest thousand epochs, oldest first. */
  readonly epochs: readonly EpochRecord[];
  readonly counters: Readonly<
    Record<
      'changes' | 'windows' | 'restarts' | 'refusals' | 'crashes' | 'rescues' | 'drains',
      number
    >
  >;
  readonly durations: Readonly<Record<Spans, Histogram>>;
  /** Each reason once, a hundred at most; an epoch with two changes counts for both. */
  readonly causes: readonly Cause[];
  /** The changes since the newest epoch was launched. */
  readonly changed: readonly Change[];
  /** Since when a reading is refused, in ms since 1970; undefined if none is. */
  readonly refusedAt: number | undefined;
  /**
   * When a crashed Envoy is started again, in ms since 1970. The real time differs by up to a fifth
   * of the pause.
   */
  readonly retryAt: number | undefined;
  /**
   * When Envoy served the stored configuration because the control plane did not answer: the newest
   * hundred times, oldest first. `confirmedAt`: when the configuration was last confirmed. In ms
   * since 1970.
   */
  readonly stored: readonly {
    readonly confirmedAt: number;
    readonly from: number;
    readonly to?: number;
  }[];
}

const kept = { epochs: 1_000, causes: 100, stored: 100 };

/** The empty timeline. */
export const noTimeline: Timeline = {
  epochs: [],
  counters: { changes: 0, windows: 0, restarts: 0, refusals: 0, crashes: 0, rescues: 0, drains: 0 },
  durations: spans,
  causes: [],
  changed: [],
  stored: [],
  refusedAt: undefined,
  retryAt: undefined,
};

/** Adds one happening to the timeline. Pure: the time comes with the happening. */
export function timeline(before: Timeline, happening: Happening): Timeline {
  switch (happening.type) {
    case 'change-seen':
      return counted(before, 'changes');
    case 'window-closed':
      return counted(before, 'windows');
    case 'stored-served':
      return { ...before, stored: storedServed(before.stored, happening) };
    case 'transition':
      return passed(before, happening.transition, happening.at);
  }
}

function storedServed(
  before: Timeline['stored'],
  { confirmedAt, at: time }: Extract<Happening, { type: 'stored-served' }>,
): Timeline['stored'] {
  const last = before.at(-1);
  const isUnderWay = last !== undefined && last.to === undefined;
  if (isUnderWay === (confirmedAt !== undefined)) return before;
  if (confirmedAt !== undefined)
    return [...before, { confirmedAt, from: time }].slice(-kept.stored);
  return last === undefined ? before : [...before.slice(0, -1), { ...last, to: time }];
}

function passed(before: Timeline, transition: AgentTransition, time: number): Timeline {
  const steps = [withReading, withDrains, withLife, withExit, withEpochs];
  return steps.reduce((next, step) => step(next, transition, time), before);
}

/** Records the changes since the last epoch, a refusal, and the time of the next attempt. */
function withReading(
  next: Timeline,
  { event, before, state }: AgentTransition,
  time: number,
): Timeline {
  const isNew = state.refused !== before.refused;
  const read: Timeline = {
    ...next,
    changed: changedBy(next.changed, next.epochs.at(-1)?.hash, event),
    refusedAt: state.refused === undefined ? undefined : isNew ? time : next.refusedAt,
    retryAt: !isRetrying(state)
      ? undefined
      : state.crashes > before.crashes
        ? time + crashPause(state.crashes)
        : next.retryAt,
  };
  return event.type === 'config-refused' && isNew ? counted(read, 'refusals') : read;
}

/** Records the epochs that were asked to drain. */
function withDrains(
  timelineBefore: Timeline,
  { before, state }: AgentTransition,
  time: number,
): Timeline {
  if (before.phase !== 'running') return timelineBefore;
  return [...before.epochs].reduce((next, [epoch, { stage }]) => {
    const drains = state.phase === 'draining' || state.epochs.get(epoch)?.stage === 'draining';
    return drains && stage !== 'draining'
      ? changed(counted(next, 'drains'), epoch, () => ({ toldToDrainAt: time }))
      : next;
  }, timelineBefore);
}

/** Records that a process exists, and that it is LIVE for the first time. */
function withLife(next: Timeline, { event, before }: AgentTransition, time: number): Timeline {
  if (event.type === 'epoch-spawned')
    return changed(next, event.epoch, () => ({ spawnedAt: time, pid: event.pid }));
  if (event.type !== 'epoch-live' || before.epochs.get(event.epoch)?.stage !== 'starting')
    return next;
  return changed(next, event.epoch, ({ launchedAt, why }) => [
    { liveAt: time },
    why === 'adopted' ? {} : { start: time - launchedAt },
  ]);
}

function withExit(next: Timeline, { event, before }: AgentTransition, time: number): Timeline {
  if (event.type !== 'epoch-exited') return next;
  const ended = before.epochs.get(event.epoch);
  if (ended === undefined) return next;
  const isExpected =
    before.phase !== 'running' ||
    ended.stage === 'stopping' ||
    ended.late === true ||
    event.exit.kind === 'clean';
  return changed(
    isExpected ? next : counted(next, 'crashes'),
    event.epoch,
    ({ launchedAt, toldToDrainAt, why }) => [
      { endedAt: time, exit: event.exit, isExpected },
      {
        ...(why !== 'adopted' && { life: time - launchedAt }),
        ...(toldToDrainAt !== undefined && { drain: time - toldToDrainAt }),
      },
    ],
  );
}

/** Adds the epochs that were adopted or launched. */
function withEpochs(
  next: Timeline,
  { event, before, state }: AgentTransition,
  time: number,
): Timeline {
  if (event.type === 'epochs-adopted') {
    const adopted = event.epochs.map(({ epoch, lineage, pid }): EpochRecord => ({
      epoch,
      lineage,
      pid,
      hash: '',
      why: 'adopted',
      changed: [],
      launchedAt: time,
    }));
    return { ...next, epochs: [...next.epochs, ...adopted] };
  }
  return state.lastEpoch > before.lastEpoch ? launched(next, before, state, time) : next;
}

function isRetrying(state: AgentState): boolean {
  return state.phase === 'running' && state.retrying;
}

function launched(next: Timeline, before: AgentState, state: AgentState, time: number): Timeline {
  const started = state.epochs.get(state.lastEpoch);
  if (started === undefined) return next;
  const { lineage, hash } = started;
  const reason = why(next, before, state);
  const changed = reason === 'first' || reason === 'again' ? [] : next.changed;
  const record: EpochRecord = {
    epoch: state.lastEpoch,
    lineage,
    hash,
    why: reason,
    changed,
    launchedAt: time,
  };
  const epochs = [...next.epochs, record].slice(-kept.epochs);
  const restarted = reason === 'first' ? next : counted(next, 'restarts');
  const causes = withCauses(next.causes, reason, changed, kept.causes);
  return {
    ...(reason === 'rescue' ? counted(restarted, 'rescues') : restarted),
    epochs,
    causes,
    changed: [],
  };
}

function why({ epochs }: Timeline, before: AgentState, state: AgentState): EpochRecord['why'] {
  if (before.lastEpoch < 0) return 'first';
  if (state.lineage > before.lineage) return 'rescue';
  const claimed = claimOf(before);
  if (claimed?.forced === true && !isStandalone(claimed)) return 'by hand';
  return epochs.at(-1)?.hash === state.epochs.get(state.lastEpoch)?.hash ? 'again' : 'change';
}

function counted(timelineBefore: Timeline, counter: keyof Timeline['counters']): Timeline {
  return {
    ...timelineBefore,
    counters: { ...timelineBefore.counters, [counter]: timelineBefore.counters[counter] + 1 },
  };
}

type Update =
  Partial<EpochRecord> | readonly [Partial<EpochRecord>, Partial<Record<Spans, number>>];

/**
 * Changes the record of an epoch, and adds the spans that ended. If the record is no longer kept,
 * nothing changes.
 */
function changed(
  before: Timeline,
  epoch: number,
  change: (record: EpochRecord) => Update,
): Timeline {
  const current = before.epochs.find((record) => record.epoch === epoch);
  if (current === undefined) return before;
  const result = change(current);
  const [fields, ended] = Array.isArray(result)
    ? (result as Exclude<Update, Partial<EpochRecord>>)
    : [result as Partial<EpochRecord>, {}];
  const epochs = before.epochs.map((record) =>
    record === current ? { ...record, ...fields } : record,
  );
  return { ...before, epochs, durations: withEnded(before.durations, ended) };
}
