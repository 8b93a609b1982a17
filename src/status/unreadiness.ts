import type { AgentState } from '../agent/model.ts';
import { newestEpoch } from '../agent/newest-epoch.ts';

/** Why the agent is not ready, as far as its own state says, in one line; undefined if nothing speaks against it. */
export function unreadiness(state: AgentState): string | undefined {
  if (state.phase === 'draining') return 'draining';
  if (state.phase !== 'running') return 'terminating';
  const newest = newestEpoch(state);
  if (newest === undefined) {
    if (state.refused !== undefined) return `Envoy is not running: configuration refused: ${state.refused.reason}`;
    if (state.awaited.length > 0) return `waiting for ${state.awaited.join(', ')}`;
    return state.lastEpoch < 0 ? 'Envoy has not been started yet' : 'Envoy has crashed and waits to be started again';
  }
  if (newest.stage === 'stopping' || state.claim?.stage === 'replacing') return 'Envoy is being replaced';
  if (newest.stage === 'retiring') return 'Envoy has crashed and waits to be started again';
  return newest.answering ? undefined : 'Envoy does not answer';
}
