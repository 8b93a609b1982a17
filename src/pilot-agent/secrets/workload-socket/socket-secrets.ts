// Why: docs/decisions/108-the-workload-socket-is-read-by-the-agent.md
import {
  asyncScheduler,
  auditTime,
  combineLatest,
  concat,
  concatMap,
  connect,
  defer,
  EMPTY,
  expand,
  filter,
  map,
  merge,
  NEVER,
  type Observable,
  of,
  scan,
  type SchedulerLike,
  switchMap,
  take,
  takeUntil,
  takeWhile,
  timer,
} from 'rxjs';
import { backOff, jitter } from '../../../operators/back-off.ts';
import { clockTimer } from '../../../operators/clock-timer.ts';
import { workloadSecretNames } from '../../../shared/xds/secret-names.ts';
import { expiryLead, servedCertificate } from '../certificate-expiry.ts';
import { checkedSet, untilWhole } from '../checked-set.ts';
import type { SecretSet, SetFlaws, SetReading } from '../secret.ts';
import { type Bundle, type ReadAnswer, readBundle, readSvid, type Svid } from './read-answer.ts';
import type { SecretServer, StreamSign } from './secret-server.ts';

/** An event of the identity that a server of secrets gives. */
export type IdentityEvent =
  /** `at`: ms since 1970. */
  | { readonly type: 'socket-asked'; readonly at: number }
  /** There has been no identity yet, and why. */
  | { readonly type: 'identity-refused'; readonly reason: string }
  /** The first identity, or another one than `before`. */
  | { readonly type: 'identity-given'; readonly id: string; readonly before: string | undefined };

export interface SocketOptions {
  /** The trust domain of the workload; undefined for any. */
  readonly trustDomain: string | undefined;
  readonly random: () => number;
}

/** The pauses after a lost stream, in ms. The server is on this machine: a question is cheap. */
const pauses = { first: 100, longest: 5_000 };
const spread = 0.2;
/** In ms. If a stream lasted this long after its first answer, the pauses begin again. */
const steady = 10_000;
/** In ms. A server has the secrets at hand, but may first have to request a certificate. */
const longestSilence = 10_000;
/** In ms. A certificate and the roots that belong to it come over two streams. */
const together = 20;
/** In ms. The shortest time until a server is asked again for a certificate that is due. */
const shortest = 5_000;
/** In ms. An answer that is refused for its dates may become valid when the clock is set. */
const refusedAgain = 30_000;

/**
 * Emits a reading of the set of the workload at each answer of a server of secrets, and the events
 * of its identity. A stream that is lost is replaced after 100 ms, doubling up to 5 s, ± 20 %. The
 * pauses start at 100 ms again after a stream that lasted 10 s since its first answer. A server
 * that does not answer within 10 s is asked again. If there is no next certificate when one is due
 * (`expiryLead`: a quarter of its life is left, or a day), the server is asked again over a new
 * connection, and then whenever half of the remaining time is over. It is asked again 30 s after an
 * answer that is refused.
 *
 * Removes nothing: the served set stays. Cold. Never ends, never errors.
 */
