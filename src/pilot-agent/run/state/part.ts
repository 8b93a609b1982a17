import {
  defer,
  filter,
  map,
  type MonoTypeOperatorFunction,
  type OperatorFunction,
  type Subject,
} from 'rxjs';
import { line, type LogLine } from '../../../shared/log/log-line.ts';
import { supervise } from '../../../operators/supervise.ts';
import { exitCodes, Fatal } from '../../../shared/program/exit.ts';

/** What surrounds the core. None of it can end the run. */
export const parts = [
  'status',
  'sds',
  'secrets',
  'xds',
  'sts',
  'sources',
  'expiry',
  'timeline',
  'log',
] as const;

export type Part = (typeof parts)[number];

/** What an error says: in a word, and where it is from. */
export interface Trouble {
  readonly reason: string;
  readonly stack: string | undefined;
}

/** A part has failed, and is started again after `delayMs`. */
export interface PartFailed extends Trouble {
  readonly type: 'part-failed';
  readonly part: Part;
  readonly delayMs: number;
}

/** What has been thrown need not be an error. Never throws. */
export function troubleOf(error: unknown): Trouble {
  try {
    return error instanceof Error
      ? { reason: error.message, stack: error.stack }
      : { reason: String(error), stack: undefined };
  } catch {
    return { reason: 'unknown', stack: undefined };
  }
}

/** An error that ends an agent, as one that says how; any other one is a bug. Never throws. */
export function failureOf(error: unknown): Fatal {
  if (error instanceof Fatal) return error;
  return new Fatal(`this is a bug: ${troubleOf(error).reason}`, exitCodes.software, {
    cause: error,
  });
}

/**
 * An error of the source is told as {@link PartFailed}, and the source is started again. As
 * {@link supervise}.
 */
export function asPart<T>(part: Part, random?: () => number): OperatorFunction<T, T | PartFailed> {
  return supervise((error, delayMs) => partFailed(part, error, delayMs), random);
}

/** That a part has failed, and is started again after so many ms. Never throws. */
export function partFailed(part: Part, error: unknown, delayMs: number): PartFailed {
  return { type: 'part-failed', part, ...troubleOf(error), delayMs };
}

/**
 * As {@link asPart}, but its failures are told aside, by `failures$`: whoever follows it hears of
 * values alone.
 */
export function steady<T extends object>(
  part: Part,
  failures$: Subject<PartFailed>,
): MonoTypeOperatorFunction<T> {
  return (source) =>
    source.pipe(
      asPart(part),
      filter((value): value is T => {
        if (!isFailure(value)) return true;
        failures$.next(value);
        return false;
      }),
    );
}

/**
 * A part that listens, and tells so by a value of type `listening`. That it cannot, a value of type
 * `failed`, is told as it is before that; after it that is an error like others, for it has been
 * possible, and may be again. As {@link asPart}.
 */
export function asServer<T extends { readonly type: string }>(
  part: Part,
  { listening, failed }: { readonly listening: T['type']; readonly failed: T['type'] },
  random?: () => number,
): OperatorFunction<T, T | PartFailed> {
  return (source) =>
    defer(() => {
      let hasListened = false;
      return source.pipe(
        map((event) => {
          if (event.type === failed && hasListened)
            throw new Error('reason' in event ? String(event.reason) : failed);
          hasListened ||= event.type === listening;
          return event;
        }),
        asPart(part, random),
      );
    });
}

function isFailure(value: object): value is PartFailed {
  return 'type' in value && value.type === 'part-failed';
}

/** What there is to log of a part that has failed. */
export function partLine({ part, reason, stack, delayMs }: Omit<PartFailed, 'type'>): LogLine {
  return line('part.failed', { part, reason, delayMs, stack });
}
