import { longestTimer } from '../src/operators/longest-timer.ts';
import { exitCodes, Fatal } from '../src/shared/program/exit.ts';
import { parseDuration } from '../src/shared/text/value.ts';

/**
 * Returns the time between two certificates in ms, from `DEMO_ROTATE_EVERY`; 24.8 days at most.
 *
 * @throws Fatal if it is not a duration above 0
 */
export function periodOf(text: string): number {
  const period = parseDuration(text) ?? 0;
  if (period > 0) return Math.min(period, longestTimer);
  throw new Fatal(
    `DEMO_ROTATE_EVERY: '${text}' is not a duration (such as '20s')`,
    exitCodes.usage,
  );
}

/**
 * Returns the number of a port.
 *
 * @param what what gets the port
 * @throws Fatal if it is not a port
 */
export function portOf(what: string, text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (port <= 65_535) return port;
  throw new Fatal(`the port for ${what}: '${text}' is not a number up to 65535`, exitCodes.usage);
}
