import type { LogLine } from '../shared/log/log-line.ts';
import type { AgentEvent, AgentState } from './model.ts';
import type { EpochRecord } from './timeline.ts';

/**
 * For each of these events, a function that returns its log lines from the state before the event
 * and the records of the epochs after it. Pure.
 */
export type Narrators<Type extends AgentEvent['type']> = {
  readonly [One in Type]: (
    event: Extract<AgentEvent, { readonly type: One }>,
    before: AgentState,
    epochs: readonly EpochRecord[],
  ) => readonly LogLine[];
};

/** Logs nothing, because another event or the agent's decision is logged instead. */
export const nothing = (): readonly LogLine[] => [];
