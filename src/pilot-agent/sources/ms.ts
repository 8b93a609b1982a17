import { longestTimer } from '../../operators/longest-timer.ts';

/** A number of ms; a negative literal does not compile. */
export type Ms<N extends number> = N & (`${N}` extends `-${string}` ? never : N);

/** Returns what is wrong with a number of ms that a timer waits; undefined if nothing is. Pure. */
export function msFlaw(ms: unknown): string | undefined {
  const isRight = typeof ms === 'number' && ms >= 0 && ms <= longestTimer;
  return isRight
    ? undefined
    : `is ${String(ms)}, and has to be a number of ms, from 0 to ${longestTimer}`;
}

/** Returns the number; throws if it is not a number of ms. */
export function inMs(option: string, ms: number): number {
  const flaw = msFlaw(ms);
  if (flaw !== undefined) throw new TypeError(`${option} ${flaw}`);
  return ms;
}
