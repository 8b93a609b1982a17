import type { AgentState } from './model.ts';

/** The agent before anything has happened. */
export const initialState: AgentState = {
  phase: 'running',
  lastEpoch: -1,
  line: 0,
  epochs: new Map(),
  claim: undefined,
  awaited: [],
  wanted: undefined,
  refused: undefined,
  crashes: 0,
  retried: false,
  served: false,
  examined: undefined,
  asked: 0,
  outcome: undefined,
};
