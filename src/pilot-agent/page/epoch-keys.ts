import type { EpochReport } from '../report/epoch-report.ts';

/** In rows. */
const leap = 10;

/**
 * Returns the epoch that a key leads to from the selected one; undefined if the key does not move.
 * The epochs must be sorted by their numbers. Pure.
 */
export function epochByKey(
  epochs: readonly EpochReport[],
  selected: number | undefined,
  key: string,
  direction: 'across' | 'down',
): number | undefined {
  const position = epochs.findIndex(({ epoch }) => epoch === selected);
  // The newest epoch is at the top of a table, and at the right of the timeline.
  const [older, newer] =
    direction === 'across' ? ['ArrowLeft', 'ArrowRight'] : ['ArrowDown', 'ArrowUp'];
  const [oldest, newest] = direction === 'across' ? ['Home', 'End'] : ['End', 'Home'];
  const steps = new Map([
    [older, position - 1],
    [newer, position + 1],
    [direction === 'across' ? 'PageUp' : 'PageDown', position - leap],
    [direction === 'across' ? 'PageDown' : 'PageUp', position + leap],
    [oldest, 0],
    [newest, epochs.length - 1],
  ]);
  const to = steps.get(key);
  return to === undefined ? undefined : epochs[Math.min(epochs.length - 1, Math.max(0, to))]?.epoch;
}
