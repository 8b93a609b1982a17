import type { Epoch } from './epoch.ts';
import type { Acceptance, EpochConfig, AdoptedEpoch, Exit, Launch, Refusal } from './ports.ts';
import type { Reading } from '../streams/reading.ts';

/** The one epoch that is to come. */
interface Claimed {
  readonly epoch: number;
  readonly reading: Reading<EpochConfig>;
  /** It goes on even if its reading is the one that runs: a restart by hand, or a rescue. */
  readonly forced: boolean;
}

/**
 * A claim waits for its turn, then for the resources that its Envoy needs, if one serves meanwhile,
 * then for the check of its reading; where no other Envoy may run beside it, also for the end of
 * the processes that it replaces. `standalone`: no hot restart, it comes up without a parent, side
 * by side with what runs.
 */
export type Claim =
  | (Claimed & { readonly stage: 'waiting' })
  | (Claimed & { readonly stage: 'fetching'; readonly standalone: boolean })
  | (Claimed & {
      readonly stage: 'checking';
      readonly standalone: boolean;
      /** The checks of this reading that have come to no verdict. */
      readonly unchecked: number;
    })
  | (Claimed & { readonly stage: 'replacing'; readonly standalone: boolean });

/** Why the agent ends. */
export type Outcome =
  | { readonly kind: 'asked' }
  | { readonly kind: 'envoy'; readonly exit: Exit }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'address-taken' | 'address-denied'; readonly address: string };

/** What there is in each phase. */
interface Known {
  /** The highest epoch number ever launched, −1 before the first. It only grows. */
  readonly lastEpoch: number;
  /** The lineage of the epoch that was launched last. */
  readonly lineage: number;
  /** The processes that exist, by epoch, oldest first. */
  readonly epochs: ReadonlyMap<number, Epoch>;
  /** Files that the first epoch waits for. */
  readonly awaited: readonly string[];
  /** The resources that an Envoy would have to wait for, as text; '' where it would not. */
  readonly missing: string;
  /** The newest reading. */
  readonly wanted: Reading<EpochConfig> | undefined;
  /** The last reading that was checked, if it cannot work. */
  readonly refused: { readonly hash: string; readonly reason: string } | undefined;
  /** Since the budget was last full. */
  readonly crashes: number;
  /**
   * A child that failed beside its parent was tried again at once. That is done once until an Envoy
   * runs stably.
   */
  readonly retried: boolean;
  /** Epochs in a row that were late, since the last change. */
  readonly late: number;
  /** An Envoy has been LIVE once. */
  readonly served: boolean;
  /** Requests to terminate so far. */
  readonly terminations: number;
}

/** The agent keeps an Envoy running. */
export interface Running extends Known {
  readonly phase: 'running';
  readonly claim: Claim | undefined;
  /** How the first Envoy ended, while a check finds out whether its configuration is why. */
  readonly examined: Exit | undefined;
  /**
   * A pause is under way, after a crash or a refusal, and the newest reading is claimed after it.
   */
  readonly retrying: boolean;
}

/** Clients are sent elsewhere; what runs goes on until nothing is in flight. */
export interface Draining extends Known {
  readonly phase: 'draining';
}

/** Every process is told to end; after the last one the agent is `stopped`. */
export interface Ending extends Known {
  readonly phase: 'stopping' | 'stopped';
  readonly outcome: Outcome;
}

export type AgentState = Running | Draining | Ending;

/** The claim of the agent, which has one only while it runs. */
export function claimOf(state: AgentState): Claim | undefined {
  return state.phase === 'running' ? state.claim : undefined;
}

/** Whether a claim is for an epoch without a parent; one that waits for its turn is not yet. */
export function isStandalone(claim: Claim | undefined): boolean {
  return claim !== undefined && claim.stage !== 'waiting' && claim.standalone;
}

/** The agent before anything has happened. */
export const initialState: Running = {
  phase: 'running',
  lastEpoch: -1,
  lineage: 0,
  epochs: new Map(),
  claim: undefined,
  awaited: [],
  missing: '',
  wanted: undefined,
  refused: undefined,
  crashes: 0,
  retried: false,
  late: 0,
  served: false,
  examined: undefined,
  retrying: false,
  terminations: 0,
};

