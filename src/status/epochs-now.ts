import type { AgentState } from '../agent/model.ts';
import type { Timeline } from '../agent/timeline.ts';

/** The agent's state and its past as JSON can have it. Pure. */
export function epochsNow({ epochs, ...state }: AgentState, { epochs: past, counters, certificates }: Timeline): unknown {
  return { ...state, epochs: [...epochs].map(([number, epoch]) => ({ number, ...epoch })), past, counters, certificates };
}
