import { filter, map, merge, mergeMap, type Observable, scan, Subject, tap } from 'rxjs';
import { describe, it } from 'vitest';
import { waitLimits } from '../../src/pilot-discovery/push/wait-limits.ts';
import { ofType } from '../../src/operators/tagged-union.ts';
import {
  newProxyStream,
  type ProxyEffect,
  type ProxyEvent,
} from '../../src/pilot-discovery/push/proxy-stream.ts';
import { type ProxyStep, reduceProxy } from '../../src/pilot-discovery/push/reduce-proxy.ts';
import {
  type TypedView,
  typeUrls,
  type View,
  type XdsType,
} from '../../src/pilot-discovery/push/view.ts';
import type { EnvoyRequest, Variant } from '../../src/shared/xds/messages.ts';
import { at } from '../../src/testing/at.ts';
import { marbles } from '../support/marbles/marbles.ts';

const typed = (version: string, ...names: readonly string[]): TypedView => ({
  version,
  resources: new Map(
    names.map((name) => [name, { name, version, body: Buffer.from(version), keys: [] }]),
  ),
});
const view = (version: string): View => ({
  snapshot: 1,
  cluster: typed(version, 'one', 'two'),
  endpoint: typed(version, 'one'),
  listener: typed(version, 'first'),
  route: typed(version, '80'),
});

const letters: Readonly<Record<string, XdsType>> = {
  c: 'cluster',
  e: 'endpoint',
  l: 'listener',
  r: 'route',
};

/**
 * Emits what a client receives, one letter for each type. A small letter of `client$` requests a
 * type, and its capital ACKs the last answer of that type. `v` and `w` are an older and a newer
 * view.
 */
function sent(variant: Variant, client$: Observable<string>): Observable<string> {
  const nonces = new Map<string, string>();
  const effect$ = new Subject<ProxyEffect>();
  const wait$ = effect$.pipe(
    filter((effect) => effect.type === 'unsent' || effect.type === 'answer'),
  );
  const event = (sign: string): ProxyEvent => {
    if (sign === 'v' || sign === 'w') return { type: 'view', view: view(sign) };
    const type = letters[sign.toLowerCase()] ?? 'cluster';
    const named = { endpoint: ['one'], route: ['80'], cluster: [], listener: [] }[type];
    const isAccepted = sign !== sign.toLowerCase();
    const names: EnvoyRequest['names'] =
      variant === 'delta'
        ? { kind: 'change', add: isAccepted ? [] : named, remove: [], versions: {} }
        : { kind: 'all', names: named, version: '' };
    const node = { id: 'sidecar~10.0.0.1~a.b~c' } as EnvoyRequest['node'];
    const nonce = isAccepted ? (nonces.get(typeUrls[type]) ?? '') : '';
    return {
      type: 'request',
      request: { node, typeUrl: typeUrls[type], nonce, refusal: undefined, names },
    };
  };
  return merge(client$.pipe(map(event)), waitLimits(client$, wait$)).pipe(
    scan(([state], proxyEvent) => reduceProxy(state, proxyEvent), [
      newProxyStream(variant),
      [],
    ] as ProxyStep),
    mergeMap(([, effects]) => effects),
    tap((effect) => effect$.next(effect)),
    ofType('answer'),
    map(({ answer }) => answer),
    tap(({ typeUrl, nonce }) => nonces.set(typeUrl, nonce)),
    map(
      ({ typeUrl }) =>
        Object.keys(letters).find((letter) => typeUrls[letters[letter] ?? 'cluster'] === typeUrl) ??
        '?',
    ),
  );
}

describe.each<Variant>(['delta', 'state-of-the-world'])('a client, %s', (variant) => {
  it(
    'that accepts no clusters is given its first listeners and routes after 5 s',
    marbles((m) => {
      const client = '  vcelr';
      const expected = '-ce 5s (lr)';
      m.expectObservable(sent(variant, m.hot(client))).toBe(expected);
    }),
  );

  it(
    'that accepts no clusters is given the routes that it asks for later at once',
    marbles((m) => {
      const client = '  vcel 7s     r';
      const expected = '-ce  5s l 2s r';
      m.expectObservable(sent(variant, m.hot(client))).toBe(expected);
    }),
  );

  it(
    'that accepts no clusters is given no other listeners and routes than the first',
    marbles((m) => {
      const client = '  vcelr 6s  L 1ms  R  9s w';
      const expected = '-ce 5s (lr)';
      m.expectObservable(sent(variant, m.hot(client))).toBe(expected);
    }),
  );

  it(
    'that accepts clusters waits for nothing but that, as before',
    marbles((m) => {
      const client = '  vcelr 1s     C   1s     E';
      const expected = '-ce   1002ms - 1s (lr)';
      m.expectObservable(sent(variant, m.hot(client))).toBe(expected);
    }),
  );

  it(
    'that accepts clusters late, once it has listeners, is given new ones only after the new clusters',
    marbles((m) => {
      const client = '  vcelr CELR 9s      w 8s        CE';
      const expected = '-ce--- (lr) 8999ms (ce) 7998ms   (lr)';
      m.expectObservable(sent(variant, m.hot(client))).toBe(expected);
    }),
  );

  it(
    'that accepts no endpoints is given listeners and routes after 5 s',
    marbles((m) => {
      const client = '  vcelr CELR 9s w      C';
      const expected = '-ce--- (lr) 8999ms (ce) 4996ms (lr)';
      m.expectObservable(sent(variant, m.hot(client))).toBe(expected);
    }),
  );

  it(
    'that asks for no endpoints waits 5 s for them, even if clusters change meanwhile',
    marbles((m) => {
      const client = 'vclr C 2s w C 2s v C 2s w';
      const expected = at({
        '1ms': 'c',
        '2005ms': 'c',
        '4007ms': 'c',
        '5002ms': 'lr',
        '6009ms': 'c',
      });
      m.expectObservable(sent(variant, m.hot(client))).toBe(expected);
    }),
  );
});
