import type { Epoch } from '../../epochs/epoch.ts';
import { type AgentState, claimOf } from '../../epochs/model.ts';
import { exitWords } from '../../epochs/exit-cause.ts';
import type { Exit } from '../../epochs/ports.ts';
import type { Change } from '../../streams/reading.ts';
import type { EpochRecord, Timeline } from '../../epochs/timeline.ts';
import type { SecretPush } from './certificate-report.ts';

/** How an Envoy process ended. */
export interface ExitReport {
  readonly kind: 'clean' | 'failed' | 'signaled' | 'spawn-failed' | 'unknown';
  /** It was asked to end, or had drained. */
  readonly expected: boolean;
  readonly code?: number;
  readonly signal?: string;
  /** Why it could not be started. */
  readonly reason?: string;
  readonly outOfMemory?: boolean;
  /** Why it ended, in its own words, in one line; absent if it wrote nothing about that. */
  readonly cause?: string;
  /** The last lines that it wrote. */
  readonly lastWords: readonly string[];
}

/**
 * The life of one Envoy process, as in `/debug/epochs`. Times are ISO 8601 with ms, in UTC; names
 * that end in `Ms` are durations in ms.
 */
export interface EpochReport {
  readonly epoch: number;
  /** `live`: it serves. `ended`: the process is gone. */
  readonly state: 'starting' | 'live' | 'draining' | 'stopping' | 'ended';
  /** False: the admin endpoint has been silent for 2 s. Absent if the agent does not ask it. */
  readonly answering?: boolean;
  readonly pid?: number;
  /** The first characters of the sha256 of the inputs that it was started from. */
  readonly hash: string;
  readonly lineage: number;
  readonly why: 'first' | 'change' | 'by hand' | 'again' | 'rescue' | 'adopted';
  /** The changes since the previous epoch, and who asked for a restart. */
  readonly changed: readonly Change[];
  /** For an adopted epoch, the time of its adoption. */
  readonly launchedAt: string;
  readonly spawnedAt?: string;
  readonly liveAt?: string;
  readonly toldToDrainAt?: string;
  readonly endedAt?: string;
  /** From the launch to LIVE. */
  readonly startMs?: number;
  /** From the request to drain to its end. */
  readonly drainMs?: number;
  /** From the launch to its end. */
  readonly lifeMs?: number;
  readonly exit?: ExitReport;
}

/** The epochs that are kept, and the counts of all epochs. */
export interface EpochsReport {
  /** The newest thousand, oldest first. */
  readonly epochs: readonly EpochReport[];
  /** The next epoch, if one is on its way. */
  readonly next?: {
    readonly epoch: number;
    readonly stage: 'waiting' | 'fetching' | 'checking' | 'replacing';
    readonly hash: string;
    /** The resources that it waits for, if it does. */
    readonly missing?: string;
  };
  /** The refusal of the newest reading, if it is refused. */
  readonly refused?: { readonly hash: string; readonly reason: string };
  /** Counts since the start: changes, windows, restarts, refusals, crashes, rescues, drains. */
  readonly counters: Readonly<Record<string, number>>;
  /** The newest hundred pushes of secrets, oldest first. */
  readonly pushes: readonly SecretPush[];
  /**
   * The times in which Envoy served a stored configuration, because the control plane did not
   * answer.
   */
  readonly stored: readonly { readonly of: string; readonly from: string; readonly to?: string }[];
}

/** Returns a time for programs and persons: ISO 8601 with ms, in UTC. Pure. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** The record of an epoch, and its current process; undefined if that is gone. */
export interface EpochWithProcess {
  readonly record: EpochRecord;
  readonly process: Epoch | undefined;
}

/** Returns the epochs that are kept, oldest first. Pure. */
export function keptEpochs({ epochs }: AgentState, past: Timeline): readonly EpochWithProcess[] {
  return past.epochs.map((record) => ({ record, process: epochs.get(record.epoch) }));
}

/** Makes the report of one epoch. Pure. */
export function epochReport({ record, process }: EpochWithProcess): EpochReport {
  const {
    epoch,
    lineage,
    hash,
    why,
    changed,
    pid,
    launchedAt,
    spawnedAt,
    liveAt,
    toldToDrainAt,
    endedAt,
    exit,
    isExpected,
  } = record;
  return {
    epoch,
    state: endedAt === undefined && process !== undefined ? process.stage : 'ended',
    ...(process?.stage === 'live' && { answering: process.answering }),
    ...(pid !== undefined && { pid }),
    hash: hash.slice(0, 8),
    lineage,
    why,
    changed,
    launchedAt: isoTime(launchedAt),
    ...(spawnedAt !== undefined && { spawnedAt: isoTime(spawnedAt) }),
    ...(liveAt !== undefined && { liveAt: isoTime(liveAt) }),
    ...(toldToDrainAt !== undefined && { toldToDrainAt: isoTime(toldToDrainAt) }),
    ...(endedAt !== undefined && { endedAt: isoTime(endedAt) }),
    ...(liveAt !== undefined && why !== 'adopted' && { startMs: liveAt - launchedAt }),
    ...(toldToDrainAt !== undefined &&
      endedAt !== undefined && { drainMs: endedAt - toldToDrainAt }),
    ...(endedAt !== undefined && why !== 'adopted' && { lifeMs: endedAt - launchedAt }),
    ...(exit !== undefined && { exit: exitReport(exit, isExpected === true) }),
  };
}

function exitReport(exit: Exit, expected: boolean): ExitReport {
  const { kind } = exit;
  const cause = exitWords(exit);
  const words = {
    ...(cause !== undefined && { cause }),
    lastWords: 'tail' in exit ? exit.tail : [],
  };
  switch (kind) {
    case 'failed':
      return { kind, expected, code: exit.code, ...words };
    case 'signaled':
      return {
        kind,
        expected,
        signal: exit.signal,
        ...(exit.outOfMemory !== undefined && { outOfMemory: exit.outOfMemory }),
        ...words,
      };
    case 'spawn-failed':
      return { kind, expected, reason: exit.reason, ...words };
    default:
      return { kind, expected, ...words };
  }
}

/**
 * Makes the report of `/debug/epochs`. It shows only the hash of a reading, because a configuration
 * may hold secrets. Pure.
 */
export function epochsReport(
  agent: AgentState,
  past: Timeline,
  pushes: readonly SecretPush[],
): EpochsReport {
  const claim = claimOf(agent);
  const { refused, missing } = agent;
  return {
    epochs: keptEpochs(agent, past).map(epochReport),
    ...(claim !== undefined && {
      next: {
        epoch: claim.epoch,
        stage: claim.stage,
        hash: claim.reading.hash.slice(0, 8),
        ...(claim.stage === 'fetching' && { missing }),
      },
    }),
    ...(refused !== undefined && {
      refused: { hash: refused.hash.slice(0, 8), reason: refused.reason },
    }),
    counters: past.counters,
    pushes,
    stored: past.stored.map(({ confirmedAt: storedAt, from, to }) => ({
      of: isoTime(storedAt),
      from: isoTime(from),
      ...(to !== undefined && { to: isoTime(to) }),
    })),
  };
}
