/** In ms. */
const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000] as const;

/** Writes a duration in its two largest units: `512 ms`, `4.2 s`, `3 min 5 s`. Pure. */
export function duration(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole < second) return `${whole} ms`;
  if (whole < minute)
    return whole < 10 * second
      ? `${(Math.floor(whole / 100) / 10).toFixed(1)} s`
      : `${Math.floor(whole / second)} s`;
  if (whole < hour) return joined(whole, minute, 'min', second, 's');
  if (whole < 2 * day) return joined(whole, hour, 'h', minute, 'min');
  return joined(whole, day, 'd', hour, 'h');
}

function joined(
  ms: number,
  large: number,
  largeName: string,
  small: number,
  smallName: string,
): string {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${largeName}${rest === 0 ? '' : ` ${rest} ${smallName}`}`;
}

/**
 * Writes a duration as {@link duration} does, but in whole seconds: for texts that change each
 * second. Pure.
 */
export function age(ms: number): string {
  return ms < second
    ? '0 s'
    : duration(Math.floor(ms / second) * second).replace(/\.\d(?= s$)/, '');
}

/** Writes the time of day in the browser's zone, with ms: `14:03:09.120`. Pure. */
export function clockWithMs(time: string | number): string {
  return `${clock(time)}.${String(new Date(time).getMilliseconds()).padStart(3, '0')}`;
}

/** Writes the time of day in the browser's zone: `14:03:09`. Pure. */
export function clock(time: string | number): string {
  const date = new Date(time);
  const two = (value: number) => String(value).padStart(2, '0');
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
}

/** Writes day and time in the browser's zone: `2026-11-22 14:03:09`. Pure. */
export function dayAndClock(time: string | number): string {
  const date = new Date(time);
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()]
    .map((value) => String(value).padStart(2, '0'))
    .join('-');
  return `${day} ${clock(time)}`;
}
