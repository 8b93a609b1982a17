const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/**
 * Writes a span of time in a few characters, such as `231 ms`, `4.2 s`, `3m 12s` and `4d 2h`. Pure.
 */
export function timeSpan(ms: number): string {
  if (ms < 0) return `-${timeSpan(-ms)}`;
  if (ms < second) return `${Math.round(ms)} ms`;
  if (ms < 10 * second) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  if (ms < minute) return `${Math.floor(ms / second)} s`;
  if (ms < hour) return both(ms, minute, 'm', second, 's');
  if (ms < day) return both(ms, hour, 'h', minute, 'm');
  return both(ms, day, 'd', hour, 'h');
}

function both(ms: number, unit: number, name: string, part: number, partName: string): string {
  return `${Math.floor(ms / unit)}${name} ${Math.floor((ms % unit) / part)}${partName}`;
}

/** Returns the time from one ISO time to another, in ms; undefined if one is missing. Pure. */
export function between(from: string | undefined, to: string | undefined): number | undefined {
  return from === undefined || to === undefined ? undefined : Date.parse(to) - Date.parse(from);
}

/** Writes how long before `now` a time was: `12 s ago`; '' without a time. Pure. */
export function ago(then: string | undefined, now: string): string {
  const ms = between(then, now);
  return ms === undefined ? '' : `${timeSpan(Math.max(0, ms))} ago`;
}
