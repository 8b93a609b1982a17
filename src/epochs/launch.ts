// Why: docs/decisions/009-a-rescue-comes-up-side-by-side.md
import { handOffOthers, newestEpoch, stopLineages } from './lineage.ts';
import type { Epoch } from './epoch.ts';
import { type AgentState, type Effect, isStandalone, type Running } from './model.ts';
import { type AgentStep, andThen, stay, withEpoch } from './step.ts';

type RunningStep = AgentStep<Running>;

/**
 * Launches the claimed epoch. It is a hot restart if the newest Envoy of the lineage can be a
 * parent. Otherwise it is a standalone Envoy in a new lineage, side by side with the existing ones.
 * There are two lineages at most.
 */
export function launch(before: Running): RunningStep {
  const alone =
    isStandalone(before.claim) || newestEpoch(before, before.lineage)?.stage === 'stopping';
  const [{ claim: claimed, ...state }, stops] = alone
    ? stopLineages(before, before.lineage)
    : stay(before);
  if (claimed === undefined) return stay(before);
  const { epoch, reading } = claimed;
  const newest = newestEpoch(state, state.lineage);
  const parent = alone ? undefined : newest;
  const lineage = alone && newest !== undefined ? state.lineage + 1 : state.lineage;
  const restartEpoch = parent === undefined ? 0 : parent.restartEpoch + 1;
  const sideBySide = [...state.epochs.values()].some((other) => other.lineage !== lineage);
  const started: Epoch = {
    hash: reading.hash,
    restartEpoch,
    lineage,
    parentTime: parent === undefined ? 'over' : 'running',
    stage: 'starting',
    answering: true,
  };
  const epochs = new Map(state.epochs).set(epoch, started);
  return [
    { ...state, epochs, lastEpoch: epoch, lineage, claim: undefined, refused: undefined },
    [
      ...stops,
      {
        type: 'launch',
        launch: { adopted: false, epoch, reading, restartEpoch, lineage, sideBySide },
      },
      { type: 'follow', epoch, isChild: parent !== undefined },
    ],
  ];
}

/**
 * Makes way for an Envoy without a parent and without a neighbour. Its claim is launched when the
 * last process is gone. The Envoy that serves drains first.
 */
export function replace(state: Running): RunningStep {
  const { claim: claimed } = state;
  if (claimed === undefined || claimed.stage === 'waiting' || state.epochs.size === 0)
    return launch(state);
  const next: Running = { ...state, claim: { ...claimed, stage: 'replacing' } };
  const newest = newestEpoch(next);
  if (newest?.stage !== 'live' || !newest.answering) return stopLineages(next);
  return [
    withEpoch(next, newest.number, { stage: 'draining' }),
    [{ type: 'hand-off', epoch: newest.number, to: 'successor' }],
  ];
}

/**
 * Handles an epoch that is LIVE: its admin endpoint becomes the published one. If it has just come
 * up, it serves, and all earlier epochs drain. Envoy counts its parent's time from the end of its
 * own initialization, which is just over then.
 */
export function live(before: AgentState, number: number): AgentStep {
  const epoch = before.epochs.get(number);
  if (epoch === undefined) return stay(before);
  const publish: Effect = { type: 'publish-admin', epoch: number };
  if (epoch.stage !== 'starting') return [{ ...before, served: true }, [publish]];
  const state = withServing(before, number);
  if (state.phase === 'draining') return [state, [publish, { type: 'ask-drain', epoch: number }]];
  if (state.phase !== 'running') return [state, [publish]];
  const expiry: readonly Effect[] =
    epoch.parentTime === 'running' ? [{ type: 'await-parent-expiry', epoch: number }] : [];
  return andThen(
    [state, [publish, { type: 'await-stable', epoch: number }, ...expiry]],
    handOffOthers,
  );
}

/**
 * Returns the state in which one epoch serves and the others drain, except those that were asked to
 * end.
 */
function withServing<State extends Pick<Running, 'epochs' | 'served' | 'late'>>(
  state: State,
  number: number,
): State {
  const epochs = [...state.epochs].map(([other, epoch]): [number, Epoch] => [
    other,
    epoch.stage === 'stopping'
      ? epoch
      : other === number
        ? { ...epoch, stage: 'live', late: false }
        : overtaken(epoch),
  ]);
  return { ...state, epochs: new Map(epochs), served: true, late: 0 };
}

function overtaken(epoch: Epoch): Epoch {
  return { ...epoch, stage: 'draining', ...(epoch.stage === 'starting' && { overtaken: true }) };
}
