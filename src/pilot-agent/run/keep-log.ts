import type { AgentEvent } from '../../epochs/model.ts';
import type { AgentLog } from '../../shared/log/open-log.ts';
import type { Fold } from '../../operators/feedback.ts';
import type { RunEvent, RunView } from './state/view.ts';

/** The events before the first Envoy is started, which does not wait for the log. */
const beforeSpawn: readonly AgentEvent['type'][] = ['config-changed', 'turn-granted'];

/**
 * Carries out what a step of the run asks of the log: writes its lines, sets the level, opens the
 * log once the first Envoy is being started, and opens its files again.
 */
export function keepLog(
  step: Fold<RunView, RunEvent>,
  log: Pick<AgentLog, 'write' | 'level' | 'open' | 'reopen'>,
): void {
  const { sign } = step.value;
  for (const line of step.state.lines) log.write({ component: 'agent', ...line });
  if (sign.type === 'level-requested') log.level(sign.level);
  if (sign.type === 'bug') log.open();
  if (sign.type !== 'transition') return;
  if (sign.transition.event.type === 'reopen-requested') log.reopen();
  if (!beforeSpawn.includes(sign.transition.event.type)) log.open();
}
