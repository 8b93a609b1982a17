const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** How long something took or is ago, for a person: `14 min`, of two units the smaller. Pure. */
export function span(ms: number): string {
  const [unit, length] = units.find(([, length]) => ms >= 2 * length) ?? (['s', 1_000] as const);
  return `${Math.round(ms / length)} ${unit}`;
}
