import { median } from './median.ts';

/** Measured values: row of the summary table → contender → value, in the unit of the row. */
export type Figures = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** The results of a benchmark, for its readers. */
export interface Report {
  /** For the summary table and its pictures. */
  readonly figures?: Figures;
  /** A table of its own. */
  readonly columns?: readonly string[];
  readonly rows?: readonly (readonly string[])[];
  /** How it was measured: rounds, figures, and what was left out. */
  readonly notes: readonly string[];
}

/** Collects values one by one, and returns the median for each row and contender. */
export function collected(): {
  readonly add: (row: string, who: string, value: number) => void;
  readonly figures: () => Figures;
} {
  const values = new Map<string, Map<string, number[]>>();
  return {
    add(row, who, value) {
      const ofRow = values.get(row) ?? new Map<string, number[]>();
      values.set(row, ofRow.set(who, [...(ofRow.get(who) ?? []), value]));
    },
    figures: () =>
      Object.fromEntries(
        [...values].map(([row, all]) => [
          row,
          Object.fromEntries([...all].map(([who, measured]) => [who, median(measured)])),
        ]),
      ),
  };
}
