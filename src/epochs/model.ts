import type { Epoch } from './epoch.ts';
import type { Acceptance, EpochConfig, AdoptedEpoch, Exit, Launch, Refusal } from './ports.ts';
import type { Reading } from '../streams/reading.ts';

/** The claim of the next epoch. */
interface Claimed {
  readonly epoch: number;
  readonly reading: Reading<EpochConfig>;
  /**
   * The claim is kept even if the running Envoy has the same reading: for a restart by hand, or a
   * rescue.
   */
  readonly forced: boolean;
}

/**
 * A claim waits for its turn. Then it waits for the resources that its Envoy needs, if another one
 * serves meanwhile, and then for the check of its reading. If no other Envoy may run beside it, it
 * also waits for the end of the processes that it replaces. `standalone`: no hot restart; the epoch
 * comes up without a parent, side by side with the running ones.
 */
export type Claim =
  | (Claimed & { readonly stage: 'waiting' })
  | (Claimed & { readonly stage: 'fetching'; readonly standalone: boolean })
  | (Claimed & {
      readonly stage: 'checking';
      readonly standalone: boolean;
      /** The number of checks of this reading that came to no verdict. */
      readonly unchecked: number;
    })
  | (Claimed & { readonly stage: 'replacing'; readonly standalone: boolean });

/** Why the agent ends. */
export type Outcome =
  | { readonly kind: 'asked' }
  | { readonly kind: 'envoy'; readonly exit: Exit }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'address-taken' | 'address-denied'; readonly address: string };

/** The state that all phases have. */
interface CommonState {
  /** The highest epoch number launched so far, −1 before the first. It only grows. */
  readonly lastEpoch: number;
  /** The lineage of the epoch launched last. */
  readonly lineage: number;
  /** The existing processes by epoch, oldest first. */
  readonly epochs: ReadonlyMap<number, Epoch>;
  /** The files that the first epoch waits for. */
  readonly awaited: readonly string[];
  /** The resources that an Envoy would have to wait for, as text; '' if there are none. */
  readonly missing: string;
  /** The newest reading. */
  readonly wanted: Reading<EpochConfig> | undefined;
  /** The reading that was checked last, if it cannot work. */
  readonly refused: { readonly hash: string; readonly reason: string } | undefined;
  /** The number of crashes since the budget was last full. */
  readonly crashes: number;
  /**
   * A child that failed beside its parent was tried again at once. The agent does that once, until
   * an Envoy runs stably.
   */
  readonly retried: boolean;
  /** The number of consecutive late epochs since the last change. */
  readonly late: number;
  /** An Envoy was LIVE at least once. */
  readonly served: boolean;
  /** The number of requests to terminate so far. */
  readonly terminations: number;
}

/** The agent keeps an Envoy running. */
export interface Running extends CommonState {
  readonly phase: 'running';
  readonly claim: Claim | undefined;
  /** How the first Envoy ended, while a check finds out whether its configuration is the reason. */
  readonly examined: Exit | undefined;
  /** A pause after a crash or a refusal is under way. After it, the newest reading is claimed. */
  readonly retrying: boolean;
}

/** The agent sends clients elsewhere; the processes run on until nothing is in flight. */
export interface Draining extends CommonState {
  readonly phase: 'draining';
}

/** Every process was asked to end; after the last exit the agent is `stopped`. */
export interface Ending extends CommonState {
  readonly phase: 'stopping' | 'stopped';
  readonly outcome: Outcome;
}

export type AgentState = Running | Draining | Ending;

/** Returns the claim of the agent, which has one only in the phase `running`. */
export function claimOf(state: AgentState): Claim | undefined {
  return state.phase === 'running' ? state.claim : undefined;
}

/**
 * Whether a claim is for an epoch without a parent. Returns false while the claim waits for its
 * turn, because that is not decided yet.
 */
export function isStandalone(claim: Claim | undefined): boolean {
  return claim !== undefined && claim.stage !== 'waiting' && claim.standalone;
}

/** The state of the agent at its start. */
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

