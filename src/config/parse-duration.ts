const units: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, μs: 1e-3, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** A Go duration (`45s`, `1m30s`, `1.5h`, `0`) in ms, or undefined if the text is none. A sign is taken as Go takes it. */
export function parseDuration(text: string): number | undefined {
  const [, sign, rest = ''] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  const parts = [...rest.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/gy)];
  if (rest !== '0' && (parts.length === 0 || parts.map(([part]) => part).join('') !== rest)) return undefined;
  const ms = parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (units[unit] ?? 0), 0);
  const rounded = Math.round(ms * 1e6) / 1e6; // Go counts in ns
  return sign === '-' ? 0 - rounded : rounded;
}