export function socketSecrets(
  server: SecretServer,
  { trustDomain, random }: SocketOptions,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<SetReading | IdentityEvent> {
  const { certificate, roots } = workloadSecretNames;
  const svid$ = followed(
    server.follow(certificate, (answer) =>
      readSvid(answer, certificate, { trustDomain, now: scheduler.now() }),
    ),
    { reask: (svid) => untilReasked(svid, scheduler.now()), random },
    scheduler,
  );
  const bundle$ = followed(
    server.follow(roots, (answer) => readBundle(answer, roots)),
    { reask: () => Infinity, random },
    scheduler,
  );
  const answered$ = combineLatest([svid$, bundle$]).pipe(
    auditTime(together, scheduler),
    map(([svid, bundle]): Answers => ({ svid, bundle })),
    switchMap((answers) =>
      defer(() => of(readingOf(answers, server.name, trustDomain, scheduler.now()))).pipe(
        untilWhole(scheduler),
        map((reading) => ({ reading, answers })),
      ),
    ),
    scan(afterReading, { id: undefined, signs: [] } as IdentityState),
    concatMap(({ signs }) => signs),
  );
  return concat(
    defer(() => of<IdentityEvent>({ type: 'socket-asked', at: scheduler.now() })),
    answered$,
  );
}

interface Following<T> {
  /** Returns how long until the server is asked again for the successor of `content`, in ms. */
  readonly reask: (content: T) => number;
  readonly random: () => number;
}

/** The last answer of a stream, and the pause until a new stream if this one has ended. */
interface Step<T> {
  readonly answer: ReadAnswer<T> | undefined;
  /** The time of the first answer of this stream, in ms since 1970. */
  readonly answeredAt: number | undefined;
  /** Lost streams in a row that were not steady. */
  readonly failures: number;
  readonly pause: number | undefined;
}

type SessionSign<T> = StreamSign<T> | { readonly type: 'overdue' };

/**
 * Subscribes to `stream$` again and again. Emits each answer, and why there is none. Never ends,
 * never errors.
 */
function followed<T>(
  stream$: Observable<StreamSign<T>>,
  { reask, random }: Following<T>,
  scheduler: SchedulerLike,
): Observable<ReadAnswer<T>> {
  const pauseAfter = (failures: number) =>
    Math.round(jitter(backOff(pauses, failures), spread, random()));
  const after = (before: Step<T>, sign: SessionSign<T>): Step<T> => {
    const now = scheduler.now();
    const { answeredAt, failures: earlier } = before;
    const isSteady = answeredAt !== undefined && now - answeredAt >= steady;
    const failures = isSteady ? 0 : earlier;
    switch (sign.type) {
      case 'answered':
        return { ...before, answer: sign.answer, answeredAt: answeredAt ?? now };
      case 'overdue':
        return { ...before, answer: undefined, failures, pause: pauseAfter(failures) };
      case 'lost': {
        const answer = { ok: false, reason: sign.reason } as const;
        return { ...before, answer, failures: failures + 1, pause: pauseAfter(failures) };
      }
    }
  };
  function session(failures: number): Observable<Step<T>> {
    const before: Step<T> = {
      answer: undefined,
      answeredAt: undefined,
      failures,
      pause: undefined,
    };
    return stream$.pipe(
      connect((sign$) => merge(sign$, silent(sign$, scheduler), overdue(sign$, reask, scheduler))),
      takeWhile(({ type }) => type === 'answered', true),
      scan(after, before),
    );
  }
  return session(0).pipe(
    expand(({ pause, failures }) =>
      pause === undefined
        ? EMPTY
        : timer(pause, scheduler).pipe(switchMap(() => session(failures))),
    ),
    map(({ answer }) => answer),
    filter((answer) => answer !== undefined),
  );
}

function silent<T>(
  sign$: Observable<StreamSign<T>>,
  scheduler: SchedulerLike,
): Observable<SessionSign<T>> {
  const reason = `it does not answer within ${longestSilence / 1000} s`;
  return timer(longestSilence, scheduler).pipe(
    map(() => ({ type: 'lost', reason }) as const),
    takeUntil(sign$.pipe(take(1))),
  );
}

function overdue<T>(
  sign$: Observable<StreamSign<T>>,
  reask: (content: T) => number,
  scheduler: SchedulerLike,
): Observable<SessionSign<T>> {
  return sign$.pipe(
    switchMap((sign) => {
      if (sign.type !== 'answered') return NEVER;
      const delay = sign.answer.ok ? reask(sign.answer.content) : refusedAgain;
      return delay < Infinity ? clockTimer(delay, scheduler) : NEVER;
    }),
    map(() => ({ type: 'overdue' }) as const),
  );
}

function untilReasked({ pair }: Svid, now: number): number {
  const certificate = servedCertificate(
    workloadSecretNames.certificate,
    { kind: 'pair', ...pair },
    { isRenewed: false },
  );
  if (certificate === undefined) return Infinity;
  const [left, lead] = [certificate.expires - now, expiryLead(certificate)];
  return Math.max(left > lead ? left - lead : left / 2, shortest);
}

/** The last answers about both secrets. */
interface Answers {
  readonly svid: ReadAnswer<Svid>;
  readonly bundle: ReadAnswer<Bundle>;
}

function readingOf(
  { svid, bundle }: Answers,
  source: string,
  trustDomain: string | undefined,
  now: number,
): SetReading {
  if (!svid.ok && !bundle.ok && svid.reason === bundle.reason)
    return { type: 'refused', source, reason: `${source}: ${svid.reason}` };
  const roots = rootsOf(bundle, svid.ok ? svid.content.trustDomain : trustDomain);
  const flaws: SetFlaws = {
    ...(!svid.ok && { pair: `${source}: ${svid.reason}` }),
    ...(!roots.ok && { roots: `${source}: ${roots.reason}` }),
  };
  const set: SecretSet = {
    ...(svid.ok && { pair: svid.content.pair }),
    ...(roots.ok && roots.content),
  };
  const places = {
    pair: `${source}: ${workloadSecretNames.certificate}`,
    roots: `${source}: ${workloadSecretNames.roots}`,
  };
  return checkedSet({ source, places, set, flaws }, now);
}

/** Returns the roots of a set whose own trust domain is `ownDomain`. */
function rootsOf(bundle: ReadAnswer<Bundle>, ownDomain: string | undefined): ReadAnswer<SecretSet> {
  if (!bundle.ok) return bundle;
  const { content } = bundle;
  if (content.kind === 'plain') return { ok: true, content: { roots: content.roots } };
  const { trustDomains } = content;
  const domain = trustDomains.find(({ name }) => ownDomain === undefined || name === ownDomain);
  return domain === undefined
    ? { ok: false, reason: `it has no roots of the trust domain ${ownDomain ?? ''}` }
    : { ok: true, content: { roots: domain.roots, trustDomains } };
}

interface IdentityState {
  /** The last identity. */
  readonly id: string | undefined;
  readonly signs: readonly (SetReading | IdentityEvent)[];
}

function afterReading(
  { id: before }: IdentityState,
  { reading, answers: { svid } }: { readonly reading: SetReading; readonly answers: Answers },
): IdentityState {
  if (reading.type === 'set' && reading.set.pair !== undefined && svid.ok) {
    const { id } = svid.content;
    const newIdentity: readonly IdentityEvent[] =
      id === before ? [] : [{ type: 'identity-given', id, before }];
    return { id, signs: [...newIdentity, reading] };
  }
  const flaw = reading.type === 'refused' ? reading.reason : (reading.refused?.pair ?? '');
  const reason = svid.ok ? flaw : svid.reason;
  const refused: readonly IdentityEvent[] =
    before === undefined ? [{ type: 'identity-refused', reason }] : [];
  return { id: before, signs: [...refused, reading] };
}
