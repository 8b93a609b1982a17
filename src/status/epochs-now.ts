import type { AgentState } from '../agent/model.ts';

/** The agent's state as JSON can have it. Pure. */
export function epochsNow({ epochs, ...state }: AgentState): unknown {
  return { ...state, epochs: [...epochs].map(([number, epoch]) => ({ number, ...epoch })) };
}
