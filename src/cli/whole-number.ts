import { exitCodes } from './exit-codes.ts';
import { Fatal } from './fatal.ts';

/** A flag's value times `unit`, at most what a timer of Node can count in ms (24.8 days). Throws a {@link Fatal} for what is below `least`, or no number. */
export function wholeNumber(flag: string, value: string, least: number, unit: number): number {
  if (/^\d+$/.test(value) && Number(value) >= least) return Math.min(Number(value) * unit, 2 ** 31 - 1);
  throw new Fatal(`--${flag}: '${value}' is not a whole number from ${least} on`, exitCodes.usage);
}
