import type { X509Certificate } from 'node:crypto';
import {
  asyncScheduler,
  distinctUntilChanged,
  EMPTY,
  map,
  type Observable,
  type OperatorFunction,
  pipe,
  type SchedulerLike,
  switchMap,
} from 'rxjs';
import { clockTimer } from '../../operators/clock-timer.ts';
import { reduceWithEffects, type Step } from '../../operators/reduce-with-effects.ts';
import { beforeExpiry, crlVerdict } from './crl-verdict.ts';
import type { ParsedCrls } from './parse-crls.ts';

/** Everything that decides which CRLs are served. */
export interface CrlInput<Carried> {
  readonly content: ParsedCrls;
  /** The roots and the intermediate certificates. */
  readonly authorities: readonly X509Certificate[];
  /** It is handed on with the result. */
  readonly carried: Carried;
}

/** The CRLs that are served. */
export interface ServedCrl {
  /** PEM; blank if there are none. */
  readonly text: string;
  /** Why the newest content is not served. */
  readonly flaw: string | undefined;
  readonly revoked: number;
  /** When the first of the CRLs must be replaced, in ms since 1970; undefined if there are none. */
  readonly until: number | undefined;
}

export interface CarriedCrl<Carried> extends ServedCrl {
  readonly carried: Carried;
}

type CrlEvent<Carried> = { readonly now: number } & (
  { readonly type: 'input'; readonly input: CrlInput<Carried> } | { readonly type: 'due' }
);

type GoodCrls = Extract<ParsedCrls, { readonly kind: 'crls' }>;

interface CrlState<Carried> {
  readonly input: CrlInput<Carried> | undefined;
  readonly served: ServedCrl;
  /** The last CRLs that could be served. */
  readonly good: GoodCrls | undefined;
  /** When the content is gone for good, in ms since 1970; undefined while it is there. */
  readonly goneAt: number | undefined;
}

interface WaitEffect {
  /** In ms; undefined to wait for the next input. */
  readonly pause: number | undefined;
}

export const noCrl: ServedCrl = { text: '', flaw: undefined, revoked: 0, until: undefined };

/** In ms. */
const pauses = {
  /** How long CRLs must be absent to be gone: a program may be replacing the file. */
  gone: 1_000,
  /** From a refused text to the next look: a CRL may become valid without a change. */
  refused: 30_000,
  /** The longest time between two looks at the clock. */
  look: 3_600_000,
} as const;

/**
 * Emits the CRLs that can be served: at once for each input, and when time changes them. An expired
 * CRL is not served, because Envoy would refuse every certificate. If a text cannot be served, the
 * last good text stays, as long as it is good. If CRLs are absent for 1 s, none are served. Cold;
 * never completes before its source, never errors.
 */
export function serveCrl<Carried>(
  scheduler: SchedulerLike = asyncScheduler,
): OperatorFunction<CrlInput<Carried>, CarriedCrl<Carried>> {
  const initial: CrlState<Carried> = {
    input: undefined,
    served: noCrl,
    good: undefined,
    goneAt: undefined,
  };
  return pipe(
    map((input): CrlEvent<Carried> => ({ type: 'input', input, now: scheduler.now() })),
    reduceWithEffects(initial, reduceCrl<Carried>, (effect$: Observable<WaitEffect>) =>
      effect$.pipe(
        switchMap(({ pause }) => (pause === undefined ? EMPTY : clockTimer(pause, scheduler))),
        map((): CrlEvent<Carried> => ({ type: 'due', now: scheduler.now() })),
      ),
    ),
    switchMap(({ state: { input, served } }) =>
      input === undefined ? EMPTY : [{ ...served, carried: input.carried }],
    ),
    distinctUntilChanged(
      (before, after) =>
        before.carried === after.carried &&
        before.text === after.text &&
        before.flaw === after.flaw &&
        before.until === after.until,
    ),
  );
}

function reduceCrl<Carried>(
  before: CrlState<Carried>,
  event: CrlEvent<Carried>,
): Step<CrlState<Carried>, WaitEffect> {
  const { now } = event;
  const input = event.type === 'input' ? event.input : before.input;
  if (input === undefined) return [before, []];
  const state = { ...before, input };
  const { content } = input;
  if (content.kind === 'absent') return withoutContent(state, now);
  const present = { ...state, goneAt: undefined };
  if (content.kind === 'unreadable') return withFlaw(present, content.reason, now);
  const verdict = crlVerdict(content.crls, input.authorities, now);
  if (!verdict.ok) return withFlaw(present, verdict.reason, now);
  const { until, revoked } = verdict;
  const served = { text: content.text, flaw: undefined, revoked, until };
  return [{ ...present, served, good: content }, [{ pause: pauseFor(until, now) }]];
}

function withoutContent<Carried>(
  state: CrlState<Carried>,
  now: number,
): Step<CrlState<Carried>, WaitEffect> {
  const goneAt = state.goneAt ?? (state.good === undefined ? now : now + pauses.gone);
  if (now >= goneAt)
    return [{ ...state, served: noCrl, good: undefined, goneAt }, [{ pause: undefined }]];
  const [kept] = withFlaw({ ...state, goneAt }, undefined, now);
  return [kept, [{ pause: goneAt - now }]];
}

/** The last good text stays, if it is still good. */
function withFlaw<Carried>(
  state: CrlState<Carried>,
  flaw: string | undefined,
  now: number,
): Step<CrlState<Carried>, WaitEffect> {
  const { good, input } = state;
  const verdict = good && crlVerdict(good.crls, input?.authorities ?? [], now);
  const served: ServedCrl =
    verdict?.ok === true
      ? { text: good?.text ?? '', flaw, revoked: verdict.revoked, until: verdict.until }
      : { ...noCrl, flaw };
  const pause = Math.min(pauses.refused, pauseFor(served.until ?? Infinity, now));
  return [{ ...state, served }, [{ pause }]];
}

const pauseFor = (until: number, now: number): number =>
  Math.min(Math.max(until - beforeExpiry - now, 0), pauses.look);
