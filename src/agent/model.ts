import type { AdoptedEpoch, Launch } from './ports.ts';
import type { Exit } from './ports.ts';

/** One process on its way through life: it starts, serves, is drained by its successor, is told to end. */
export type Stage = 'starting' | 'live' | 'draining' | 'stopping';

/** An Envoy process that exists. */
export interface Epoch {
  readonly hash: string;
  /** What Envoy is told as `--restart-epoch`: its living parent's plus one, 0 without one. */
  readonly restartEpoch: number;
  /** The row of hot restarts that it belongs to, with a base id of its own. A rescue begins the next one. */
  readonly lineage: number;
  /** Its parent may be gone: it never had one, or that one's time is over. Before that, the end of the parent is its own, 10 s later. */
  readonly parentExpired: boolean;
  readonly stage: Stage;
  /** False from 2 s of silence of the admin endpoint on, until it answers again. */
  readonly answering: boolean;
  /** Absent until it is known to exist. */
  readonly pid?: number;
}

/**
 * The one epoch that is to come. It waits for its turn, then for the check of what is on disk; where no other Envoy may run beside it, also for
 * the end of the processes that it replaces.
 */
export interface Claim {
  readonly epoch: number;
  readonly hash: string;
  readonly stage: 'waiting' | 'checking' | 'replacing';
  /** It goes on even if its hash is the one that runs: a restart by hand, or a rescue. */
  readonly forced: boolean;
  /** No hot restart: it comes up without a parent, beside what runs. */
  readonly standalone: boolean;
}

/** Why the agent ends. */
export type Outcome =
  | { readonly kind: 'asked' }
  | { readonly kind: 'envoy'; readonly exit: Exit }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'address-taken'; readonly address: string };

export interface AgentState {
  readonly phase: 'running' | 'draining' | 'stopping' | 'stopped';
  /** The highest epoch number ever launched, −1 before the first. It only grows. */
  readonly lastEpoch: number;
  /** The line of the epoch that was launched last. */
  readonly lineage: number;
  /** The processes that exist, by epoch, oldest first. */
  readonly epochs: ReadonlyMap<number, Epoch>;
  readonly claim: Claim | undefined;
  /** Files that the first epoch waits for. */
  readonly awaited: readonly string[];
  /** The newest hash that was read. */
  readonly wanted: string | undefined;
  /** The newest reading, if it can not work. */
  readonly refused: { readonly hash: string; readonly reason: string } | undefined;
  /** Since the budget was last full. */
  readonly crashes: number;
  /** A child that had failed beside its parent has been tried again at once, which is done once until an Envoy runs stably. */
  readonly retried: boolean;
  /** An Envoy has been LIVE once. */
  readonly served: boolean;
  /** How the first Envoy ended, while it is found out whether its configuration is why. */
  readonly examined: Exit | undefined;
  /** Requests to terminate so far. */
  readonly terminations: number;
  readonly outcome: Outcome | undefined;
}

/** What has happened. */
export type AgentEvent =
  /** An agent that is gone has left these processes, the oldest first. */
  | { readonly type: 'epochs-adopted'; readonly epochs: readonly AdoptedEpoch[] }
  /** The first epoch waits for these files, or, with none, no longer. */
  | { readonly type: 'files-awaited'; readonly missing: readonly string[] }
  /** The files that Envoy is started from say something else than before. */
  | { readonly type: 'config-changed'; readonly hash: string }
  /** A new epoch is wanted by hand, whatever the files say. */
  | { readonly type: 'restart-requested'; readonly hash: string }
  | { readonly type: 'terminate-requested'; readonly by: string }
  /** The agent alone is to end. */
  | { readonly type: 'leave-requested'; readonly by: string }
  /** New clients are to go elsewhere; the agent goes on. */
  | { readonly type: 'drain-requested' }
  /** Log files have been moved away. */
  | { readonly type: 'reopen-requested' }
  /** The epoch before is LIVE, or gone, or had its 20 s. */
  | { readonly type: 'turn-granted'; readonly epoch: number; readonly parent: 'live' | 'gone' | 'stuck' }
  /** `apart`: not by a hot restart. `crowded`: not beside another Envoy, and why. */
  | { readonly type: 'config-accepted'; readonly hash: string; readonly standalone?: true; readonly noRoom?: string }
  | { readonly type: 'config-refused'; readonly hash: string; readonly reason: string }
  | { readonly type: 'epoch-spawned'; readonly epoch: number; readonly pid: number }
  | { readonly type: 'epoch-live'; readonly epoch: number }
  | { readonly type: 'epoch-unresponsive'; readonly epoch: number }
  | { readonly type: 'epoch-answered'; readonly epoch: number }
  | { readonly type: 'epoch-hung'; readonly epoch: number }
  | { readonly type: 'epoch-stable'; readonly epoch: number }
  /** The time of its parent is over. */
  | { readonly type: 'parent-expired'; readonly epoch: number }
  /** It has said goodbye to its clients, as far as it could: `silent` means not at all. */
  | { readonly type: 'epoch-handed-off'; readonly epoch: number; readonly unresponsive: boolean }
  | { readonly type: 'epoch-exited'; readonly epoch: number; readonly exit: Exit }
  | { readonly type: 'retry-due' }
  | { readonly type: 'drained'; readonly active: number | undefined };

/** What is to be done. An effect carries all that it needs. */
export type Effect =
  /** `older` are the epochs before the parent that still drain: a start would cut them. `others`, of another line, have the admin endpoint. */
  | {
      readonly type: 'await-turn';
      readonly epoch: number;
      readonly parent: AwaitedParent | undefined;
      readonly older: readonly number[];
      readonly others: readonly number[];
    }
  | { readonly type: 'withdraw-turn'; readonly epoch: number }
  | { readonly type: 'check'; readonly hash: string }
  | ({ readonly type: 'launch' } & Launch)
  /** Watch this epoch's admin endpoint, and no other's. */
  | { readonly type: 'follow'; readonly epoch: number }
  | { readonly type: 'await-stable'; readonly epoch: number }
  | { readonly type: 'await-parent-expiry'; readonly epoch: number }
  /** Send this epoch's clients, and its parent's, elsewhere. */
  | { readonly type: 'hand-off'; readonly epoch: number }
  | { readonly type: 'retry'; readonly delay: number }
  | { readonly type: 'cancel-retry' }
  | { readonly type: 'ask-drain'; readonly epoch: number }
  /** `epochs` are counted, the newest of each line; `parents` still drain beside them, and are in their gauges. */
  | { readonly type: 'await-drained'; readonly epochs: readonly number[]; readonly parents: readonly number[] }
  /** Open log files anew. */
  | { readonly type: 'reopen'; readonly epoch: number }
  /** `told`: its child has ended in order, and has asked it to end likewise. */
  | { readonly type: 'stop'; readonly epoch: number; readonly toldByChild: boolean }
  | { readonly type: 'kill'; readonly epoch: number };

export interface AwaitedParent {
  readonly epoch: number;
  /** What has to be heard of it first: that it is LIVE, or that it answers again; nothing where it serves, or has handed over. */
  readonly awaits: 'epoch-live' | 'epoch-answered' | undefined;
}

/** The agent before anything has happened. */
export const initialState: AgentState = {
  phase: 'running',
  lastEpoch: -1,
  lineage: 0,
  epochs: new Map(),
  claim: undefined,
  awaited: [],
  wanted: undefined,
  refused: undefined,
  crashes: 0,
  retried: false,
  served: false,
  examined: undefined,
  terminations: 0,
  outcome: undefined,
};
