import { asyncScheduler, defer, filter, map, NEVER, type Observable, of, timer } from 'rxjs';
import { describe, it } from 'vitest';
import type { IssueFailure } from '../../src/pilot-agent/secrets/ca/authority.ts';
import { type CaEvent, caSecrets } from '../../src/pilot-agent/secrets/ca/ca-secrets.ts';
import type { Issue } from '../../src/pilot-agent/secrets/ca/issue-certificate.ts';
import type { SetReading } from '../../src/pilot-agent/secrets/secret.ts';
import { at } from '../../src/testing/at.ts';
import { marbles } from '../support/marbles/marbles.ts';

const day = 24 * 3_600_000;
const options = {
  name: 'ca',
  ratio: 0.5,
  initialBackOff: 0,
  random: () => 0.5,
  back$: () => NEVER,
};
function good(lifetime: number): Observable<Issue> {
  return defer(() =>
    of<Issue>({ ok: true, set: { roots: 'r' }, expires: asyncScheduler.now() + lifetime, took: 0 }),
  );
}
function bad(failure: IssueFailure): Observable<Issue> {
  return of({ ok: false, reason: 'down', failure, took: 0 });
}
/**
 * Returns an authority that answers with `before$` until a time, and then with `after$`.
 */
function turning(
  before$: Observable<Issue>,
  time: number,
  after$: Observable<Issue>,
): Observable<Issue> {
  return defer(() => (asyncScheduler.now() < time ? before$ : after$));
}
/** Emits `s` for a set, and `f` for a failed request. */
function signs(out$: Observable<SetReading | CaEvent>): Observable<string> {
  return out$.pipe(
    filter(({ type }) => type === 'set' || type === 'request-failed'),
    map(({ type }) => (type === 'set' ? 's' : 'f')),
  );
}

