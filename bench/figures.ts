import { median } from './median.ts';

/** What was measured: the row of the table of all → who → the value, in the unit of the row. */
export type Figures = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** What a benchmark has measured, for a reader. */
export interface Report {
  /** For the table of all, and its pictures. */
  readonly figures?: Figures;
  /** A table of its own. */
  readonly columns?: readonly string[];
  readonly rows?: readonly (readonly string[])[];
  /** How it was measured: rounds, figures, and what was left out. */
  readonly notes: readonly string[];
}

/** Takes values one by one, and gives the median of those of each row and contender. */
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
