/** Why a row of a source is left out of the answer. */
export type LeftOut = keyof typeof leftOutWords;

export const leftOutWords = {
  form: 'it is not a row of metrics',
  time: 'its time cannot be written in the format of the answer',
  value: 'its type does not allow its value, le or quantile',
  again: 'a row with the same name and labels came before',
  taken: 'another source has a family of this name, or of one that would clash with it',
  apart: 'other rows stand between the rows of its metric, which OpenMetrics does not allow',
  'not-whole':
    'its histogram is not whole, or its buckets contradict each other, which OpenMetrics does not allow',
} as const;

/** In characters: how much of a row is reported. */
const mostShown = 160;

/** The rows of one source that are left out. */
interface LeftOutRows {
  /** Leaves out `many` rows; `row` returns the first of them. */
  readonly drop: (why: LeftOut, row: () => string, many?: number) => void;
  readonly count: () => number;
  /** Returns the first row for each reason. */
  readonly first: () => ReadonlyMap<LeftOut, string>;
}

export function leftOutRows(): LeftOutRows {
  const first = new Map<LeftOut, string>();
  let count = 0;
  return {
    drop: (why, row, many = 1) => {
      count += many;
      if (!first.has(why)) first.set(why, row().slice(0, mostShown).trim());
    },
    count: () => count,
    first: () => first,
  };
}
