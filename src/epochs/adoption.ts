// Why: docs/decisions/020-an-adopted-envoy-is-replaced-first.md
import type { Epoch, Stage } from './epoch.ts';
import type { AgentState, Effect } from './model.ts';
import type { AdoptedEpoch } from './ports.ts';
import { type AgentStep, stay } from './step.ts';

/**
 * Takes over the processes that an earlier agent left. The agent does not know whether the newest
 * one is LIVE, nor from which reading each one was started: so the first reading starts a child of
 * the newest. Nor does it know whether the parent's time is over, so the end of the parent does not
 * count against the newest.
 */
export function adopt(state: AgentState, adopted: readonly AdoptedEpoch[]): AgentStep {
  const newest = adopted.at(-1);
  if (newest === undefined) return stay(state);
  const stages = adopted.map(
    (_, index): Stage => (['starting', 'live'] as const)[adopted.length - 1 - index] ?? 'draining',
  );
  const epochs = adopted.map(({ epoch, restartEpoch, lineage, pid }, index): [number, Epoch] => [
    epoch,
    {
      hash: '',
      restartEpoch,
      lineage,
      pid,
      parentTime: 'over',
      answering: true,
      stage: stages[index] ?? 'draining',
    },
  ]);
  const launches = adopted.map(({ epoch, restartEpoch, lineage }): Effect => {
    return { type: 'launch', launch: { adopted: true, epoch, restartEpoch, lineage } };
  });
  return [
    {
      ...state,
      epochs: new Map(epochs),
      lastEpoch: newest.epoch,
      lineage: newest.lineage,
      served: true,
    },
    [...launches, { type: 'follow', epoch: newest.epoch, isChild: false }],
  ];
}
