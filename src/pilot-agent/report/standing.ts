import type { AgentReport } from './agent-report.ts';
import type { EpochReport } from './epoch-report.ts';

/** How an agent stands, by its phase and its readiness together: the two never contradict. */
export interface Standing {
  /** `ready`, `not ready`, or `not ready: draining` and the like. */
  readonly text: string;
  readonly isReady: boolean;
  /** `drain`: it is not ready because somebody has asked for that. */
  readonly tone: 'ok' | 'bad' | 'drain';
}

/** Only an agent that runs can be ready, whatever was found a moment before. Pure. */
export function standing({ phase, ready }: Pick<AgentReport, 'phase' | 'ready'>): Standing {
  if (phase !== 'running') return { text: `not ready: ${phase}`, isReady: false, tone: 'drain' };
  return ready.ok
    ? { text: 'ready', isReady: true, tone: 'ok' }
    : { text: 'not ready', isReady: false, tone: 'bad' };
}

/** The newest epoch that answers clients now, or drains; undefined where none does. Pure. */
export function servingEpoch(epochs: readonly EpochReport[]): EpochReport | undefined {
  return (
    epochs.findLast(({ state }) => state === 'live') ??
    epochs.findLast(({ state }) => state === 'draining')
  );
}