/** An event that the agent reacts to. */
export type AgentEvent =
  /** An earlier agent left these processes, oldest first. */
  | { readonly type: 'epochs-adopted'; readonly epochs: readonly AdoptedEpoch[] }
  | ConfigEvent
  /** Someone requests a new epoch, even if the reading is the running one. */
  | {
      readonly type: 'restart-requested';
      readonly by: string;
      readonly reading: Reading<EpochConfig>;
    }
  | { readonly type: 'terminate-requested'; readonly by: string }
  /** Someone asks the agent to end without its proxy. */
  | { readonly type: 'leave-requested'; readonly by: string }
  /** Someone asks to send new clients elsewhere; the agent goes on. */
  | { readonly type: 'drain-requested' }
  /** The log files were moved away. */
  | { readonly type: 'reopen-requested' }
  /** The missing resources changed. `missing` is as in the state. */
  | { readonly type: 'resources-known'; readonly missing: string }
  /** The epoch before is LIVE, or gone, or has had its 20 s, or must be replaced. */
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
  /** The check came to no verdict. */
  | {
      readonly type: 'config-unchecked';
      readonly hash: string;
      readonly reason: string;
      readonly outOfMemory: boolean;
    }
  | { readonly type: 'epoch-spawned'; readonly epoch: number; readonly pid: number }
  | { readonly type: 'epoch-live'; readonly epoch: number }
  /** The epoch answers, but was not LIVE within 20 s. */
  | { readonly type: 'epoch-late'; readonly epoch: number }
  | { readonly type: 'epoch-unresponsive'; readonly epoch: number }
  | { readonly type: 'epoch-answered'; readonly epoch: number }
  | { readonly type: 'epoch-hung'; readonly epoch: number }
  | { readonly type: 'epoch-stable'; readonly epoch: number }
  /** This epoch is about to ask its parent to end. */
  | { readonly type: 'parent-expiring'; readonly epoch: number }
  /** This epoch has asked its parent to end. */
  | { readonly type: 'parent-expired'; readonly epoch: number }
  /**
   * The clients of the epoch were sent elsewhere as far as possible; if it was `unresponsive`, not
   * at all.
   */
  | { readonly type: 'epoch-handed-off'; readonly epoch: number; readonly unresponsive: boolean }
  | { readonly type: 'epoch-exited'; readonly epoch: number; readonly exit: Exit }
  | { readonly type: 'retry-due' }
  /** For a moment no Envoy has served or come up. */
  | { readonly type: 'rescue-due' }
  | { readonly type: 'drained'; readonly active: number | undefined };

/** The events that come from the sources. */
export type ConfigEvent =
  /** The first epoch waits for these files; if there are none, it no longer waits. */
  | { readonly type: 'files-awaited'; readonly missing: readonly string[] }
  /** The configuration has changed. */
  | { readonly type: 'config-changed'; readonly reading: Reading<EpochConfig> }
  /** The configuration is the same; the reading has the current facts. */
  | { readonly type: 'config-confirmed'; readonly reading: Reading<EpochConfig> };

/** An action of the agent. An effect has all the data that it needs. */
export type Effect =
  /**
   * Wait for the turn of an epoch. `older` are the epochs before the parent that still drain: a
   * start would cut them. `others`, of another lineage, have the admin endpoint.
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
  /** Watch the admin endpoint of this epoch, and of no other. `isChild`: it comes up as a child. */
  | { readonly type: 'follow'; readonly epoch: number; readonly isChild: boolean }
  /** Publish the admin endpoint of this epoch for other programs. */
  | { readonly type: 'publish-admin'; readonly epoch: number }
  | { readonly type: 'await-stable'; readonly epoch: number }
  | { readonly type: 'await-parent-expiry'; readonly epoch: number }
  /**
   * Send the clients of this epoch and of its parent to a neighbour that serves, or to a successor.
   */
  | { readonly type: 'hand-off'; readonly epoch: number; readonly to: 'neighbour' | 'successor' }
  | { readonly type: 'retry'; readonly delay: number }
  | { readonly type: 'cancel-retry' }
  | { readonly type: 'await-rescue' }
  | { readonly type: 'cancel-rescue' }
  | { readonly type: 'ask-drain'; readonly epoch: number }
  /**
   * Wait until nothing is in flight. `epochs`, the newest of each lineage, are counted. The gauges
   * of `epochs` include those of `parents`, which still drain.
   */
  | {
      readonly type: 'await-drained';
      readonly epochs: readonly number[];
      readonly parents: readonly number[];
    }
  /** Open the log files again. */
  | { readonly type: 'reopen'; readonly epoch: number }
  /** Ask an epoch to end. `child`: its child ended cleanly, and has asked it to end already. */
  | { readonly type: 'stop'; readonly epoch: number; readonly requester: 'agent' | 'child' }
  | { readonly type: 'kill'; readonly epoch: number }
  /** Kill an epoch unless it is LIVE by now. */
  | { readonly type: 'kill-unless-live'; readonly epoch: number };

export interface AwaitedParent {
  readonly epoch: number;
  /**
   * The event that the turn waits for: the parent is LIVE, answers again, or answers a question.
   * Undefined if it has handed over.
   */
  readonly awaits: 'epoch-live' | 'epoch-answered' | 'answer' | undefined;
  /**
   * The parent lost a child, so the turn asks it first. If it does not answer, it has handed over
   * to a child that is gone, and the turn waits for nothing.
   */
  readonly lostChild: boolean;
  /**
   * The parent comes up alone. If it waits for its configuration it is replaced after a short wait.
   */
  readonly replaceable: boolean;
}
