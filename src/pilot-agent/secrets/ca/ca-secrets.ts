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
import { longestTimer } from '../../../operators/longest-timer.ts';
import type { SetReading } from '../secret.ts';
import type { IssueFailure } from './authority.ts';
import type { Issue } from './issue-certificate.ts';

/**
 * The result of a request to an authority. `took`, and `delay` until the next request, are in ms.
 */
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

/** The values that decide when a certificate is replaced. Times in ms since 1970. */
export interface Lifetime {
  readonly created: number;
  readonly expires: number;
  /** The share of the lifetime that must be left. */
  readonly ratio: number;
}

/**
 * In ms. The shortest pause between requests, in case a certificate is already expired when it
 * comes.
 */
const shortest = 100;
/**
 * The share of the lifetime by which a rotation varies to either side, so that not all workloads of
 * a mesh ask at once; as in today's Go agent.
 */
const spread = 0.01;

/**
 * Returns how long from `now` until a certificate is replaced, in ms. Pure, except for `random`,
 * which returns a number from 0 to 1.
 */
export function rotationDelay(
  { created, expires, ratio }: Lifetime,
  now: number,
  random: () => number,
): number {
  const lifetime = expires - created;
  const due = expires - ratio * lifetime + jitter(lifetime, spread, random()) - lifetime;
  return Math.min(Math.max(due - now, shortest), longestTimer);
}

/** The pauses after failed requests, in ms. */
const pauses = { first: 50, longest: 30_000 };
const retrySpread = 0.2;
/**
 * The longest pause, as a share of the remaining life of a certificate; and its lower limit, in ms.
 */
const [shareOfRest, leastOfRest] = [0.25, 1_000];

/**
 * Returns the pause after the `failures`th failed request in a row: 50 ms, doubling up to 30 s, and
 * shorter as the certificate expires; 20 % more or less. Pure, except for `random`.
 *
 * @param rest the remaining life of the certificate, in ms; 0 or less if it has expired, or if
 * there is none
 */
export function requestBackOff(
  failures: number,
  failure: IssueFailure,
  rest: number,
  random: () => number,
): number {
  // An early retry would be refused too. Later, the token on disk may be another one.
  const usual = failure === 'refused' ? pauses.longest : backOff(pauses, failures - 1);
  const most = rest > 0 ? Math.max(shareOfRest * rest, leastOfRest) : pauses.longest;
  return Math.round(jitter(Math.min(usual, most), retrySpread, random()));
}

/**
 * In ms. When an authority is back, each workload asks it at a random moment within this time, so
 * that a mesh does not ask all at once.
 */
const returnSpread = 1_000;
/**
 * If that request fails too, the next pause is at most the sixth of the series, 1.6 s. After the
 * next return it is at most the seventh.
 */
const returnedFrom = 5;

export interface CaOptions {
  /** The authority, for a person. */
  readonly name: string;
  /** The share of a certificate's lifetime that is left when the next one is requested. */
  readonly ratio: number;
  /** In ms. The first request comes at a random moment within this time. */
  readonly initialBackOff: number;
  readonly random: () => number;
  /** Emits when an authority that failed in this way may be back, which ends the pause. */
  readonly back$: (failure: IssueFailure) => Observable<unknown>;
}

/** The pause before a request, and the reasons for its length. */
interface Pause {
  /** In ms. */
  readonly delay: number;
  /** How the previous request failed, if the return of the authority ends the pause. */
  readonly ending?: IssueFailure;
  /** Failed requests in a row. */
  readonly failures: number;
  /** The end of the served certificate, in ms since 1970; 0 if there is none. */
  readonly expires: number;
  /** The number of failures that the back-off counts. */
  readonly steps: number;
  /** How often the authority was back, and its request still failed. */
  readonly returns: number;
}

/**
 * Emits a reading for each certificate that an authority issues, long before the previous one
 * expires, and an event for each request. Subscribes to `issue$` once for each request.
 *
 * Retries a failed request without end, and removes nothing: the served certificate stays. When an
 * authority that was away is back, asks it within a second. Cold. Never ends, never errors.
 */
export function caSecrets(
  issue$: Observable<Issue>,
  options: CaOptions,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<SetReading | CaEvent> {
  const { random, initialBackOff } = options;

  function request(pause: Pause): Observable<Step> {
    return pauseEnd(pause, options, scheduler).pipe(
      switchMap((occasion) =>
        concat(
          defer(() =>
            of<Step>({
              outputs: [{ type: 'asked', at: scheduler.now(), isRetry: pause.failures > 0 }],
            }),
          ),
          issue$.pipe(
            map((issue) =>
              issue.ok
                ? afterIssue(issue, options, scheduler.now())
                : afterFailure(issue, { pause, occasion }, options, scheduler.now()),
            ),
          ),
        ),
      ),
    );
  }

  return defer(() => request({ ...firstAttempt, delay: random() * initialBackOff })).pipe(
    expand(({ next }) => (next === undefined ? EMPTY : request(next))),
    mergeMap(({ outputs }) => from(outputs)),
  );
}

/** The outputs of a request, and the pause before the next one. */
interface Step {
  readonly outputs: readonly (SetReading | CaEvent)[];
  readonly next?: Pause;
}

/** The end of a pause: its time is over, or the authority has returned. */
type Occasion = 'due' | 'returned';

/** Emits the end of a pause once. */
function pauseEnd(
  { delay, ending }: Pause,
  { random, back$ }: CaOptions,
  scheduler: SchedulerLike,
): Observable<Occasion> {
  const returned$ =
    ending === undefined
      ? EMPTY
      : back$(ending).pipe(
          take(1),
          delayWhen(() => timer(random() * returnSpread, scheduler)),
        );
  return merge(
    clockTimer(delay, scheduler).pipe(map(() => 'due' as const)),
    returned$.pipe(map(() => 'returned' as const)),
  ).pipe(take(1));
}

function sourceName({ name }: CaOptions): string {
  return `certificate authority ${name}`;
}

function afterIssue(
  { took, set, expires }: Extract<Issue, { readonly ok: true }>,
  options: CaOptions,
  now: number,
): Step {
  const { ratio, random } = options;
  const delay = rotationDelay({ created: now, expires, ratio }, now, random);
  return {
    outputs: [
      { type: 'issued', took, delay },
      { type: 'set', source: sourceName(options), set },
    ],
    next: { ...firstAttempt, expires, delay },
  };
}

function afterFailure(
  { took, reason, failure }: Extract<Issue, { readonly ok: false }>,
  { pause, occasion }: { readonly pause: Pause; readonly occasion: Occasion },
  options: CaOptions,
  now: number,
): Step {
  const { expires } = pause;
  const isReturn = occasion === 'returned';
  const source = sourceName(options);
  const failures = pause.failures + 1;
  const steps = 1 + (isReturn ? Math.min(pause.steps, returnedFrom + pause.returns) : pause.steps);
  const delay = requestBackOff(steps, failure, expires - now, options.random);
  const next = { delay, failures, expires, steps, returns: pause.returns + Number(isReturn) };
  return {
    outputs: [
      { type: 'request-failed', reason, failures, took, delay },
      { type: 'refused', source, reason: `${source}: ${reason}` },
    ],
    // If the request failed although the authority was back, do not wait for its return again: it
    // would be noticed again and again.
    next: failure === 'refused' || isReturn ? next : { ...next, ending: failure },
  };
}

const firstAttempt = { failures: 0, expires: 0, steps: 0, returns: 0 };
