import type { AgentReport } from './agent-report.ts';
import type { EpochReport } from './epoch-report.ts';

/**
 * The state of an agent, from its phase and its readiness together, so that the two never
 * contradict.
 */
export interface Standing {
  /** `ready`, `not ready`, or `not ready: draining` and the like. */
  readonly text: string;
  readonly isReady: boolean;
  /** `drain`: it is not ready because somebody asked for that. */
  readonly tone: 'ok' | 'bad' | 'drain';
}

/** Only a running agent can be ready, whatever an earlier probe found. Pure. */
export function standing({ phase, ready }: Pick<AgentReport, 'phase' | 'ready'>): Standing {
  if (phase !== 'running') return { text: `not ready: ${phase}`, isReady: false, tone: 'drain' };
  return ready.ok
    ? { text: 'ready', isReady: true, tone: 'ok' }
    : { text: 'not ready', isReady: false, tone: 'bad' };
}

/** Returns the newest epoch that serves clients or drains; undefined if there is none. Pure. */
export function servingEpoch(epochs: readonly EpochReport[]): EpochReport | undefined {
  return (
    epochs.findLast(({ state }) => state === 'live') ??
    epochs.findLast(({ state }) => state === 'draining')
  );
}
