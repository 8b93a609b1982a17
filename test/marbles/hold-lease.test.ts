import {
  bufferTime,
  defer,
  delay,
  ignoreElements,
  map,
  merge,
  NEVER,
  type Observable,
  of,
  switchMap,
  tap,
  timer,
} from 'rxjs';
import { describe, it } from 'vitest';
import { holdLease } from '../../src/shared/kube/hold-lease.ts';
import type { KubeAnswer, KubeApi, KubeWriter } from '../../src/shared/kube/kube-api.ts';
import { at } from '../../src/testing/at.ts';
import { marbles } from '../support/marbles/marbles.ts';

interface Lease {
  readonly version: number;
  readonly spec: Readonly<Record<string, unknown>>;
}

/** Returns an API that has one Lease or none. Each answer takes 1 ms. */
function leaseApi() {
  let lease: Lease | undefined;
  let [state, answers]: ['up' | 'away' | 'forbidden' | 'silent', number] = ['up', 1];
  const refusal = (status: number | undefined, reason: string): KubeAnswer => ({
    ok: false,
    failure: { reason, status, pause: 0 },
  });
  const leaseAnswer = (): KubeAnswer =>
    lease === undefined
      ? refusal(404, 'no lease')
      : {
          ok: true,
          value: {
            metadata: { name: 'l', resourceVersion: String(lease.version) },
            spec: lease.spec,
          },
        };
  const reply$ = (answer: () => KubeAnswer): Observable<KubeAnswer> =>
    defer(() => {
      if (state === 'silent') return NEVER;
      const value =
        state === 'up'
          ? answer()
          : refusal(state === 'away' ? undefined : 403, state === 'away' ? 'away' : 'forbidden');
      return of(value).pipe(delay(answers));
    });
  const written = (body: string): KubeAnswer => {
    const { metadata, spec } = JSON.parse(body) as {
      readonly metadata: { readonly resourceVersion?: string };
      readonly spec: Lease['spec'];
    };
    const version = lease?.version ?? 0;
    if (lease !== undefined && metadata.resourceVersion !== String(version))
      return refusal(409, 'conflict');
    lease = { version: version + 1, spec: { ...lease?.spec, ...spec } };
    return leaseAnswer();
  };
  const api: KubeApi & KubeWriter = {
    get: () => reply$(leaseAnswer),
    create: (_, body) => reply$(() => written(body as string)),
    merge: (_, body) => reply$(() => written(body)),
    apply: () => NEVER,
    watch: () => NEVER,
  };
  return {
    api,
    become: (next: typeof state) => (state = next),
    answerAfter: (ms: number) => (answers = ms),
    /** Renews the lease as another program. */
    renew: () => lease && (lease = { ...lease, version: lease.version + 1 }),
    transitions: () => lease?.spec['leaseTransitions'],
  };
}

/** Emits the events of an instance, such as `a elected`. */
const instance$ = (
  { api }: ReturnType<typeof leaseApi>,
  holder: string,
  end$: Observable<unknown> = NEVER,
): Observable<string> =>
  holdLease(api, {
    ...{ namespace: 'ns', name: 'l', holder, forbidden: '', end$ },
    random: () => 0.5,
  }).pipe(map(({ type }) => `${holder} ${type}`));

const after$ = (ms: number, act: () => unknown): Observable<never> =>
  timer(ms).pipe(tap(act), ignoreElements());

const later$ = <T>(ms: number, source$: Observable<T>): Observable<T> =>
  timer(ms).pipe(switchMap(() => source$));

const values = {
  a: 'a elected',
  A: 'a resigned',
  r: 'a refused',
  b: 'b elected',
};

