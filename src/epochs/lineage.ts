// Why: docs/decisions/001-an-epoch-has-two-numbers.md
import type { Epoch } from './epoch.ts';
import type { AgentState, Effect } from './model.ts';
import { type AgentStep, andThen, stay, withEpoch } from './step.ts';

type Processes = Pick<AgentState, 'epochs'>;

/**
 * Returns the youngest process: the one that serves, or is about to. With `lineage`, the youngest
 * of that lineage.
 */
export function newestEpoch(
  { epochs }: Processes,
  lineage?: number,
): (Epoch & { readonly number: number }) | undefined {
  const entry = [...epochs].findLast(
    ([, epoch]) => lineage === undefined || epoch.lineage === lineage,
  );
  return entry && { ...entry[1], number: entry[0] };
}

/**
 * Returns the hash of the reading that the newest Envoy was started from; undefined if that Envoy
 * is neither starting nor LIVE.
 */
export function appliedHash(state: Processes): string | undefined {
  const newest = newestEpoch(state);
  return newest?.stage === 'starting' || newest?.stage === 'live' ? newest.hash : undefined;
}

type Kin = Pick<Epoch, 'lineage' | 'restartEpoch'>;

/** Whether `parent` is the Envoy that `child` takes over from in a hot restart. */
export function isParentOf(parent: Kin, child: Kin): boolean {
  return parent.lineage === child.lineage && parent.restartEpoch === child.restartEpoch - 1;
}

function hasParent({ epochs }: Processes, child: Kin): boolean {
  return [...epochs.values()].some((epoch) => isParentOf(epoch, child));
}

/**
 * Returns the state with a new `parentTime` of an epoch. If the parent has already ended, it ended
 * too early, and nothing changes.
 */
export function withParentTime<State extends AgentState>(
  state: State,
  number: number,
  parentTime: Epoch['parentTime'],
): State {
  const epoch = state.epochs.get(number);
  return epoch !== undefined && hasParent(state, epoch)
    ? withEpoch(state, number, { parentTime })
    : state;
}

/**
 * Whether the newest Envoy of the current lineage starts or serves, and lost its parent too early.
 * Such an Envoy ends some seconds later, and can have no child.
 */
export function parentEndedEarly(state: AgentState): boolean {
  const newest = newestEpoch(state, state.lineage);
  if (
    newest === undefined ||
    newest.parentTime === 'over' ||
    newest.stage === 'draining' ||
    newest.stage === 'stopping'
  )
    return false;
  return !hasParent(state, newest);
}

/**
 * Whether an Envoy has served before, but now none serves, none comes up, and no start is pending.
 * False while the agent drains or ends. A start is pending after a crash or a refusal, until the
 * retry, and while a claim waits for the processes that it replaces to end. A child without its
 * parent does not come up: it waits for the parent in vain. A silent parent does not serve if it
 * may have handed over to a child that is gone.
 */
export function isUnserved(state: AgentState): boolean {
  if (state.phase !== 'running' || !state.served || state.wanted === undefined) return false;
  if (state.retrying || state.claim?.stage === 'replacing') return false;
  return ![...state.epochs.values()].some((epoch) => {
    const { stage, parentTime } = epoch;
    return (
      isServing(epoch) ||
      (stage === 'starting' && (parentTime === 'over' || hasParent(state, epoch)))
    );
  });
}

/**
 * Whether an Envoy serves, as far as the agent can know. A silent parent does not serve if it may
 * have handed over to a child that is gone.
 */
export function serves({ epochs }: Processes): boolean {
  return [...epochs.values()].some(isServing);
}

function isServing({ stage, answering, lostChild }: Epoch): boolean {
  return stage === 'live' && (answering || lostChild !== true);
}

/**
 * Returns the children that come up beside their parents. A SIGTERM to a child that waits for its
 * configuration would end its parent at once, without a drain (measured, Envoy 1.36.2): such a
 * child can only be killed.
 */
export function childrenComingUp(state: Processes): readonly number[] {
  return [...state.epochs].flatMap(([number, epoch]) => {
    const comesUp = epoch.stage === 'starting' || epoch.overtaken === true || epoch.killed === true;
    return comesUp && hasParent(state, epoch) ? [number] : [];
  });
}

