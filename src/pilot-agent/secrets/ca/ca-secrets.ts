// Why: docs/decisions/047-an-authority-is-awaited-by-connecting.md
import {
  asyncScheduler,
  concat,
  delayWhen,
  defer,
  EMPTY,
  expand,
  from,
  map,
  merge,
  mergeMap,
  type Observable,
  of,
  type SchedulerLike,
  switchMap,
  take,
  timer,
} from 'rxjs';
import { backOff, jitter } from '../../../operators/back-off.ts';
import { clockTimer } from '../../../operators/clock-timer.ts';
import type { SetReading } from '../secret.ts';
import type { IssueFailure } from './authority.ts';
import type { Issue } from './issue-certificate.ts';

/** What became of a request to an authority. `took` and `delay`, until the next one, are in ms. */
export type CaEvent =
  /** `at`: ms since 1970. */
  | { readonly type: 'asked'; readonly at: number; readonly isRetry: boolean }
  | { readonly type: 'issued'; readonly took: number; readonly delay: number }
  | {
      readonly type: 'request-failed';
      readonly reason: string;
      readonly failures: number;
      readonly took: number;
      readonly delay: number;
    };

/** When a certificate is replaced. Times in ms since 1970. */
export interface Lifetime {
  readonly created: number;
  readonly expires: number;
  /** The share of the lifetime that is to be left. */
  readonly ratio: number;
}

/** A certificate that is born expired is not asked for again and again without a pause. In ms. */
const shortest = 100;
/** What a timer of Node can count. */
const longest = 2 ** 31 - 1;
/**
 * Of the lifetime, to either side, so that not all workloads of a mesh ask at once; as in the Go
 * agent of today.
 */
const spread = 0.01;

/**
 * How long from `now` until a certificate is to be replaced, in ms. Pure, but for `random`, which
 * gives a number from 0 to 1.
 */
export function rotationDelay(
  { created, expires, ratio }: Lifetime,
  now: number,
  random: () => number,
): number {
  const lifetime = expires - created;
  const due = expires - ratio * lifetime + jitter(lifetime, spread, random()) - lifetime;
  return Math.min(Math.max(due - now, shortest), longest);
}

/** After a failed request. */
const pauses = { first: 50, longest: 30_000 };
const retrySpread = 0.2;

/**
 * How long after the `failures`th failed request in a row the next one comes: 50 ms doubling up to
 * 30 s, 20 % more or less. Pure, but for `random`.
 */
export function requestBackOff(
  failures: number,
  failure: IssueFailure,
  random: () => number,
): number {
  // What is refused will be so in a moment too; but the token on disk may be another one then.
  const delay = failure === 'refused' ? pauses.longest : backOff(pauses, failures - 1);
  return Math.round(jitter(delay, retrySpread, random()));
}

/**
 * When an authority is back, a workload asks it at random within so many ms: a mesh does not ask
 * at once.
 */
const returnSpread = 1_000;
/**
 * If it then fails nevertheless, the pauses go on from the sixth, 1.6 s; the next time from the
 * seventh.
 */
const returnedFrom = 5;

export interface CaOptions {
  /** The authority, for a person. */
  readonly name: string;
  /** The share of a certificate's lifetime that is left when the next one is asked for. */
  readonly ratio: number;
  /** The first request comes at random within so many ms. */
  readonly initialBackOff: number;
  readonly random: () => number;
  /** Emits when an authority that has failed so may be there again: then it is not waited for. */
  readonly back$: (failure: IssueFailure) => Observable<unknown>;
}

/** The pause before a request, and what it follows from. */
interface Pause {
  /** In ms. */
  readonly delay: number;
  /** How the request before has failed, if the end of that ends the pause. */
  readonly ending?: IssueFailure;
  /** Failed requests in a row. */
  readonly failures: number;
  /** The same, as the pauses count them. */
  readonly steps: number;
  /** How often the authority was back in vain. */
  readonly returns: number;
}

/**
 * The set that an authority issues: emits a reading for each certificate, long before the one
 * before it expires, and beside it what became of each request. `issue$` is asked once for each
 * request.
 *
 * What fails is tried again, without an end, and takes nothing away: what is served stays. An
 * authority that was away is asked within a second of when it is back. Cold. Never ends, never
 * errors.
 */
export function caSecrets(
  issue$: Observable<Issue>,
  { name, ratio, initialBackOff, random, back$ }: CaOptions,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<SetReading | CaEvent> {
  const source = `certificate authority ${name}`;

  interface Step {
    readonly outputs: readonly (SetReading | CaEvent)[];
    readonly next?: Pause;
  }

  function request(pause: Pause): Observable<Step> {
    const returned$ =
      pause.ending === undefined
        ? EMPTY
        : back$(pause.ending).pipe(
            take(1),
            delayWhen(() => timer(random() * returnSpread, scheduler)),
          );
    return merge(
      clockTimer(pause.delay, scheduler).pipe(map(() => false)),
      returned$.pipe(map(() => true)),
    ).pipe(
      take(1),
      switchMap((isReturn) =>
        concat(
          defer(() =>
            of<Step>({
              outputs: [{ type: 'asked', at: scheduler.now(), isRetry: pause.failures > 0 }],
            }),
          ),
          issue$.pipe(map((issue) => step(pause, isReturn, issue))),
        ),
      ),
    );
  }

  function step(pause: Pause, isReturn: boolean, issue: Issue): Step {
    const { took } = issue;
    if (issue.ok) {
      const now = scheduler.now();
      const delay = rotationDelay({ created: now, expires: issue.expires, ratio }, now, random);
      const outputs = [
        { type: 'issued', took, delay },
        { type: 'set', source, set: issue.set },
      ] as const;
      return { next: { ...fresh, delay }, outputs };
    }
    const { reason, failure } = issue;
    const failures = pause.failures + 1;
    const steps =
      1 + (isReturn ? Math.min(pause.steps, returnedFrom + pause.returns) : pause.steps);
    const delay = requestBackOff(steps, failure, random);
    const outputs = [
      { type: 'request-failed', reason, failures, took, delay },
      { type: 'refused', source, reason: `${source}: ${reason}` },
    ] as const;
    const next = { delay, failures, steps, returns: pause.returns + Number(isReturn) };
    // One that was back in vain is not looked for at once: it would be found again and again.
    return {
      next: failure === 'refused' || isReturn ? next : { ...next, ending: failure },
      outputs,
    };
  }

  return defer(() => request({ ...fresh, delay: random() * initialBackOff })).pipe(
    expand(({ next }) => (next === undefined ? EMPTY : request(next))),
    mergeMap(({ outputs }) => from(outputs)),
  );
}

const fresh = { failures: 0, steps: 0, returns: 0 };