describe('holdLease', () => {
  it(
    'elects the first instance at once, and no other one as long as it renews the lease',
    marbles((m) => {
      const lease = leaseApi();
      m.expectObservable(
        merge(instance$(lease, 'a'), later$(5_000, instance$(lease, 'b'))),
        '^ 10m !',
      ).toBe(at({ '2ms': 'a' }), values);
    }),
  );

  it(
    'elects the next instance when the lease was not renewed for 15 s, and not before',
    marbles((m) => {
      const lease = leaseApi();
      m.expectObservable(instance$(lease, 'a'), '^ 20s !').toBe(at({ '2ms': 'a' }), values);
      // The last renewal is seen at 18008 ms; 15 s later, the next question confirms it.
      m.expectObservable(later$(1_000, instance$(lease, 'b')), '^ 60s !').toBe(
        at({ '35019ms': 'b' }),
        values,
      );
    }),
  );

  it(
    'stops 10 s after the last renewal that succeeded was sent, before another one may lead',
    marbles((m) => {
      const lease = leaseApi();
      const away$ = merge(
        after$(5_000, () => lease.become('silent')),
        after$(60_000, () => lease.become('up')),
      );
      // The renewal that was sent at 4003 ms succeeded.
      m.expectObservable(merge(instance$(lease, 'a'), away$), '^ 50s !').toBe(
        at({ '2ms': 'a', '14003ms': 'A' }),
        values,
      );
    }),
  );

  it(
    'leads on if the API was away for less than that',
    marbles((m) => {
      const lease = leaseApi();
      const away$ = merge(
        after$(5_000, () => lease.become('away')),
        after$(11_000, () => lease.become('up')),
      );
      m.expectObservable(merge(instance$(lease, 'a'), away$), '^ 5m !').toBe(
        at({ '2ms': 'a' }),
        values,
      );
    }),
  );

  it(
    'is not elected by an answer that comes after its deadline',
    marbles((m) => {
      const lease = leaseApi();
      lease.answerAfter(11_000);
      m.expectObservable(instance$(lease, 'a'), '^ 30s !').toBe('', values);
    }),
  );

  it(
    'is elected again after a long outage, also without another instance',
    marbles((m) => {
      const lease = leaseApi();
      const away$ = merge(
        after$(5_000, () => lease.become('away')),
        after$(60_000, () => lease.become('up')),
      );
      const elected$ = merge(instance$(lease, 'a'), away$).pipe(
        bufferTime(120_000),
        map((events) => events.join()),
      );
      m.expectObservable(elected$, '^ 121s !').toBe('120s e', {
        e: 'a elected,a resigned,a elected',
      });
    }),
  );

  it(
    'is elected after its answer came too late, when the lease was not renewed for 15 s',
    marbles((m) => {
      const lease = leaseApi();
      lease.answerAfter(11_000);
      const soon$ = after$(20_000, () => lease.answerAfter(1));
      const elected$ = merge(instance$(lease, 'a'), soon$).pipe(
        bufferTime(90_000),
        map((events) => events.join()),
      );
      m.expectObservable(elected$, '^ 91s !').toBe('90s e', { e: 'a elected' });
    }),
  );

  it(
    'stops when another instance has changed the lease',
    marbles((m) => {
      const lease = leaseApi();
      const rival$ = after$(5_000, () => lease.renew());
      m.expectObservable(merge(instance$(lease, 'a'), rival$), '^ 7s !').toBe(
        at({ '2ms': 'a', '6005ms': 'A' }),
        values,
      );
    }),
  );

  it(
    'reports a missing right once, and is elected when it has the right',
    marbles((m) => {
      const lease = leaseApi();
      lease.become('forbidden');
      const allowed$ = after$(100_000, () => lease.become('up'));
      m.expectObservable(merge(instance$(lease, 'a'), allowed$), '^ 130s !').toBe(
        at({ '1ms': 'r', '120009ms': 'a' }),
        values,
      );
    }),
  );

  it(
    'gives the lease back at the end: the next instance leads at its next question',
    marbles((m) => {
      const lease = leaseApi();
      const end$ = timer(7_000);
      m.expectObservable(
        merge(instance$(lease, 'a', end$), later$(1_000, instance$(lease, 'b'))),
        '^ 30s !',
      ).toBe(at({ '2ms': 'a', '7001ms': 'A', '7005ms': 'b' }), values);
    }),
  );

  it(
    'gives it back even if a renewal is under way',
    marbles((m) => {
      const lease = leaseApi();
      // The renewal is sent at 6004 ms.
      const slow$ = after$(6_003, () => lease.answerAfter(50));
      const end$ = timer(6_010);
      m.expectObservable(
        merge(instance$(lease, 'a', end$), slow$, later$(1_000, instance$(lease, 'b'))),
        '^ 12s !',
      ).toBe(at({ '2ms': 'a', '6104ms': 'A', '7103ms': 'b' }), values);
    }),
  );

  it(
    'takes part no longer once it has ended',
    marbles((m) => {
      const lease = leaseApi();
      const end$ = timer(7_000);
      m.expectObservable(merge(instance$(lease, 'a'), instance$(lease, 'b', end$)), '^ 5m !').toBe(
        at({ '2ms': 'a' }),
        values,
      );
    }),
  );
});
