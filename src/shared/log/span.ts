const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** Returns a duration for a person: `14 min`. It uses the smaller of two possible units. Pure. */
export function span(ms: number): string {
  const [unit, length] = units.find(([, length]) => ms >= 2 * length) ?? (['s', 1_000] as const);
  return `${Math.round(ms / length)} ${unit}`;
}
