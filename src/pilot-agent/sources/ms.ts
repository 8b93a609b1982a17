/** A number of ms; one that is written with a minus does not compile. */
export type Ms<N extends number> = N & (`${N}` extends `-${string}` ? never : N);

/** What is wrong with a number of ms; undefined for nothing. Pure. */
export function msFlaw(ms: unknown): string | undefined {
  const isRight = typeof ms === 'number' && Number.isFinite(ms) && ms >= 0;
  return isRight ? undefined : `is ${String(ms)}, and has to be a number of ms, 0 or more`;
}

/** The same number; throws if it is none of ms. */
export function inMs(what: string, ms: number): number {
  const flaw = msFlaw(ms);
  if (flaw !== undefined) throw new TypeError(`${what} ${flaw}`);
  return ms;
}
