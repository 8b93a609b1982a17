/** One line of a table that compares the control plane with istiod. */
export interface ComparedFigures {
  readonly scene: string;
  readonly what: string;
  /** The unit of each value. */
  readonly units: readonly string[];
  readonly ours: readonly number[];
  readonly istiod: readonly number[];
  /** The goal of each value: the largest ratio that reaches it. */
  readonly goals: readonly number[];
}

/** The names of the cells of each line. */
export const columnsBesideIstiod = [
  ...['Services × proxies', 'What', 'pilot-discovery', 'istiod 1.26', 'Ratio', 'Goal'],
];

/** Returns the cells of a line: the values, their ratios, and the goals. */
export function rowBesideIstiod(compared: ComparedFigures): string[] {
  const { scene, what, units, ours, istiod, goals } = compared;
  const ratios = ours.map((value, index) => value / (istiod[index] ?? NaN));
  const goalCells = goals.map(
    (goal, index) => `≤ ${goal}${(ratios[index] ?? NaN) <= goal ? '' : ' (missed)'}`,
  );
  return [
    scene,
    what,
    valuesWithUnits(ours, units),
    valuesWithUnits(istiod, units),
    ratios.map(ratioText).join(', '),
    goalCells.join(', ') || '–',
  ];
}

const valuesWithUnits = (values: readonly number[], units: readonly string[]): string =>
  values
    .map(
      (value, index) =>
        `${value.toFixed(units[index] === 'MB' && value < 10 ? 2 : 0)} ${units[index] ?? ''}`,
    )
    .join(', ');

export const ratioText = (ratio: number): string =>
  Number.isNaN(ratio) ? '–' : ratio.toFixed(ratio < 0.1 ? 3 : 2);