describe('caSecrets', () => {
  it(
    'asks at once, and for the next certificate when half of the lifetime is over',
    marbles((m) => {
      const unsub = '^ 1500m !';
      const expected = at({ '0s': 's', '720m': 's', '1440m': 's' });
      m.expectObservable(signs(caSecrets(good(day), options)), unsub).toBe(expected);
    }),
  );

  it(
    'leaves the share of the lifetime that it is told to leave',
    marbles((m) => {
      const unsub = '^ 55m !';
      const expected = at({ '0s': 's', '48m': 's' });
      m.expectObservable(signs(caSecrets(good(3_600_000), { ...options, ratio: 0.2 })), unsub).toBe(
        expected,
      );
    }),
  );

  it(
    'spreads rotations by a hundredth of the lifetime',
    marbles((m) => {
      const unsub = '^ 35m !';
      const expected = at({ '0s': 's', '30.6m': 's' });
      m.expectObservable(
        signs(caSecrets(good(3_600_000), { ...options, random: () => 1 - 2 ** -53 })),
        unsub,
      ).toBe(expected);
    }),
  );

  it(
    'waits for the first request as long as it is told to, at random',
    marbles((m) => {
      const unsub = '    ^ 3s !';
      const expected = ' 1s s';
      m.expectObservable(
        signs(caSecrets(good(day), { ...options, initialBackOff: 2_000 })),
        unsub,
      ).toBe(expected);
    }),
  );

  it(
    'tries again after 50 ms, doubling, while an authority is down',
    marbles((m) => {
      const unsub = '^ 1s !';
      // windows of 50, 100, 200 and 400 ms
      const expected = at({ '0s': 'f', '50ms': 'f', '150ms': 'f', '350ms': 'f', '750ms': 'f' });
      m.expectObservable(signs(caSecrets(bad('fleeting'), options)), unsub).toBe(expected);
    }),
  );

  it(
    'has a certificate within 30 s of the end of an outage of 10 minutes',
    marbles((m) => {
      const outage = 600_000;
      const issue$ = turning(bad('fleeting'), outage, good(day));
      const first$ = caSecrets(issue$, options).pipe(
        filter(({ type }) => type === 'set'),
        map(() => asyncScheduler.now() - outage <= 30_000),
      );
      m.expectObservable(first$, '^ 11m !').toBe(at({ '621.15s': 't' }), { t: true });
    }),
  );

  it(
    'tries what is refused again every 30 s: the token may be another one then',
    marbles((m) => {
      const unsub = '^ 65s !';
      const expected = at({ '0s': 'f', '30s': 'f', '60s': 'f' });
      m.expectObservable(signs(caSecrets(bad('refused'), options)), unsub).toBe(expected);
    }),
  );

  it(
    'asks sooner as the certificate expires, until it has: an outage may end just before',
    marbles((m) => {
      const issue$ = turning(good(64_000), 1_000, bad('refused'));
      // pauses of a quarter of the rest: 8 s, 6 s, 4.5 s …; of 1 s at the end; then of 30 s
      const early = { '0s': 's', '32s': 'f', '40s': 'f', '46s': 'f', '50.5s': 'f' };
      const later = { '53.875s': 'f', '56.406s': 'f', '58.305s': 'f', '59.729s': 'f' };
      const last = { '60.797s': 'f', '61.797s': 'f', '62.797s': 'f', '63.797s': 'f' };
      const expected = at({ ...early, ...later, ...last, '64.797s': 'f', '94.797s': 'f' });
      m.expectObservable(signs(caSecrets(issue$, options)), '^ 100s !').toBe(expected);
    }),
  );

  it(
    'begins with short pauses again after a success',
    marbles((m) => {
      const issue$ = turning(bad('fleeting'), 100, turning(good(20_000), 1_000, bad('fleeting')));
      const unsub = '^ 10400ms !';
      const expected = at({
        '0s': 'f',
        '50ms': 'f',
        '150ms': 's',
        '10.15s': 'f',
        '10.2s': 'f',
        '10.3s': 'f',
      });
      m.expectObservable(signs(caSecrets(issue$, options)), unsub).toBe(expected);
    }),
  );

  it(
    'replaces certificates that live a millisecond each 100 ms',
    marbles((m) => {
      const unsub = '^ 250ms !';
      const expected = at({ '0s': 's', '100ms': 's', '200ms': 's' });
      m.expectObservable(signs(caSecrets(good(1), options)), unsub).toBe(expected);
    }),
  );

  const outage = 600_000;
  /** An authority that is away until the end of the outage, and the signal of its return. */
  const away$ = turning(bad('away'), outage, good(day));
  const back$ = () => defer(() => timer(outage - asyncScheduler.now()));

  it.each([
    { random: 0, at: '600s' },
    { random: 0.5, at: '600.5s' },
    { random: 1 - 2 ** -53, at: '601s' },
  ])(
    'asks one that was away for 10 minutes within a second of when it is back, at random: $at',
    ({ random, at: first }) => {
      marbles((m) => {
        const set$ = caSecrets(away$, { ...options, random: () => random, back$ }).pipe(
          filter(({ type }) => type === 'set'),
          map(() => 's'),
        );
        m.expectObservable(set$, '^ 11m !').toBe(at({ [first]: 's' }));
      })();
    },
  );

  it(
    'says when it asks, and whether that is a retry',
    marbles((m) => {
      const requests$ = caSecrets(turning(bad('away'), 100, good(day)), options).pipe(
        filter((sign) => sign.type === 'asked'),
        map(({ isRetry }) => (isRetry ? 'r' : 'a')),
      );
      m.expectObservable(requests$, '^ 780m !').toBe(
        at({ '0s': 'a', '50ms': 'r', '150ms': 'r', '43200150ms': 'a' }),
      );
    }),
  );

  it(
    'does not ask one again and again that seems to be back and is not: after 1.6, 3.2, 6.4 s',
    marbles((m) => {
      const unsub = '^ 14s !';
      // It seems to be back half a second after each failure. After a request because of that,
      // nothing looks for it.
      const expected = at({
        '0s': 'f',
        '50ms': 'f',
        '150ms': 'f',
        '350ms': 'f',
        '750ms': 'f',
        '1250ms': 'f',
        '2850ms': 'f',
        '3350ms': 'f',
        '6550ms': 'f',
        '7050ms': 'f',
        '13450ms': 'f',
        '13950ms': 'f',
      });
      m.expectObservable(
        signs(caSecrets(bad('away'), { ...options, back$: () => of(0) })),
        unsub,
      ).toBe(expected);
    }),
  );

  it(
    'does not ask one earlier that is there and refuses',
    marbles((m) => {
      const unsub = '^ 65s !';
      const expected = at({ '0s': 'f', '30s': 'f', '60s': 'f' });
      m.expectObservable(
        signs(caSecrets(bad('refused'), { ...options, back$: () => of(0) })),
        unsub,
      ).toBe(expected);
    }),
  );

  it(
    'looks for one that is away only as long as it waits for it',
    marbles((m) => {
      const looks$ = m.cold<number>('-');
      const first$ = turning(bad('away'), 50, good(day));
      m.expectObservable(
        signs(caSecrets(first$, { ...options, back$: () => looks$ })),
        '^ 1s !',
      ).toBe(at({ '0s': 'f', '50ms': 's' }));
      m.expectSubscriptions(looks$.subscriptions).toBe('^ 49ms !');
    }),
  );
});
