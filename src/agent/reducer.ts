import type { Step } from '../operators/reduce-with-effects.ts';
import { backOff } from './back-off.ts';
import type { AgentEvent, AgentState, AwaitedParent, Claim, Effect, Epoch, Exit, Outcome } from './model.ts';
import { newestEpoch } from './newest-epoch.ts';
import { unreachable } from './unreachable.ts';

/** What a crash leads to. */
export interface RestartPolicy {
  /** `exit` ends the agent with the last Envoy, as the Go agent of 1.4–1.6 did, but with the true code. */
  readonly onCrash: 'backoff' | 'exit';
  /** Restarts after a crash before the agent gives up; 0 = no limit. */
  readonly budget: number;
}

/** Where no Envoy runs and what is on disk is refused, it is looked at again after so many ms: the refusal may not have been its fault. */
const recheck = 30_000;

type AgentStep = Step<AgentState, Effect>;

const stay = (state: AgentState): AgentStep => [state, []];

const withEpoch = (state: AgentState, number: number, change: Partial<Epoch>): AgentState => {
  const epoch = state.epochs.get(number);
  return epoch === undefined ? state : { ...state, epochs: new Map(state.epochs).set(number, { ...epoch, ...change }) };
};

const andThen = ([state, effects]: AgentStep, next: (state: AgentState) => AgentStep): AgentStep => {
  const [last, more] = next(state);
  return [last, [...effects, ...more]];
};

/** What the Envoy that serves, or is about to, was started from. */
const applied = (state: AgentState): string | undefined => {
  const newest = newestEpoch(state);
  return newest?.stage === 'starting' || newest?.stage === 'live' ? newest.hash : undefined;
};

/** Claims the next epoch for the newest hash. A claim that exists takes that hash: one epoch at a time comes up, and the newest wins. */
const claim = (state: AgentState, byHand = false): AgentStep => {
  const hash = state.wanted ?? '';
  if (state.claim !== undefined) {
    const claimed = { ...state.claim, hash, byHand: byHand || state.claim.byHand };
    return [{ ...state, claim: claimed }, claimed.stage === 'checking' ? [{ type: 'check', hash }] : []];
  }
  return andThen([{ ...state, examined: undefined }, [{ type: 'cancel-retry' }]], (next) =>
    takeTurn(next, { epoch: state.lastEpoch + 1, hash, stage: 'waiting', byHand, parentStuck: false }),
  );
};

/** Of a parent that retires nothing is to be expected: its child is gone, and it serves no one. */
const awaits = ({ stage, answering }: Epoch): AwaitedParent['awaits'] => {
  if (stage === 'starting') return 'epoch-live';
  return stage === 'live' && !answering ? 'epoch-answered' : undefined;
};

const takeTurn = (state: AgentState, claimed: Claim): AgentStep => {
  const newest = newestEpoch(state);
  const parent = newest && { epoch: newest.number, awaits: awaits(newest) };
  const older = [...state.epochs.keys()].filter((number) => number !== newest?.number);
  return [{ ...state, claim: { ...claimed, stage: 'waiting' } }, [{ type: 'await-turn', epoch: claimed.epoch, parent, older }]];
};

const withdraw = (state: AgentState): AgentStep =>
  state.claim === undefined ? stay(state) : [{ ...state, claim: undefined }, [{ type: 'withdraw-turn', epoch: state.claim.epoch }]];

const launch = (state: AgentState): AgentStep => {
  if (state.claim === undefined) return stay(state);
  const { epoch, hash } = state.claim;
  const parent = newestEpoch(state);
  const restartEpoch = parent === undefined ? 0 : parent.restartEpoch + 1;
  const epochs = new Map(state.epochs).set(epoch, { hash, restartEpoch, stage: 'starting', answering: true });
  return [
    { ...state, epochs, lastEpoch: epoch, claim: undefined, refused: undefined },
    [
      { type: 'launch', epoch, hash, restartEpoch },
      { type: 'follow', epoch },
    ],
  ];
};

const stopEach = (state: AgentState): AgentStep => [
  { ...state, epochs: new Map([...state.epochs].map(([number, epoch]) => [number, { ...epoch, stage: 'stopping' }])) },
  [...state.epochs.keys()].map((epoch) => ({ type: 'stop', epoch })),
];

