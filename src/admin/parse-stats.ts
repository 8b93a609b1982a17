/** Envoy's `/stats` as text: one `name: value` a line. What is no number (histograms, text readouts) is left out. */
export function parseStats(body: string): ReadonlyMap<string, number> {
  const stats = new Map<string, number>();
  for (const line of body.split('\n')) {
    const [, name, value] = /^(.+): (\d+)$/s.exec(line) ?? [];
    if (name !== undefined && Number.isSafeInteger(Number(value))) stats.set(name, Number(value));
  }
  return stats;
}
