const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Writes a size in the largest unit in which it is at least 1: `48.2 MiB`. Pure. */
export function bytes(count: number): string {
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, count)) / 10));
  return `${number(count / 1024 ** power)} ${units[power] ?? 'B'}`;
}

/** Writes a number with three significant digits: `0.25`, `12.3`, `1,234`. Pure. */
export function number(value: number): string {
  if (value >= 100 || Number.isInteger(value)) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(value < 1 ? 2 : 3)));
}

/** Pure. */
export const perSecond = (value: number) => `${number(value)} /s`;

/** Pure. */
export const percent = (value: number) => `${number(value)} %`;