/** Tells every process to end; the last one's exit ends the agent. */
const stopAll = (state: AgentState, outcome: Outcome): AgentStep => {
  const phase = state.epochs.size === 0 ? 'stopped' : 'stopping';
  return andThen(andThen([{ ...state, phase, outcome }, [{ type: 'cancel-retry' }]], stopEach), withdraw);
};

/** Makes way for an Envoy without a parent. Its claim is launched when the last process is gone. */
const replace = (state: AgentState): AgentStep =>
  state.claim === undefined || state.epochs.size === 0
    ? launch(state)
    : stopEach({ ...state, claim: { ...state.claim, stage: 'replacing' } });

const terminate = (state: AgentState): AgentStep => {
  const asked = state.asked + 1;
  const next: AgentState = { ...state, asked };
  switch (state.phase) {
    case 'running': {
      if (state.epochs.size === 0) return stopAll(next, { kind: 'asked' });
      const parents = [...state.epochs.keys()].slice(0, -1);
      const drain: readonly Effect[] = [{ type: 'cancel-retry' }, { type: 'ask-drain' }, { type: 'await-drained', parents }];
      return andThen([{ ...next, phase: 'draining', examined: undefined }, drain], withdraw);
    }
    case 'draining':
      return stopAll(next, { kind: 'asked' });
    case 'stopping':
      return [next, asked > 2 ? [...state.epochs.keys()].map((epoch) => ({ type: 'kill', epoch })) : []];
    case 'stopped':
      return stay(next);
    default:
      return unreachable(state.phase);
  }
};

