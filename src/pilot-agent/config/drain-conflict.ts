import type { LayerReading } from './read-layer.ts';
import type { Problem } from '../../shared/text/value.ts';

const names = ['drainDuration', 'parentShutdownDuration'] as const;
type Durations = Readonly<Record<(typeof names)[number], number>>;

interface Conflict {
  /** The number of the higher of the two readings; −1 if both are defaults. */
  readonly from: number;
  readonly problem: Problem;
}

/**
 * A parent that is gone while it still drains is a conflict, told at the higher of the two layers;
 * if neither duration is wrong in itself. Pure.
 *
 * Nothing else about the two is refused: fractions of a second and more than an hour, which the Go
 * agent does not take, are taken. They are compared as Envoy counts them, in whole seconds.
 */
function conflictOf(
  { drainDuration: drain, parentShutdownDuration: parent }: Durations,
  readings: readonly LayerReading<Partial<Durations>>[],
): Conflict | undefined {
  if (parent > drain || readings.some(({ wrong }) => names.some((name) => wrong.includes(name))))
    return undefined;
  const [drainFrom = -1, parentFrom = -1] = names.map((name) =>
    readings.findLastIndex(({ fields }) => name in fields),
  );
  const drainPlace = readings[drainFrom]?.layer.place('drainDuration') ?? '--drainDuration';
  const parentPlace =
    readings[parentFrom]?.layer.place('parentShutdownDuration') ?? '--parentShutdownDuration';
  return drainFrom > parentFrom
    ? {
        from: drainFrom,
        problem: {
          place: drainPlace,
          text: `${drain / 1000}s is not less than ${parentPlace} ${parent / 1000}s`,
        },
      }
    : {
        from: parentFrom,
        problem: {
          place: parentPlace,
          text: `${parent / 1000}s is not more than ${drainPlace} ${drain / 1000}s`,
        },
      };
}

/**
 * The readings without durations that contradict each other: a problem, or, in a layer that spares
 * these fields, a warning, and those of the layers below hold. Pure.
 */
export function withoutDrainConflict<R extends LayerReading<Partial<Durations>>>(
  readings: readonly R[],
  defaults: Durations,
): {
  readonly readings: readonly R[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
} {
  const conflict = conflictOf(
    readings.reduce<Durations>((lower, { fields }) => ({ ...lower, ...fields }), defaults),
    readings,
  );
  if (conflict === undefined) return { readings, problems: [], warnings: [] };
  const { place, text } = conflict.problem;
  if (readings[conflict.from]?.layer.spares?.('drainDuration') !== true)
    return { readings, problems: [conflict.problem], warnings: [] };
  const { warnings, ...rest } = withoutDrainConflict(
    readings.map((reading, index) =>
      index === conflict.from ? { ...reading, fields: withoutDurations(reading.fields) } : reading,
    ),
    defaults,
  );
  return { ...rest, warnings: [`${place}: ${text}: it is left out`, ...warnings] };
}

function withoutDurations(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).filter(([name]) => !names.some((duration) => duration === name)),
  );
}
