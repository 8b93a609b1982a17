import type { Step } from '../operators/reduce-with-effects.ts';
import { backOff } from './back-off.ts';
import type { AgentEvent, AgentState, AwaitedParent, Claim, Effect, Epoch, Exit, Outcome } from './model.ts';
import { newestEpoch } from './newest-epoch.ts';
import type { KeptEpoch } from './ports.ts';
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

/** The parent of the Envoy that serves, or is about to, has gone before its time: some seconds are left to it, and it can be nobody's parent. */
const isDoomed = (state: AgentState): boolean => {
  const newest = newestEpoch(state, state.line);
  if (newest === undefined || newest.weaned || newest.stage === 'retiring' || newest.stage === 'stopping') return false;
  return [...state.epochs.values()].every(({ line, restartEpoch }) => line !== newest.line || restartEpoch !== newest.restartEpoch - 1);
};

/** Claims the next epoch for the newest hash. A claim that exists takes that hash: one epoch at a time comes up, and the newest wins. */
const claim = (state: AgentState, firm = false): AgentStep => {
  const hash = state.wanted ?? '';
  if (state.claim !== undefined) {
    const claimed = { ...state.claim, hash, firm: firm || state.claim.firm };
    return [{ ...state, claim: claimed }, claimed.stage === 'checking' ? [{ type: 'check', hash }] : []];
  }
  if (isDoomed(state)) return andThen(claimApart(state), check);
  return andThen([{ ...state, examined: undefined }, [{ type: 'cancel-retry' }]], (next) =>
    takeTurn(next, { epoch: state.lastEpoch + 1, hash, stage: 'waiting', firm, apart: false }),
  );
};

/** Of a parent that retires nothing is to be expected: its child is gone, and it serves no one. */
const awaits = ({ stage, answering }: Epoch): AwaitedParent['awaits'] => {
  if (stage === 'starting') return 'epoch-live';
  return stage === 'live' && !answering ? 'epoch-answered' : undefined;
};

const takeTurn = (state: AgentState, claimed: Claim): AgentStep => {
  const newest = newestEpoch(state, state.line);
  const parent = newest && { epoch: newest.number, awaits: awaits(newest) };
  const [own, others] = [true, false].map((isOwn) => [...state.epochs].filter(([, { line }]) => (line === state.line) === isOwn).map(([number]) => number)); // prettier-ignore
  const older = (own ?? []).filter((number) => number !== newest?.number);
  return [
    { ...state, claim: { ...claimed, stage: 'waiting' } },
    [{ type: 'await-turn', epoch: claimed.epoch, parent, older, others: others ?? [] }],
  ];
};

const check = (state: AgentState): AgentStep => [state, state.claim === undefined ? [] : [{ type: 'check', hash: state.claim.hash }]];

const withdraw = (state: AgentState): AgentStep =>
  state.claim === undefined ? stay(state) : [{ ...state, claim: undefined }, [{ type: 'withdraw-turn', epoch: state.claim.epoch }]];

/**
 * Tells the Envoys of a line to end, the youngest first, whose end is the sign for the next: a child that loses its parent waits for it, and
 * can only be killed (Envoy 1.36.2).
 */
const stopLine = (state: AgentState, line: number, told = false): AgentStep => {
  const newest = newestEpoch(state, line);
  if (newest === undefined) return stay(state);
  const stopping = [...state.epochs].map(([number, epoch]): [number, Epoch] => [
    number,
    epoch.line === line ? { ...epoch, stage: 'stopping' } : epoch,
  ]);
  const epochs = new Map(stopping);
  return [{ ...state, epochs }, [{ type: 'stop', epoch: newest.number, told }]];
};

/** Ends the Envoys of a line that nobody can ask to end. */
const killLine = (state: AgentState, line: number): AgentStep => {
  const numbers = [...state.epochs].flatMap(([number, epoch]) => (epoch.line === line ? [number] : []));
  const [next] = stopLine(state, line);
  return [next, numbers.map((epoch) => ({ type: 'kill', epoch }))];
};

const linesOf = ({ epochs }: AgentState): readonly number[] => [...new Set([...epochs.values()].map(({ line }) => line))];

const stopEach = (state: AgentState): AgentStep =>
  linesOf(state).reduce<AgentStep>((step, line) => andThen(step, (next) => stopLine(next, line)), stay(state));

