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

/** A set as it was found, which nobody has looked at yet. */
export interface FoundSet {
  /** Where it is, for a person; and where its parts are. */
  readonly source: string;
  readonly places: { readonly pair: string; readonly roots: string };
  readonly set: SecretSet;
  /** What is known to be wrong with its parts. */
  readonly flaws: SetFlaws;
}

/**
 * Says of a set what of it can be served, and why the rest cannot. What is wrong with one part says
 * nothing against the other. Pure.
 *
 * @param now ms since 1970
 */
export function checkedSet({ source, places, set, flaws }: FoundSet, now: number): SetReading {
  const found = setFlaws(set, now);
  const flawOf = (part: keyof SecretSet) =>
    flaws[part] ?? (found[part] === undefined ? undefined : `${places[part]}: ${found[part]}`);
  const [pair, roots] = [flawOf('pair'), flawOf('roots')];
  const good = {
    ...(pair === undefined && set.pair !== undefined && { pair: set.pair }),
    ...(roots === undefined && set.roots !== undefined && { roots: set.roots }),
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

/** The rest of what is written file by file comes within this time. In ms. */
const rest = 80;

/**
 * Emits the set that the source, a cold one, has read. One of which a part is refused is read once
 * more after 80 ms: the other half of a pair may be on its way.
 */
export function oncePatient(scheduler: SchedulerLike): MonoTypeOperatorFunction<SetReading> {
  return (reading$) =>
    reading$.pipe(
      switchMap((read) =>
        isWhole(read) ? of(read) : timer(rest, scheduler).pipe(switchMap(() => reading$)),
      ),
    );
}

/** What is refused for its dates may be good later, without a change. In ms. */
const again = 30_000;

/** Reads a set again and again as long as a part of it is refused, and emits what is new. */
export function untilWhole(scheduler: SchedulerLike): MonoTypeOperatorFunction<SetReading> {
  return pipe(
    pollUntil(isWhole, { every: again }, scheduler),
    distinctUntilChanged((one, other) => !isWhole(one) && isDeepStrictEqual(one, other)),
  );
}