/** The pure core: what the agent makes of what has happened. No I/O, no clock, no log. */
export function reducer({ onCrash, budget }: RestartPolicy): (state: AgentState, event: AgentEvent) => AgentStep {
  /** Starts a crashed Envoy again after a while, or ends with it. While an older one serves there is no reason to end. */
  const crash = (state: AgentState, exit: Exit): AgentStep => {
    const spent = onCrash === 'exit' || (budget !== 0 && state.crashes >= budget);
    if (!spent) return [{ ...state, crashes: state.crashes + 1 }, [{ type: 'retry', delay: backOff(state.crashes) }]];
    return newestEpoch(state)?.stage === 'live' ? stay(state) : stopAll(state, { kind: 'envoy', exit });
  };

  const exited = (before: AgentState, number: number, exit: Exit): AgentStep => {
    const gone = before.epochs.get(number);
    if (gone === undefined) return stay(before);
    const wasNewest = newestEpoch(before)?.number === number;
    const epochs = new Map(before.epochs);
    epochs.delete(number);
    const state: AgentState = { ...before, epochs };
    const survivor = newestEpoch(state);

    if (state.phase !== 'running') {
      const outcome = state.outcome ?? (state.asked > 0 ? { kind: 'asked' } : { kind: 'envoy', exit });
      return survivor === undefined ? stopAll(state, outcome) : stay(state);
    }
    if (state.claim?.stage === 'replacing') return survivor === undefined ? launch(state) : stay(state);
    if (!wasNewest || state.claim !== undefined) {
      return wasNewest && survivor !== undefined ? [state, [{ type: 'follow', epoch: survivor.number }]] : stay(state);
    }
    // Its child went first and comes back: neither a crash nor a reason to end.
    if (gone.stage === 'retiring') return survivor === undefined ? stay(state) : [state, [{ type: 'follow', epoch: survivor.number }]];
    if (exit.kind === 'clean' && (survivor === undefined || gone.stage === 'live')) return stopAll(state, { kind: 'envoy', exit });
    if (survivor === undefined) {
      if (!state.served && exit.kind === 'spawn-failed') return stopAll(state, { kind: 'envoy', exit });
      if (state.served || exit.kind !== 'failed' || exit.code !== 1) return crash(state, exit);
      if (exit.addressTaken !== undefined) return stopAll(state, { kind: 'address-taken', address: exit.addressTaken });
      return [{ ...state, examined: exit }, [{ type: 'check', hash: gone.hash }]];
    }
    // Its parent refuses traffic, and a second try as the parent's child has failed as well.
    if (survivor.stage === 'retiring' && gone.stage === 'starting') return andThen(claim(state), replace);
    return andThen([state, [{ type: 'follow', epoch: survivor.number }]], (next) => crash(next, exit));
  };

  return (state, event) => {
    switch (event.type) {
      case 'files-awaited':
        return stay({ ...state, awaited: event.missing });
      case 'config-changed': {
        const next: AgentState = { ...state, wanted: event.hash, awaited: [] };
        if (state.phase !== 'running') return stay(next);
        const refilled: AgentState = { ...next, crashes: 0, refused: undefined };
        if (event.hash !== applied(state) || state.claim?.byHand === true) return claim(refilled);
        return andThen([refilled, [{ type: 'cancel-retry' }]], withdraw);
      }
      case 'restart-requested':
        return state.phase === 'running' ? claim({ ...state, wanted: event.hash }, true) : stay(state);
      case 'terminate-requested':
        return terminate(state);
      case 'drain-requested':
        if (state.phase !== 'running') return stay(state);
        return andThen([{ ...state, phase: 'draining', examined: undefined }, [{ type: 'cancel-retry' }, { type: 'ask-drain' }]], withdraw);
      case 'reopen-requested':
        return [state, [...state.epochs].filter(([, { stage }]) => stage !== 'starting').map(([epoch]) => ({ type: 'reopen', epoch }))]; // one that starts has no handler yet, and would die
      case 'turn-granted': {
        if (state.claim?.epoch !== event.epoch || state.claim.stage !== 'waiting') return stay(state);
        if (state.lastEpoch < 0) return launch(state); // nothing delays the first start
        const claimed: Claim = { ...state.claim, stage: 'checking', parentStuck: event.parent === 'stuck' };
        return [{ ...state, claim: claimed }, [{ type: 'check', hash: claimed.hash }]];
      }
      case 'config-accepted': {
        if (state.examined !== undefined) return crash({ ...state, examined: undefined }, state.examined);
        if (state.claim?.stage !== 'checking' || state.claim.hash !== event.hash) return stay(state);
        const parent = newestEpoch(state);
        if (parent === undefined || awaits(parent) === undefined) return launch(state);
        return state.claim.parentStuck ? replace(state) : takeTurn(state, state.claim); // it fell silent during the check
      }
      case 'config-refused': {
        const refused = { hash: event.hash, reason: event.reason };
        if (state.examined !== undefined)
          return stopAll({ ...state, examined: undefined, refused }, { kind: 'refused', reason: event.reason });
        if (state.claim?.stage !== 'checking' || state.claim.hash !== event.hash) return stay(state);
        const next: AgentState = { ...state, claim: undefined, refused };
        if (applied(state) !== undefined) return stay(next);
        return state.served ? [next, [{ type: 'retry', delay: recheck }]] : stopAll(next, { kind: 'refused', reason: event.reason });
      }
      case 'epoch-spawned':
        return stay(state);
      case 'epoch-live': {
        const epoch = state.epochs.get(event.epoch);
        if (epoch?.stage !== 'starting') return stay(state);
        const epochs = new Map(
          [...state.epochs].map(([number, { ...older }]) => [number, { ...older, stage: stageBeside(older, number === event.epoch) }]),
        );
        const next: AgentState = { ...state, epochs, served: true };
        return [next, state.phase === 'draining' ? [{ type: 'ask-drain' }] : [{ type: 'await-stable', epoch: event.epoch }]];
      }
      case 'epoch-silent':
        return stay(withEpoch(state, event.epoch, { answering: false }));
      case 'epoch-answered':
        return stay(withEpoch(state, event.epoch, { answering: true }));
      case 'epoch-hung':
        return [state, state.epochs.has(event.epoch) ? [{ type: 'kill', epoch: event.epoch }] : []];
      case 'epoch-stable':
        return stay(newestEpoch(state)?.number === event.epoch ? { ...state, crashes: 0 } : state);
      case 'epoch-exited':
        return exited(state, event.epoch, event.exit);
      case 'retry-due':
        return state.phase === 'running' ? claim(state) : stay(state);
      case 'drained':
        return state.phase === 'draining' ? stopAll(state, { kind: 'asked' }) : stay(state);
      default:
        return unreachable(event);
    }
  };
}

const stageBeside = ({ stage }: Epoch, isLive: boolean): Epoch['stage'] => {
  if (stage === 'stopping') return stage;
  return isLive ? 'live' : 'retiring';
};
