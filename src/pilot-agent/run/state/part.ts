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

/** The parts that surround the core. None of them can end the run. */
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

/** The text of an error in one line, and its stack. */
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

/** Describes anything that was thrown, even if it is not an error. Never throws. */
export function troubleOf(error: unknown): Trouble {
  try {
    return error instanceof Error
      ? { reason: error.message, stack: error.stack }
      : { reason: String(error), stack: undefined };
  } catch {
    return { reason: 'unknown', stack: undefined };
  }
}

/**
 * Converts an error that ends an agent: a {@link Fatal} stays, any other error is a bug. Never
 * throws.
 */
export function failureOf(error: unknown): Fatal {
  if (error instanceof Fatal) return error;
  return new Fatal(`this is a bug: ${troubleOf(error).reason}`, exitCodes.software, {
    cause: error,
  });
}

/**
 * Emits an error of the source as {@link PartFailed}, and starts the source again, as
 * {@link supervise} does.
 */
export function asPart<T>(part: Part, random?: () => number): OperatorFunction<T, T | PartFailed> {
  return supervise((error, delayMs) => partFailed(part, error, delayMs), random);
}

/** Returns the sign that a part has failed, and is started again after `delayMs`. Never throws. */
export function partFailed(part: Part, error: unknown, delayMs: number): PartFailed {
  return { type: 'part-failed', part, ...troubleOf(error), delayMs };
}

/**
 * Starts the source again as {@link asPart} does, but failures go to `failures$`: subscribers
 * receive only values.
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
 * Supervises a part that listens, as {@link asPart} does. A value of type `listening` says that it
 * listens, one of type `failed` that it cannot. Before the first `listening`, `failed` is passed
 * on. After it, `failed` is an error like others: listening was possible, and may be again.
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

/** Returns the log line for a part that has failed. */
export function partLine({ part, reason, stack, delayMs }: Omit<PartFailed, 'type'>): LogLine {
  return line('part.failed', { part, reason, delayMs, stack });
}
