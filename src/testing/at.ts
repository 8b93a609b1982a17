/** A time from the start of a diagram: `500ms`, `10s`, `1.5s`, `2m`, `3h`, `4d`. */
type Time = `${number}${keyof typeof units}`;

const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function inMs(time: string): number {
  const [, count, unit] = /^([\d.]+)(ms|s|m|h|d)$/.exec(time) ?? [];
  if (unit === undefined) throw new Error(`'${time}' is not a time such as 500ms, 1.5s or 2m`);
  return Math.round(Number(count) * units[unit as keyof typeof units]);
}

/**
 * Makes a diagram from signs and their times. Each time counts from the start of the diagram:
 * `at({ '0s': 'a', '10s': 'b|' })` is `a 9999ms (b|)`. Several signs at one time are a group. A
 * group lasts as many ms as it has characters, so nothing can be drawn in that time: such a time is
 * an error, and so is one that goes back.
 */
export function at(signs: Readonly<Record<Time, string>>): string {
  let next = 0;
  const parts = Object.entries(signs).map(([time, sign]) => {
    const drawn = sign.length === 1 ? sign : `(${sign})`;
    const gap = inMs(time) - next;
    if (gap < 0)
      throw new Error(
        `'${sign}' cannot be drawn at ${time}: the part before it ends at ${next} ms`,
      );
    next += gap + drawn.length;
    return gap === 0 ? drawn : `${gap}ms ${drawn}`;
  });
  return parts.join(' ');
}
