import { map, type Observable, of, Subject } from 'rxjs';
import { describe, it } from 'vitest';
import type { AdminClient } from '../../src/proxy/admin-client.ts';
import { applyRuntime, type RuntimeWish } from '../../src/pilot-agent/run/sources/apply-runtime.ts';
import { noSettings } from '../../src/pilot-agent/run/start/runtime-settings.ts';
import { at } from '../../src/testing/at.ts';
import { marbles } from '../support/marbles/marbles.ts';

const started = { logLevel: 'warning', componentLogLevel: '' };
const a: RuntimeWish = { epoch: 0, settings: { ...noSettings, values: { k: 'a' } } };
const b: RuntimeWish = { epoch: 0, settings: { ...noSettings, values: { k: 'b' } } };
const wishes: Record<string, RuntimeWish> = {
  n: { epoch: 0, settings: noSettings },
  a,
  b,
  c: { ...b, epoch: 1 },
  d: { epoch: 0, settings: { ...a.settings, logLevel: 'debug' } },
};

/**
 * Returns an admin endpoint that answers with these statuses in turn; the last one repeats. 0
 * stands for no answer.
 */
function admin(...statuses: readonly number[]) {
  const requests$ = new Subject<string>();
  let next = 0;
  function request(_: string, path: string): ReturnType<AdminClient['request']> {
    requests$.next(path.replace('/runtime_modify?k=', ''));
    const status = statuses[Math.min(next++, statuses.length - 1)] ?? 200;
    return of(
      status === 0
        ? ({ ok: false, error: new Error('silent') } as const)
        : ({ ok: true, value: { status, body: 'no\n' } } as const),
    );
  }
  return { admin: { request }, requests$ };
}

/** Emits `t` if Envoy takes the values, and `f` if it refuses them. */
function signs(
  wish$: Observable<RuntimeWish>,
  endpoint: Parameters<typeof applyRuntime>[1],
): Observable<string> {
  return applyRuntime(wish$, endpoint, started, () => 0.5).pipe(
    map(({ type }) => (type === 'runtime-told' ? 't' : 'f')),
  );
}

describe('runtime settings', () => {
  it(
    'are told to the Envoy that comes to serve, each change alone, and all of them to the next one',
    marbles((m) => {
      const { admin: endpoint, requests$ } = admin(200);
      const wish$ = m.hot(at({ '1s': 'n', '2s': 'a', '5s': 'b', '9s': 'c' }), wishes);
      m.expectObservable(requests$).toBe(at({ '2s': 'a', '5s': 'b', '9s': 'b' }));
      m.expectObservable(signs(wish$, endpoint), '^ 20s !').toBe(
        at({ '2s': 't', '5s': 't', '9s': 't' }),
      );
    }),
  );

  it(
    'are told again after 200 ms, doubling, while the admin endpoint is silent or refuses',
    marbles((m) => {
      const { admin: endpoint } = admin(0, 503, 200);
      m.expectObservable(signs(m.hot(at({ '1s': 'a' }), wishes), endpoint), '^ 20s !').toBe(
        at({ '1s': 'f', '1200ms': 'f', '1600ms': 't' }),
      );
    }),
  );

  it(
    'that were not taken are told in full with the next wish',
    marbles((m) => {
      const { admin: endpoint, requests$ } = admin(0, 200);
      m.expectObservable(requests$).toBe(at({ '1s': 'a', '1100ms': 'b' }));
      m.expectObservable(
        signs(m.hot(at({ '1s': 'a', '1100ms': 'b' }), wishes), endpoint),
        '^ 20s !',
      ).toBe(at({ '1s': 'f', '1100ms': 't' }));
    }),
  );

  it(
    'are told again if the next wish failed, because Envoy may have taken that one',
    marbles((m) => {
      const { admin: endpoint, requests$ } = admin(200, 0, 200);
      m.expectObservable(requests$).toBe(at({ '1s': 'a', '2s': 'b', '2100ms': 'a' }));
      m.expectObservable(
        signs(m.hot(at({ '1s': 'a', '2s': 'b', '2100ms': 'a' }), wishes), endpoint),
        '^ 20s !',
      ).toBe(at({ '1s': 't', '2s': 'f', '2100ms': 't' }));
    }),
  );

  it(
    'of which Envoy has only a part are taken back',
    marbles((m) => {
      const { admin: endpoint, requests$ } = admin(200, 0, 200);
      const wish$ = m.hot(at({ '1s': 'd', '1100ms': 'n', '2s': 'n' }), wishes);
      m.expectObservable(requests$).toBe(at({ '1s': 'lr', '1100ms': 'ie' }), {
        l: '/logging?level=debug',
        r: 'a',
        i: '/logging?level=warning',
        e: '',
      });
      m.expectObservable(signs(wish$, endpoint), '^ 20s !').toBe(at({ '1s': 'f', '1100ms': 't' }));
    }),
  );

  it(
    'that are none ask for nothing, and take back what was set',
    marbles((m) => {
      const { admin: endpoint, requests$ } = admin(200);
      m.expectObservable(requests$).toBe(at({ '2s': 'a', '3s': 'e' }), { a: 'a', e: '' });
      m.expectObservable(
        signs(m.hot(at({ '1s': 'n', '2s': 'a', '3s': 'n' }), wishes), endpoint),
        '^ 9s !',
      ).toBe(at({ '2s': 't', '3s': 't' }));
    }),
  );
});
