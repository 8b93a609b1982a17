import type { Step } from '../operators/reduce-with-effects.ts';
import { backOff } from './back-off.ts';
import type { AgentEvent, AgentState, AwaitedParent, Claim, Effect, Epoch, Outcome } from './model.ts';
import { newestEpoch } from './lineage.ts';
import type { AdoptedEpoch, Exit } from './ports.ts';
import { unreachable } from '../operators/tagged-union.ts';

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
  const newest = newestEpoch(state, state.lineage);
  if (newest === undefined || newest.parentExpired || newest.stage === 'draining' || newest.stage === 'stopping') return false;
  return [...state.epochs.values()].every(
    ({ lineage, restartEpoch }) => lineage !== newest.lineage || restartEpoch !== newest.restartEpoch - 1,
  );
};

/** Claims the next epoch for the newest hash. A claim that exists takes that hash: one epoch at a time comes up, and the newest wins. */
const claim = (state: AgentState, forced = false): AgentStep => {
  const hash = state.wanted ?? '';
  if (state.claim !== undefined) {
    const claimed = { ...state.claim, hash, forced: forced || state.claim.forced };
    return [{ ...state, claim: claimed }, claimed.stage === 'checking' ? [{ type: 'check', hash }] : []];
  }
  if (isDoomed(state)) return andThen(claimStandalone(state), check);
  return andThen([{ ...state, examined: undefined }, [{ type: 'cancel-retry' }]], (next) =>
    takeTurn(next, { epoch: state.lastEpoch + 1, hash, stage: 'waiting', forced, standalone: false }),
  );
};

/** Of a parent that retires nothing is to be expected: its child is gone, and it serves no one. */
const awaits = ({ stage, answering }: Epoch): AwaitedParent['awaits'] => {
  if (stage === 'starting') return 'epoch-live';
  return stage === 'live' && !answering ? 'epoch-answered' : undefined;
};