const stopOthers = (state: AgentState): AgentStep =>
  linesOf(state).reduce<AgentStep>(
    (step, line) => (line === state.line ? step : andThen(step, (next) => stopLine(next, line))),
    stay(state),
  );

/**
 * A hot restart where the newest Envoy of the line can be a parent. Otherwise an Envoy of its own: beside those there are, as a new line, of which
 * there are two at most.
 */
const launch = (before: AgentState): AgentStep => {
  const [state, stops] = before.claim?.apart === true ? stopOthers(before) : stay(before);
  if (state.claim === undefined) return stay(state);
  const { epoch, hash, apart } = state.claim;
  const newest = newestEpoch(state, state.line);
  const parent = apart ? undefined : newest;
  const line = apart && newest !== undefined ? state.line + 1 : state.line;
  const restartEpoch = parent === undefined ? 0 : parent.restartEpoch + 1;
  const beside = [...state.epochs.values()].some((other) => other.line !== line);
  const started: Epoch = { hash, restartEpoch, line, weaned: parent === undefined, stage: 'starting', answering: true };
  const epochs = new Map(state.epochs).set(epoch, started);
  return [
    { ...state, epochs, lastEpoch: epoch, line, claim: undefined, refused: undefined },
    [
      ...stops,
      { type: 'launch', epoch, hash, restartEpoch, line, beside },
      { type: 'follow', epoch },
      ...(parent === undefined ? [] : [{ type: 'await-weaned', epoch } as const]),
    ],
  ];
};

/**
 * Goes on with what an earlier agent has left. Of the newest it is not known whether it is LIVE yet, of none what it was started from: the first
 * reading makes its child. Nor whether the time of its parent is over, whose end is therefore not taken for its own.
 */
const adopt = (state: AgentState, kept: readonly KeptEpoch[]): AgentStep => {
  const newest = kept.at(-1);
  if (newest === undefined) return stay(state);
  const known = { hash: '', weaned: true, answering: true } as const;
  const stages = kept.map((_, index): Epoch['stage'] => (['starting', 'live'] as const)[kept.length - 1 - index] ?? 'retiring');
  const epochs = new Map(
    kept.map(({ epoch, ...rest }, index): [number, Epoch] => [epoch, { ...rest, ...known, stage: stages[index] ?? 'retiring' }]),
  );
  return [
    { ...state, epochs, lastEpoch: newest.epoch, line: newest.line, served: true },
    [
      ...kept.map(({ epoch, restartEpoch, line }): Effect => ({
        type: 'launch',
        epoch,
        hash: '',
        restartEpoch,
        line,
        beside: false,
        kept: true,
      })),
      { type: 'follow', epoch: newest.epoch },
    ],
  ];
};

/** Tells every process to end; the last one's exit ends the agent. */
const stopAll = (state: AgentState, outcome: Outcome): AgentStep => {
  const phase = state.epochs.size === 0 ? 'stopped' : 'stopping';
  return andThen(andThen([{ ...state, phase, outcome }, [{ type: 'cancel-retry' }]], stopEach), withdraw);
};

/** Takes the clients away from all lines but the one that serves now. */
const retireOthers = (state: AgentState): AgentStep => [
  state,
  linesOf(state).flatMap((line) => {
    const newest = newestEpoch(state, line);
    return line === state.line || newest === undefined || newest.stage === 'stopping' ? [] : [{ type: 'retire', epoch: newest.number }];
  }),
];

/** Makes way for an Envoy without a parent and without a neighbour. Its claim is launched when the last process is gone. What serves says goodbye first. */
const replace = (state: AgentState): AgentStep => {
  if (state.claim === undefined || state.epochs.size === 0) return launch(state);
  const next: AgentState = { ...state, claim: { ...state.claim, stage: 'replacing' } };
  const newest = newestEpoch(next);
  if (newest?.stage !== 'live' || !newest.answering) return stopEach(next);
  return [withEpoch(next, newest.number, { stage: 'retiring' }), [{ type: 'retire', epoch: newest.number }]];
};

/** Claims an Envoy that is nobody's child, without waiting for anything. */
const claimApart = (state: AgentState): AgentStep =>
  andThen(withdraw(state), (next) => {
    const claimed: Claim = { epoch: next.lastEpoch + 1, hash: next.wanted ?? '', stage: 'checking', firm: true, apart: true };
    return [{ ...next, claim: claimed, examined: undefined }, [{ type: 'cancel-retry' }]];
  });

