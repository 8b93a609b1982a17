import type { Reading } from './read-layer.ts';
import type { Problem } from './resolve-config.ts';

const names = ['drainDuration', 'parentShutdownDuration'] as const;
type Durations = Readonly<Record<(typeof names)[number], number>>;

/**
 * A parent that is gone while it still drains is a problem, told at the higher of the two layers; if neither duration is wrong in itself. Pure.
 *
 * Nothing else about the two is refused: fractions of a second and more than an hour, which the Go agent does not take, are taken.
 */
export function drainConflict(
  { drainDuration: drain, parentShutdownDuration: parent }: Durations,
  readings: readonly Reading<Partial<Durations>>[],
): readonly Problem[] {
  if (parent > drain || readings.some(({ wrong }) => names.some((name) => wrong.includes(name)))) return [];
  const [drainFrom = -1, parentFrom = -1] = names.map((name) => readings.findLastIndex(({ fields }) => name in fields));
  const drainPlace = readings[drainFrom]?.layer.place('drainDuration') ?? '--drainDuration';
  const parentPlace = readings[parentFrom]?.layer.place('parentShutdownDuration') ?? '--parentShutdownDuration';
  return drainFrom > parentFrom
    ? [{ place: drainPlace, text: `${drain / 1000}s is not less than ${parentPlace} ${parent / 1000}s` }]
    : [{ place: parentPlace, text: `${parent / 1000}s is not more than ${drainPlace} ${drain / 1000}s` }];
}
