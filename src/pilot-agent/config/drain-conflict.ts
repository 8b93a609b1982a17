import type { LayerReading } from './read-layer.ts';
import type { Problem } from '../../shared/text/value.ts';

const names = ['drainDuration', 'parentShutdownDuration'] as const;
type Durations = Readonly<Record<(typeof names)[number], number>>;

interface Conflict {
  /** The index of the higher of the two readings; −1 if both are defaults. */
  readonly from: number;
  readonly problem: Problem;
}

/**
 * Finds a conflict: a parent that ends while it still drains. The problem belongs to the higher of
 * the two layers. There is none if a duration itself is wrong. Pure.
 *
 * Nothing else about the two is refused: unlike the Go agent, this agent accepts fractions of a
 * second and more than an hour. The durations are compared in whole seconds, as Envoy counts them.
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
 * Returns the readings without durations that contradict each other. The conflict is a problem. In
 * a layer that spares these fields it is a warning, and the durations of the layers below are used.
 * Pure.
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