/**
 * Whether the only Envoy is coming up, so that nothing is lost if it ends. An adopted Envoy does
 * not count, because it may have served.
 */
export function comesUpAlone({ epochs }: Processes): boolean {
  const newest = newestEpoch({ epochs });
  return epochs.size === 1 && newest?.stage === 'starting' && newest.hash !== '';
}

/**
 * Whether another Envoy serves and will go on serving. An Envoy that lost a child, or that lost its
 * parent too early, does not count.
 */
export function othersServe(state: Processes, number: number): boolean {
  return [...state.epochs].some(([other, epoch]) => {
    const goesOn = epoch.parentTime === 'over' || hasParent(state, epoch);
    return other !== number && goesOn && isServing(epoch) && epoch.lostChild !== true;
  });
}

function lineagesOf({ epochs }: Processes): readonly number[] {
  return [...new Set([...epochs.values()].map(({ lineage }) => lineage))];
}

/**
 * Asks the Envoys of a lineage to end, starting with the youngest; the end of each one triggers the
 * next. A child that loses its parent waits for it in vain, and can only be killed (Envoy 1.36.2).
 */
export function stopLineage<State extends AgentState>(
  state: State,
  lineage: number,
  requester: 'agent' | 'child',
): AgentStep<State> {
  const newest = newestEpoch(state, lineage);
  if (newest === undefined) return stay(state);
  const isKilled = childrenComingUp(state).includes(newest.number);
  const asStopping = (number: number, epoch: Epoch): Epoch => ({
    ...epoch,
    stage: 'stopping',
    ...(isKilled && number === newest.number && { killed: true }),
  });
  const stopping = [...state.epochs].map(([number, epoch]): [number, Epoch] => [
    number,
    epoch.lineage === lineage ? asStopping(number, epoch) : epoch,
  ]);
  const order: Effect = isKilled
    ? { type: 'kill', epoch: newest.number }
    : { type: 'stop', epoch: newest.number, requester };
  return [{ ...state, epochs: new Map(stopping) }, [order]];
}

/** Kills the Envoys of a lineage that cannot be asked to end, because it does not answer. */
export function killLineage<State extends AgentState>(
  state: State,
  lineage: number,
): AgentStep<State> {
  const numbers = [...state.epochs].flatMap(([number, epoch]) =>
    epoch.lineage === lineage ? [number] : [],
  );
  const [next] = stopLineage(state, lineage, 'agent');
  return [next, numbers.map((epoch) => ({ type: 'kill', epoch }))];
}

/** Asks the Envoys of all lineages to end, or of all except one. */
export function stopLineages<State extends AgentState>(
  state: State,
  except?: number,
): AgentStep<State> {
  return lineagesOf(state).reduce<AgentStep<State>>(
    (step, lineage) =>
      lineage === except ? step : andThen(step, (next) => stopLineage(next, lineage, 'agent')),
    stay(state),
  );
}

/** Sends the clients of all lineages elsewhere, except those of the lineage that serves now. */
export function handOffOthers<State extends AgentState>(state: State): AgentStep<State> {
  const newest = lineagesOf(state).flatMap((lineage) =>
    lineage === state.lineage ? [] : (newestEpoch(state, lineage) ?? []),
  );
  return [
    state,
    newest.flatMap(({ stage, number }) =>
      stage === 'stopping' ? [] : [{ type: 'hand-off', epoch: number, to: 'neighbour' }],
    ),
  ];
}

/**
 * Asks the newest Envoy of each lineage to drain, because each lineage has its own listeners. While
 * a child comes up, its parent has them.
 */
export function askDrain(state: Processes): readonly Extract<Effect, { type: 'ask-drain' }>[] {
  const children = childrenComingUp(state);
  const epochs = new Map([...state.epochs].filter(([number]) => !children.includes(number)));
  return lineagesOf(state).flatMap((lineage) => {
    const newest = newestEpoch({ epochs }, lineage);
    return newest === undefined ? [] : [{ type: 'ask-drain', epoch: newest.number }];
  });
}
