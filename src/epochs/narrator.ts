import type { LogLine } from '../shared/log/log-line.ts';
import type { AgentEvent, AgentState } from './model.ts';
import type { EpochRecord } from './timeline.ts';

/**
 * For each of these events: what there is to say of it, by what was before it, and what is known of
 * the epochs after it. Pure.
 */
export type Narrators<Type extends AgentEvent['type']> = {
  readonly [One in Type]: (
    event: Extract<AgentEvent, { readonly type: One }>,
    before: AgentState,
    epochs: readonly EpochRecord[],
  ) => readonly LogLine[];
};

/** Nothing is said of an event of which the agent's answer, or another event, tells. */
export const nothing = (): readonly LogLine[] => [];
