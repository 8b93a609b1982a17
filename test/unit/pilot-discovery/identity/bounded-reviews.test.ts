import { defer, delay, merge, type Observable, of, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { boundedReviews } from '../../../../src/pilot-discovery/identity/bounded-reviews.ts';
import type { CallerIdentity } from '../../../../src/pilot-discovery/identity/caller-identity.ts';
import {
  recentCallers,
  mostTokens,
} from '../../../../src/pilot-discovery/identity/recent-callers.ts';
import type { TokenProof } from '../../../../src/pilot-discovery/identity/review-token.ts';

const caller = { trustDomain: 'cluster.local', namespace: 'shop', serviceAccount: 'web' };
const good: CallerIdentity = { ok: true, caller };
const bad: CallerIdentity = { ok: false, fault: 'unauthenticated', reason: 'bad' };
const away: CallerIdentity = { ok: false, fault: 'unavailable', reason: 'away' };
const hour = 3_600_000;
const proof = (token: string, ip = '10.0.0.1', expires = hour): TokenProof => ({
  token,
  claims: { issuer: '', subject: '', expires },
  address: `${ip}:1`,
  trustDomain: 'cluster.local',
});

/** Returns a review that takes a time, and in `reviewedTokens` the tokens that it received. */
function slowReview(scheduler: VirtualTimeScheduler, takes: number) {
  const reviewedTokens: string[] = [];
  const answers: Readonly<Record<string, CallerIdentity>> = { bad, away };
  return {
    reviewedTokens,
    review$: ({ token }: TokenProof): Observable<CallerIdentity> =>
      defer(() => {
        reviewedTokens.push(token);
        return of(answers[token.split(' ')[0] ?? ''] ?? good).pipe(delay(takes, scheduler));
      }),
  };
}

/** Returns the outcomes in order, each as `ok` or its fault. */
function collect(scheduler: VirtualTimeScheduler, all: readonly Observable<CallerIdentity>[]) {
  const outcomes: string[] = [];
  for (const identity$ of all)
    identity$.subscribe({
      next: (identity) => outcomes.push(identity.ok ? 'ok' : identity.fault),
      error: (error: unknown) => expect.unreachable(String(error)),
    });
  scheduler.flush();
  return outcomes;
}

const bounds = {
  ofClient: { running: 2, waiting: 3 },
  inAll: { running: 10, waiting: 10 },
  refused: { burst: 4, perSecond: 1 },
};

describe('bounded reviews', () => {
  it('end a client beyond its bounds, and delay no other client', () => {
    const scheduler = new VirtualTimeScheduler();
    const { reviewedTokens, review$ } = slowReview(scheduler, 100);
    const bounded$ = boundedReviews(review$, bounds, scheduler);
    const noisy = Array.from({ length: 100 }, (_, number) => bounded$(proof(`noisy ${number}`)));
    const fail = (error: unknown) => expect.unreachable(String(error));
    let quietAt = NaN;
    bounded$(proof('quiet', '10.0.0.2')).subscribe({
      next: () => (quietAt = scheduler.now()),
      error: fail,
    });
    const outcomes = collect(scheduler, noisy);
    expect(outcomes.filter((outcome) => outcome === 'exhausted')).toHaveLength(95);
    expect(reviewedTokens).toHaveLength(6);
    expect(quietAt).toBe(100);
  });

  it('forget a client that has left, so that it may come again', () => {
    const scheduler = new VirtualTimeScheduler();
    const { reviewedTokens, review$ } = slowReview(scheduler, 100);
    const bounded$ = boundedReviews(review$, bounds, scheduler);
    const left$ = merge(...Array.from({ length: 5 }, () => bounded$(proof('left'))));
    left$.subscribe({ error: (error: unknown) => expect.unreachable(String(error)) }).unsubscribe();
    expect(collect(scheduler, [bounded$(proof('again'))])).toEqual(['ok']);
    expect(reviewedTokens.at(-1)).toBe('again');
  });

  it('stop for a client after refusals, and come back with the time', () => {
    const scheduler = new VirtualTimeScheduler();
    const { reviewedTokens, review$ } = slowReview(scheduler, 0);
    const bounded$ = boundedReviews(review$, bounds, scheduler);
    const bads = (count: number, ip?: string) =>
      Array.from({ length: count }, (_, number) =>
        collect(scheduler, [bounded$(proof(`bad ${number}`, ip))]),
      ).flat();
    expect(bads(6)).toEqual([
      ...Array<string>(4).fill('unauthenticated'),
      'exhausted',
      'exhausted',
    ]);
    expect(collect(scheduler, [bounded$(proof('good'))])).toEqual(['exhausted']);
    expect(bads(1, '10.0.0.2')).toEqual(['unauthenticated']);
    expect(reviewedTokens).toHaveLength(5);
    scheduler.schedule(() => undefined, 1_000);
    scheduler.flush();
    expect(collect(scheduler, [bounded$(proof('good'))])).toEqual(['ok']);
  });

  it('let an account go on that was accepted at the address at which another one floods', () => {
    const scheduler = new VirtualTimeScheduler();
    const { review$ } = slowReview(scheduler, 0);
    const bounded$ = boundedReviews(review$, bounds, scheduler);
    const proofOf = (subject: string, token: string, ip?: string): TokenProof => ({
      ...proof(token, ip),
      claims: { issuer: 'cluster', subject, expires: hour },
    });
    const outcomeOf = (each: TokenProof) => collect(scheduler, [bounded$(each)]).join();
    expect(outcomeOf(proofOf('web', 'good'))).toBe('ok');
    for (let count = 0; count < 10; count += 1) outcomeOf(proofOf(`any ${count}`, `bad ${count}`));
    expect(outcomeOf(proofOf('any', 'good'))).toBe('exhausted');
    expect(outcomeOf(proofOf('web', 'good 2'))).toBe('ok');
    expect(outcomeOf(proofOf('new', 'good'))).toBe('exhausted');
    // The name is of no use to others: its budget is as small, and at that address only.
    const asWeb = Array.from({ length: 6 }, (_, count) =>
      outcomeOf(proofOf('web', `bad ${count}`)),
    );
    expect(asWeb.filter((outcome) => outcome === 'unauthenticated')).toHaveLength(4);
    expect(outcomeOf(proofOf('web', 'good 3', '10.0.0.2'))).toBe('ok');
  });

  it('do not count an API that is away against the client', () => {
    const scheduler = new VirtualTimeScheduler();
    const { review$ } = slowReview(scheduler, 0);
    const bounded$ = boundedReviews(review$, bounds, scheduler);
    const outcomes = Array.from({ length: 20 }, () =>
      collect(scheduler, [bounded$(proof('away'))]),
    ).flat();
    expect(new Set(outcomes)).toEqual(new Set(['unavailable']));
  });
});

describe('recent callers', () => {
  it('are not reviewed again for 30 s, and not after their token has expired', () => {
    const scheduler = new VirtualTimeScheduler();
    const { reviewedTokens, review$ } = slowReview(scheduler, 0);
    const recent$ = recentCallers(review$, scheduler);
    const presentAt = (ms: number, ...proofs: readonly TokenProof[]) =>
      scheduler.schedule(() => {
        for (const each of proofs)
          recent$(each).subscribe({ error: (error: unknown) => expect.unreachable(String(error)) });
      }, ms);
    const short = proof('short', '10.0.0.1', 5_000);
    presentAt(0, proof('a'), short, proof('bad'), proof('no end', '10.0.0.1', 0));
    presentAt(4_999, proof('a', '10.0.0.2'), short, proof('bad'), proof('no end', '10.0.0.1', 0));
    presentAt(5_000, short);
    presentAt(29_999, proof('a'), { ...proof('a'), trustDomain: 'other' });
    presentAt(30_000, proof('a'));
    scheduler.flush();
    expect(reviewedTokens).toEqual([
      'a',
      'short',
      'bad',
      'no end',
      'bad',
      'no end',
      'short',
      'a',
      'a',
    ]);
  });

  it('are reviewed again if the clock goes back', () => {
    const scheduler = new VirtualTimeScheduler();
    const { reviewedTokens, review$ } = slowReview(scheduler, 0);
    let offset = 600_000;
    const shifted = Object.assign(Object.create(scheduler) as VirtualTimeScheduler, {
      now: () => scheduler.now() + offset,
    });
    const recent$ = recentCallers(review$, shifted);
    for (const step of [600_000, 600_000, 0, 0]) {
      offset = step;
      collect(scheduler, [recent$(proof('a'))]);
    }
    expect(reviewedTokens).toEqual(['a', 'a']);
  });

  it('are remembered in a bounded number', () => {
    const scheduler = new VirtualTimeScheduler();
    const { reviewedTokens, review$ } = slowReview(scheduler, 0);
    const recent$ = recentCallers(review$, scheduler);
    collect(scheduler, [recent$(proof('first'))]);
    const others = Array.from({ length: mostTokens }, (_, number) => recent$(proof(`t${number}`)));
    collect(scheduler, others);
    collect(scheduler, [recent$(proof('t1')), recent$(proof('first'))]);
    expect(reviewedTokens.at(-1)).toBe('first');
    expect(reviewedTokens).toHaveLength(mostTokens + 2);
  });
});
