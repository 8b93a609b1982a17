import type { LogLine } from '../shared/log/log-line.ts';
import type { AgentTransition } from './agent.ts';
import type { AgentEvent, AgentState } from './model.ts';
import { configNarrators } from './narrate-config.ts';
import { narrateDecision } from './narrate-decision.ts';
import { endingNarrators } from './narrate-ending.ts';
import { epochNarrators } from './narrate-epoch.ts';
import type { Narrators } from './narrator.ts';
import type { EpochRecord } from './timeline.ts';

const narrators: Narrators<AgentEvent['type']> = {
  ...configNarrators,
  ...epochNarrators,
  ...endingNarrators,
};

/**
 * Returns the log lines about a transition in the order to read them: first what happened, then
 * what the agent does about it. A hot restart that goes well logs three lines for everybody: what
 * changed, that the new epoch is LIVE, and the end of the old one. Pure.
 *
 * @param epochs the records of the epochs after the transition
 * @param budget the limit of crashes; 0: no limit
 */
export function narrate(
  { event, before, state }: AgentTransition,
  epochs: readonly EpochRecord[],
  budget: number,
): readonly LogLine[] {
  const happened = narrators[event.type] as (
    event: AgentEvent,
    before: AgentState,
    epochs: readonly EpochRecord[],
  ) => readonly LogLine[];
  return [...happened(event, before, epochs), ...narrateDecision({ event, before, state }, budget)];
}
