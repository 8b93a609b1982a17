/** Envoy's `/stats` as text: one `name: value` a line. What is no number (histograms, text readouts) is left out. */
export function parseStats(body: string): ReadonlyMap<string, number> {
  const stats = new Map<string, number>();
  for (const line of body.split('\n')) {
    const end = line.lastIndexOf(': ');
    const value = Number(line.slice(end + 2));
    if (end > 0 && Number.isSafeInteger(value)) stats.set(line.slice(0, end), value);
  }
  return stats;
}