const takeTurn = (state: AgentState, claimed: Claim): AgentStep => {
  const newest = newestEpoch(state, state.lineage);
  const parent = newest && { epoch: newest.number, awaits: awaits(newest) };
  const [own, others] = [true, false].map((isOwn) => [...state.epochs].filter(([, { lineage }]) => (lineage === state.lineage) === isOwn).map(([number]) => number)); // prettier-ignore
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
 * Tells the Envoys of a lineage to end, the youngest first, whose end is the sign for the next: a child that loses its parent waits for it, and
 * can only be killed (Envoy 1.36.2).
 */
const stopLineage = (state: AgentState, lineage: number, toldByChild = false): AgentStep => {
  const newest = newestEpoch(state, lineage);
  if (newest === undefined) return stay(state);
  const stopping = [...state.epochs].map(([number, epoch]): [number, Epoch] => [
    number,
    epoch.lineage === lineage ? { ...epoch, stage: 'stopping' } : epoch,
  ]);
  const epochs = new Map(stopping);
  return [{ ...state, epochs }, [{ type: 'stop', epoch: newest.number, toldByChild }]];
};

/** Ends the Envoys of a lineage that nobody can ask to end. */
const killLineage = (state: AgentState, lineage: number): AgentStep => {
  const numbers = [...state.epochs].flatMap(([number, epoch]) => (epoch.lineage === lineage ? [number] : []));
  const [next] = stopLineage(state, lineage);
  return [next, numbers.map((epoch) => ({ type: 'kill', epoch }))];
};

const lineagesOf = ({ epochs }: AgentState): readonly number[] => [...new Set([...epochs.values()].map(({ lineage }) => lineage))];

const stopEach = (state: AgentState): AgentStep =>
  lineagesOf(state).reduce<AgentStep>((step, lineage) => andThen(step, (next) => stopLineage(next, lineage)), stay(state));

const stopOthers = (state: AgentState): AgentStep =>
  lineagesOf(state).reduce<AgentStep>(
    (step, lineage) => (lineage === state.lineage ? step : andThen(step, (next) => stopLineage(next, lineage))),
    stay(state),
  );

/**
 * A hot restart where the newest Envoy of the lineage can be a parent. Otherwise an Envoy of its own: beside those there are, as a new lineage, of which
 * there are two at most.
 */
const launch = (before: AgentState): AgentStep => {
  const [state, stops] = before.claim?.standalone === true ? stopOthers(before) : stay(before);
  if (state.claim === undefined) return stay(state);
  const { epoch, hash, standalone } = state.claim;
  const newest = newestEpoch(state, state.lineage);
  const parent = standalone ? undefined : newest;
  const lineage = standalone && newest !== undefined ? state.lineage + 1 : state.lineage;
  const restartEpoch = parent === undefined ? 0 : parent.restartEpoch + 1;
  const sideBySide = [...state.epochs.values()].some((other) => other.lineage !== lineage);
  const started: Epoch = { hash, restartEpoch, lineage, parentExpired: parent === undefined, stage: 'starting', answering: true };
  const epochs = new Map(state.epochs).set(epoch, started);
  return [
    { ...state, epochs, lastEpoch: epoch, lineage, claim: undefined, refused: undefined },
    [
      ...stops,
      { type: 'launch', epoch, hash, restartEpoch, lineage, sideBySide },
      { type: 'follow', epoch },
      ...(parent === undefined ? [] : [{ type: 'await-parent-expiry', epoch } as const]),
    ],
  ];
};

/**
 * Goes on with what an earlier agent has left. Of the newest it is not known whether it is LIVE yet, of none what it was started from: the first
 * reading makes its child. Nor whether the time of its parent is over, whose end is therefore not taken for its own.
 */
const adopt = (state: AgentState, kept: readonly AdoptedEpoch[]): AgentStep => {
  const newest = kept.at(-1);
  if (newest === undefined) return stay(state);
  const known = { hash: '', parentExpired: true, answering: true } as const;
  const stages = kept.map((_, index): Epoch['stage'] => (['starting', 'live'] as const)[kept.length - 1 - index] ?? 'draining');
  const epochs = new Map(
    kept.map(({ epoch, ...rest }, index): [number, Epoch] => [epoch, { ...rest, ...known, stage: stages[index] ?? 'draining' }]),
  );
  return [
    { ...state, epochs, lastEpoch: newest.epoch, lineage: newest.lineage, served: true },
    [
      ...kept.map(({ epoch, restartEpoch, lineage }): Effect => ({
        type: 'launch',
        epoch,
        hash: '',
        restartEpoch,
        lineage,
        sideBySide: false,
        adopted: true,
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
  lineagesOf(state).flatMap((lineage) => {
    const newest = newestEpoch(state, lineage);
    return lineage === state.lineage || newest === undefined || newest.stage === 'stopping'
      ? []
      : [{ type: 'hand-off', epoch: newest.number }];
  }),
];

/** Makes way for an Envoy without a parent and without a neighbour. Its claim is launched when the last process is gone. What serves says goodbye first. */
const replace = (state: AgentState): AgentStep => {
  if (state.claim === undefined || state.epochs.size === 0) return launch(state);
  const next: AgentState = { ...state, claim: { ...state.claim, stage: 'replacing' } };
  const newest = newestEpoch(next);
  if (newest?.stage !== 'live' || !newest.answering) return stopEach(next);
  return [withEpoch(next, newest.number, { stage: 'draining' }), [{ type: 'hand-off', epoch: newest.number }]];
};

/** Claims an Envoy that is nobody's child, without waiting for anything. */
const claimStandalone = (state: AgentState): AgentStep =>
  andThen(withdraw(state), (next) => {
    const claimed: Claim = { epoch: next.lastEpoch + 1, hash: next.wanted ?? '', stage: 'checking', forced: true, standalone: true };
    return [{ ...next, claim: claimed, examined: undefined }, [{ type: 'cancel-retry' }]];
  });

/** Each lineage has listeners of its own. */
const askDrain = (state: AgentState): readonly Extract<Effect, { type: 'ask-drain' }>[] =>
  lineagesOf(state).flatMap((lineage) => {
    const newest = newestEpoch(state, lineage);
    return newest === undefined ? [] : [{ type: 'ask-drain', epoch: newest.number }];
  });

const terminate = (state: AgentState): AgentStep => {
  const terminations = state.terminations + 1;
  const next: AgentState = { ...state, terminations };
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
      return [next, terminations > 2 ? [...state.epochs.keys()].map((epoch) => ({ type: 'kill', epoch })) : []];
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
    const hopeless = gone.stage === 'starting' && (refused || parent.stage === 'draining');
    return hopeless ? andThen(claimStandalone(state), launch) : crash(state, exit);
  };

  /** An Envoy without a parent is gone that was to replace others side by side. They go on, unless nobody serves or nobody may be beside them. */
  const goneNeighbour = (state: AgentState, gone: Epoch, exit: Exit): AgentStep => {
    const serves = [...state.epochs.values()].some(({ stage, answering }) => stage === 'live' && answering);
    const inTheWay = gone.stage === 'starting' && (exit.kind === 'spawn-failed' || !serves);
    return inTheWay ? andThen(claimStandalone(state), replace) : crash(state, exit);
  };

  const exited = (before: AgentState, number: number, exit: Exit): AgentStep => {
    const gone = before.epochs.get(number);
    if (gone === undefined) return stay(before);
    const epochs = new Map(before.epochs);
    epochs.delete(number);
    const survivor = newestEpoch({ epochs });
    const kin = newestEpoch({ epochs }, gone.lineage);
    // A lineage that has never served leaves it to the one before.
    const lineage = gone.stage === 'starting' && kin === undefined && survivor !== undefined ? survivor.lineage : before.lineage;
    const state: AgentState = { ...before, epochs, lineage };
    const parent = kin !== undefined && kin.number < number ? kin : undefined;
    const child = kin !== undefined && kin.number > number ? kin : undefined;
    const told = exit.kind === 'clean';

    if (state.phase !== 'running') {
      const outcome = state.outcome ?? (state.terminations > 0 ? { kind: 'asked' } : { kind: 'envoy', exit });
      if (survivor === undefined) return stopAll(state, outcome);
      return gone.stage === 'stopping' && parent !== undefined ? stopLineage(state, gone.lineage, told) : stay(state);
    }
    if (state.claim?.stage === 'replacing' && survivor === undefined) return launch(state);
    if (state.claim?.stage === 'replacing' || gone.lineage !== before.lineage) {
      return parent === undefined ? stay(state) : stopLineage(state, gone.lineage, told);
    }
    if (child !== undefined) {
      return isDoomed(state) && state.claim?.standalone !== true ? andThen(claimStandalone(state), check) : stay(state);
    }
    if (survivor === undefined) {
      return state.claim !== undefined || gone.stage === 'draining' ? stay(state) : goneLast(state, gone, exit);
    }
    return andThen([state, [{ type: 'follow', epoch: survivor.number }]], (next) => {
      // Where it retires, its child went first and comes back: neither a crash nor a reason to end.
      if (next.claim !== undefined || gone.stage === 'draining') return stay(next);
      if (exit.kind === 'clean' && gone.stage === 'live') return stopAll(next, { kind: 'envoy', exit });
      return parent === undefined ? goneNeighbour(next, gone, exit) : goneChild(next, gone, parent, exit);
    });
  };

  return (state, event) => {
    switch (event.type) {
      case 'epochs-adopted':
        return adopt(state, event.epochs);
      case 'files-awaited':
        return stay({ ...state, awaited: event.missing });
      case 'config-changed': {
        const next: AgentState = { ...state, wanted: event.hash, awaited: [] };
        if (state.phase !== 'running') return stay(next);
        const refilled: AgentState = { ...next, crashes: 0, retried: false, refused: undefined };
        if (event.hash !== applied(state) || state.claim?.forced === true || isDoomed(state)) return claim(refilled);
        return andThen([refilled, [{ type: 'cancel-retry' }]], withdraw);
      }
      case 'restart-requested':
        return state.phase === 'running' ? claim({ ...state, wanted: event.hash }, true) : stay(state);
      case 'terminate-requested':
        return terminate(state);
      case 'leave-requested': {
        const goesOn = (state.phase === 'running' || state.phase === 'draining') && state.terminations === 0 && state.epochs.size > 0;
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
        return check({ ...state, claim: { ...state.claim, stage: 'checking', standalone: event.parent === 'stuck' } });
      }
      case 'config-accepted': {
        if (state.examined !== undefined) return crash({ ...state, examined: undefined }, state.examined);
        if (state.claim?.stage !== 'checking' || state.claim.hash !== event.hash) return stay(state);
        const claimed: Claim = { ...state.claim, standalone: state.claim.standalone || event.standalone === true };
        const next: AgentState = { ...state, claim: claimed };
        const parent = newestEpoch(state, state.lineage);
        if (event.noRoom !== undefined) return replace(next);
        if (claimed.standalone || parent === undefined || awaits(parent) === undefined) return launch(next);
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
      case 'epoch-unresponsive':
        return stay(withEpoch(state, event.epoch, { answering: false }));
      case 'epoch-answered':
        return stay(withEpoch(state, event.epoch, { answering: true }));
      case 'epoch-hung':
        return [state, state.epochs.has(event.epoch) ? [{ type: 'kill', epoch: event.epoch }] : []];
      case 'epoch-stable':
        return stay(newestEpoch(state)?.number === event.epoch ? { ...state, crashes: 0, retried: false } : state);
      case 'parent-expired':
        return stay(withEpoch(state, event.epoch, { parentExpired: true }));
      case 'epoch-handed-off': {
        const lineage = state.epochs.get(event.epoch)?.lineage;
        if (lineage === undefined || (lineage === state.lineage && state.claim?.stage !== 'replacing')) return stay(state);
        return event.unresponsive ? killLineage(state, lineage) : stopLineage(state, lineage);
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
  return isLive ? 'live' : 'draining';
};
