import type { LogLine } from '../log/log-line.ts';
import type { CaEvent } from './ca-event.ts';

/** What there is to say of a request to an authority. Pure. */
export function narrateCa(event: CaEvent): LogLine {
  const { took: tookMs, delay: delayMs } = event;
  if (event.type === 'issued') return { level: 'info', msg: 'certificate issued: the next one is asked for in time', tookMs, delayMs };
  const { reason, failures: attempt } = event;
  return { level: 'error', msg: 'certificate request failed, and is tried again', reason, attempt, tookMs, delayMs };
}