/** What has happened. */
export type AgentEvent =
  /** An agent that is gone has left these processes, the oldest first. */
  | { readonly type: 'epochs-adopted'; readonly epochs: readonly AdoptedEpoch[] }
  | ConfigEvent
  /** A new epoch is wanted by hand, whatever the reading says. */
  | {
      readonly type: 'restart-requested';
      readonly by: string;
      readonly reading: Reading<EpochConfig>;
    }
  | { readonly type: 'terminate-requested'; readonly by: string }
  /** The agent alone is to end. */
  | { readonly type: 'leave-requested'; readonly by: string }
  /** New clients are to go elsewhere; the agent goes on. */
  | { readonly type: 'drain-requested' }
  /** Log files have been moved away. */
  | { readonly type: 'reopen-requested' }
  /** `missing` is as in the state. */
  | { readonly type: 'resources-known'; readonly missing: string }
  /** The epoch before is LIVE, or gone, or has had its 20 s, or is one to be replaced. */
  | {
      readonly type: 'turn-granted';
      readonly epoch: number;
      readonly parent: 'live' | 'gone' | 'stuck' | 'waiting';
    }
  | {
      readonly type: 'config-accepted';
      readonly hash: string;
      readonly verdict: Acceptance;
    }
  | ({ readonly type: 'config-refused'; readonly hash: string } & Refusal)
  /** The check has come to no verdict. */
  | {
      readonly type: 'config-unchecked';
      readonly hash: string;
      readonly reason: string;
      readonly outOfMemory: boolean;
    }
  | { readonly type: 'epoch-spawned'; readonly epoch: number; readonly pid: number }
  | { readonly type: 'epoch-live'; readonly epoch: number }
  /** It answers, but has not been LIVE for 20 s. */
  | { readonly type: 'epoch-late'; readonly epoch: number }
  | { readonly type: 'epoch-unresponsive'; readonly epoch: number }
  | { readonly type: 'epoch-answered'; readonly epoch: number }
  | { readonly type: 'epoch-hung'; readonly epoch: number }
  | { readonly type: 'epoch-stable'; readonly epoch: number }
  /** This epoch is about to tell its parent to end. */
  | { readonly type: 'parent-expiring'; readonly epoch: number }
  /** This epoch has told its parent to end. */
  | { readonly type: 'parent-expired'; readonly epoch: number }
  /** Its clients have been sent elsewhere, as far as that went: `unresponsive` means not at all. */
  | { readonly type: 'epoch-handed-off'; readonly epoch: number; readonly unresponsive: boolean }
  | { readonly type: 'epoch-exited'; readonly epoch: number; readonly exit: Exit }
  | { readonly type: 'retry-due' }
  /** No Envoy has served or come up for a moment. */
  | { readonly type: 'rescue-due' }
  | { readonly type: 'drained'; readonly active: number | undefined };

/** What the sources tell the agent. */
export type ConfigEvent =
  /** The first epoch waits for these files, or, with none, no longer. */
  | { readonly type: 'files-awaited'; readonly missing: readonly string[] }
  /** The configuration is another one than before. */
  | { readonly type: 'config-changed'; readonly reading: Reading<EpochConfig> }
  /** It is the same, with the facts as they are now. */
  | { readonly type: 'config-confirmed'; readonly reading: Reading<EpochConfig> };

/** What is to be done. An effect carries all that it needs. */
export type Effect =
  /**
   * `older` are the epochs before the parent that still drain: a start would cut them. `others`, of
   * another lineage, have the admin endpoint.
   */
  | {
      readonly type: 'await-turn';
      readonly epoch: number;
      readonly parent: AwaitedParent | undefined;
      readonly older: readonly number[];
      readonly others: readonly number[];
    }
  | { readonly type: 'withdraw-turn'; readonly epoch: number }
  /** `delay` is in ms. */
  | { readonly type: 'check'; readonly reading: Reading<EpochConfig>; readonly delay: number }
  | { readonly type: 'launch'; readonly launch: Launch }
  /**
   * Watch this epoch's admin endpoint, and no other's. `isChild`: it comes up as the child of
   * another one.
   */
  | { readonly type: 'follow'; readonly epoch: number; readonly isChild: boolean }
  /** From now on this epoch's admin endpoint is the one that others find. */
  | { readonly type: 'publish-admin'; readonly epoch: number }
  | { readonly type: 'await-stable'; readonly epoch: number }
  | { readonly type: 'await-parent-expiry'; readonly epoch: number }
  /** Send the clients of this epoch and of its parent to one that serves, or comes after it. */
  | { readonly type: 'hand-off'; readonly epoch: number; readonly to: 'neighbour' | 'successor' }
  | { readonly type: 'retry'; readonly delay: number }
  | { readonly type: 'cancel-retry' }
  | { readonly type: 'await-rescue' }
  | { readonly type: 'cancel-rescue' }
  | { readonly type: 'ask-drain'; readonly epoch: number }
  /**
   * `epochs` are counted, the newest of each lineage; `parents` still drain beside them, and are in
   * their gauges.
   */
  | {
      readonly type: 'await-drained';
      readonly epochs: readonly number[];
      readonly parents: readonly number[];
    }
  /** Open log files anew. */
  | { readonly type: 'reopen'; readonly epoch: number }
  /** `toldByChild`: its child has ended in order, and has asked it to end likewise. */
  | { readonly type: 'stop'; readonly epoch: number; readonly toldByChild: boolean }
  | { readonly type: 'kill'; readonly epoch: number }
  /** The same, unless it is LIVE by now. */
  | { readonly type: 'kill-unless-live'; readonly epoch: number };

export interface AwaitedParent {
  readonly epoch: number;
  /**
   * What is waited for first: that it is LIVE, that it answers again, or an answer to a question;
   * nothing where it has handed over.
   */
  readonly awaits: 'epoch-live' | 'epoch-answered' | 'answer' | undefined;
  /**
   * It is asked first. If it does not answer it has handed over to a child that is gone, and
   * nothing is waited for.
   */
  readonly lostChild: boolean;
  /** It comes up alone: one that waits for its configuration is replaced, and needs no patience. */
  readonly replaceable: boolean;
}