/** Each line has listeners of its own. */
const askDrain = (state: AgentState): readonly Extract<Effect, { type: 'ask-drain' }>[] =>
  linesOf(state).flatMap((line) => {
    const newest = newestEpoch(state, line);
    return newest === undefined ? [] : [{ type: 'ask-drain', epoch: newest.number }];
  });

const terminate = (state: AgentState): AgentStep => {
  const asked = state.asked + 1;
  const next: AgentState = { ...state, asked };
  switch (state.phase) {
    case 'running': {
      if (state.epochs.size === 0) return stopAll(next, { kind: 'asked' });
      const asking = askDrain(state);
      const epochs = asking.map(({ epoch }) => epoch);
      const parents = [...state.epochs.keys()].filter((number) => !epochs.includes(number));
      const drain: readonly Effect[] = [{ type: 'cancel-retry' }, ...asking, { type: 'await-drained', epochs, parents }];
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

  /** The last Envoy is gone, and nobody had asked for it. */
  const goneLast = (state: AgentState, { hash }: Epoch, exit: Exit): AgentStep => {
    if (exit.kind === 'clean' || (!state.served && exit.kind === 'spawn-failed')) return stopAll(state, { kind: 'envoy', exit });
    if (state.served || exit.kind !== 'failed' || exit.code !== 1) return crash(state, exit);
    if (exit.addressTaken !== undefined) return stopAll(state, { kind: 'address-taken', address: exit.addressTaken });
    return [{ ...state, examined: exit }, [{ type: 'check', hash }]];
  };

  /** A child is gone, its parent is there: the next child follows at once, but once only. What that one ends with tells how the parent is. */
  const goneChild = (state: AgentState, gone: Epoch, parent: Epoch, exit: Exit): AgentStep => {
    if (onCrash === 'exit') return crash(state, exit);
    if (!state.retried) return claim({ ...state, retried: true });
    const refused = exit.kind === 'failed' && exit.code === 1 && exit.addressTaken === undefined;
    const hopeless = gone.stage === 'starting' && (refused || parent.stage === 'retiring');
    return hopeless ? andThen(claimApart(state), launch) : crash(state, exit);
  };

  /** An Envoy without a parent is gone that was to replace others side by side. They go on, unless nobody serves or nobody may be beside them. */
  const goneNeighbour = (state: AgentState, gone: Epoch, exit: Exit): AgentStep => {
    const serves = [...state.epochs.values()].some(({ stage, answering }) => stage === 'live' && answering);
    const inTheWay = gone.stage === 'starting' && (exit.kind === 'spawn-failed' || !serves);
    return inTheWay ? andThen(claimApart(state), replace) : crash(state, exit);
  };

  const exited = (before: AgentState, number: number, exit: Exit): AgentStep => {
    const gone = before.epochs.get(number);
    if (gone === undefined) return stay(before);
    const epochs = new Map(before.epochs);
    epochs.delete(number);
    const survivor = newestEpoch({ epochs });
    const kin = newestEpoch({ epochs }, gone.line);
    // A line that has never served leaves it to the one before.
    const line = gone.stage === 'starting' && kin === undefined && survivor !== undefined ? survivor.line : before.line;
    const state: AgentState = { ...before, epochs, line };
    const parent = kin !== undefined && kin.number < number ? kin : undefined;
    const child = kin !== undefined && kin.number > number ? kin : undefined;
    const told = exit.kind === 'clean';

    if (state.phase !== 'running') {
      const outcome = state.outcome ?? (state.asked > 0 ? { kind: 'asked' } : { kind: 'envoy', exit });
      if (survivor === undefined) return stopAll(state, outcome);
      return gone.stage === 'stopping' && parent !== undefined ? stopLine(state, gone.line, told) : stay(state);
    }
    if (state.claim?.stage === 'replacing' && survivor === undefined) return launch(state);
    if (state.claim?.stage === 'replacing' || gone.line !== before.line) {
      return parent === undefined ? stay(state) : stopLine(state, gone.line, told);
    }
    if (child !== undefined) {
      return isDoomed(state) && state.claim?.apart !== true ? andThen(claimApart(state), check) : stay(state);
    }
    if (survivor === undefined) {
      return state.claim !== undefined || gone.stage === 'retiring' ? stay(state) : goneLast(state, gone, exit);
    }
    return andThen([state, [{ type: 'follow', epoch: survivor.number }]], (next) => {
      // Where it retires, its child went first and comes back: neither a crash nor a reason to end.
      if (next.claim !== undefined || gone.stage === 'retiring') return stay(next);
      if (exit.kind === 'clean' && gone.stage === 'live') return stopAll(next, { kind: 'envoy', exit });
      return parent === undefined ? goneNeighbour(next, gone, exit) : goneChild(next, gone, parent, exit);
    });
  };

  return (state, event) => {
    switch (event.type) {
      case 'epochs-kept':
        return adopt(state, event.epochs);
      case 'files-awaited':
        return stay({ ...state, awaited: event.missing });
      case 'config-changed': {
        const next: AgentState = { ...state, wanted: event.hash, awaited: [] };
        if (state.phase !== 'running') return stay(next);
        const refilled: AgentState = { ...next, crashes: 0, retried: false, refused: undefined };
        if (event.hash !== applied(state) || state.claim?.firm === true || isDoomed(state)) return claim(refilled);
        return andThen([refilled, [{ type: 'cancel-retry' }]], withdraw);
      }
      case 'restart-requested':
        return state.phase === 'running' ? claim({ ...state, wanted: event.hash }, true) : stay(state);
      case 'terminate-requested':
        return terminate(state);
      case 'leave-requested': {
        const goesOn = (state.phase === 'running' || state.phase === 'draining') && state.asked === 0 && state.epochs.size > 0;
        return goesOn ? stay({ ...state, phase: 'stopped', outcome: { kind: 'asked' } }) : terminate(state);
      }
      case 'drain-requested':
        if (state.phase !== 'running') return stay(state);
        return andThen([{ ...state, phase: 'draining', examined: undefined }, [{ type: 'cancel-retry' }, ...askDrain(state)]], withdraw);
      case 'reopen-requested':
        return [state, [...state.epochs].filter(([, { stage }]) => stage !== 'starting').map(([epoch]) => ({ type: 'reopen', epoch }))]; // one that starts has no handler yet, and would die
      case 'turn-granted': {
        if (state.claim?.epoch !== event.epoch || state.claim.stage !== 'waiting') return stay(state);
        if (state.lastEpoch < 0) return launch(state); // nothing delays the first start
        return check({ ...state, claim: { ...state.claim, stage: 'checking', apart: event.parent === 'stuck' } });
      }
      case 'config-accepted': {
        if (state.examined !== undefined) return crash({ ...state, examined: undefined }, state.examined);
        if (state.claim?.stage !== 'checking' || state.claim.hash !== event.hash) return stay(state);
        const claimed: Claim = { ...state.claim, apart: state.claim.apart || event.apart === true };
        const next: AgentState = { ...state, claim: claimed };
        const parent = newestEpoch(state, state.line);
        if (event.crowded !== undefined) return replace(next);
        if (claimed.apart || parent === undefined || awaits(parent) === undefined) return launch(next);
        return takeTurn(next, claimed); // it fell silent during the check
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
        return stay(withEpoch(state, event.epoch, { pid: event.pid }));
      case 'epoch-live': {
        const epoch = state.epochs.get(event.epoch);
        if (epoch?.stage !== 'starting') return stay(state);
        const epochs = new Map(
          [...state.epochs].map(([number, { ...older }]) => [number, { ...older, stage: stageBeside(older, number === event.epoch) }]),
        );
        const next: AgentState = { ...state, epochs, served: true };
        if (state.phase === 'draining') return [next, [{ type: 'ask-drain', epoch: event.epoch }]];
        return andThen([next, [{ type: 'await-stable', epoch: event.epoch }]], retireOthers);
      }
      case 'epoch-silent':
        return stay(withEpoch(state, event.epoch, { answering: false }));
      case 'epoch-answered':
        return stay(withEpoch(state, event.epoch, { answering: true }));
      case 'epoch-hung':
        return [state, state.epochs.has(event.epoch) ? [{ type: 'kill', epoch: event.epoch }] : []];
      case 'epoch-stable':
        return stay(newestEpoch(state)?.number === event.epoch ? { ...state, crashes: 0, retried: false } : state);
      case 'epoch-weaned':
        return stay(withEpoch(state, event.epoch, { weaned: true }));
      case 'epoch-retired': {
        const line = state.epochs.get(event.epoch)?.line;
        if (line === undefined || (line === state.line && state.claim?.stage !== 'replacing')) return stay(state);
        return event.silent ? killLine(state, line) : stopLine(state, line);
      }
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
