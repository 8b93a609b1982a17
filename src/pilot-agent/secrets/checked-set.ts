import { isDeepStrictEqual } from 'node:util';
import {
  distinctUntilChanged,
  type MonoTypeOperatorFunction,
  of,
  pipe,
  type SchedulerLike,
  switchMap,
  timer,
} from 'rxjs';
import { pollUntil } from '../../operators/poll-until.ts';
import { setFlaws } from './certificates.ts';
import { isWhole, type SecretSet, type SetFlaws, type SetReading } from './secret.ts';

/** A set as it was found, before it is checked. */
export interface UncheckedSet {
  /** The place of the set, and the places of its parts, for a person. */
  readonly source: string;
  readonly places: { readonly pair: string; readonly roots: string };
  readonly set: SecretSet;
  /** The known flaws of its parts. */
  readonly flaws: SetFlaws;
}

/**
 * Returns which parts of a set can be served, and why the others cannot. A flaw of one part does
 * not affect the other. Pure.
 *
 * @param now ms since 1970
 */
export function checkedSet({ source, places, set, flaws }: UncheckedSet, now: number): SetReading {
  const contentFlaws = setFlaws(set, now);
  const flawOf = (part: keyof SetFlaws) =>
    flaws[part] ??
    (contentFlaws[part] === undefined ? undefined : `${places[part]}: ${contentFlaws[part]}`);
  const [pair, roots] = [flawOf('pair'), flawOf('roots')];
  const good = {
    ...(pair === undefined && set.pair !== undefined && { pair: set.pair }),
    ...(roots === undefined &&
      set.roots !== undefined && {
        roots: set.roots,
        ...(set.trustDomains !== undefined && { trustDomains: set.trustDomains }),
      }),
  };
  const wrong = [pair, roots].filter((flaw) => flaw !== undefined);
  if (good.pair === undefined && good.roots === undefined) {
    const reason =
      wrong.length === 0
        ? `${source}: neither a certificate nor a root is there`
        : wrong.join('; ');
    return { type: 'refused', source, reason };
  }
  if (wrong.length === 0) return { type: 'set', source, set: good };
  return {
    type: 'set',
    source,
    set: good,
    refused: { ...(pair !== undefined && { pair }), ...(roots !== undefined && { roots }) },
  };
}

/** In ms. A program that writes a set file by file writes the remaining files within this time. */
const rest = 80;

/**
 * Emits the set that the (cold) source has read. If a part is refused, reads once more after 80 ms:
 * the other half of a pair may follow.
 */
export function oncePatient(scheduler: SchedulerLike): MonoTypeOperatorFunction<SetReading> {
  return (reading$) =>
    reading$.pipe(
      switchMap((read) =>
        isWhole(read) ? of(read) : timer(rest, scheduler).pipe(switchMap(() => reading$)),
      ),
    );
}

/** In ms. A part that is refused for its dates may become valid without a change. */
const again = 30_000;

/** Reads a set again and again while a part of it is refused, and emits each new result. */
export function untilWhole(scheduler: SchedulerLike): MonoTypeOperatorFunction<SetReading> {
  return pipe(
    pollUntil(isWhole, { every: again }, scheduler),
    distinctUntilChanged((a, b) => !isWhole(a) && isDeepStrictEqual(a, b)),
  );
}
