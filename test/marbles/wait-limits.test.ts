import { NEVER } from 'rxjs';
import { describe, it } from 'vitest';
import type { ProxyEffect } from '../../src/pilot-discovery/push/proxy-stream.ts';
import { typeUrls, type XdsType } from '../../src/pilot-discovery/push/view.ts';
import { waitLimits } from '../../src/pilot-discovery/push/wait-limits.ts';
import { at } from '../../src/testing/at.ts';
import { marbles } from '../support/marbles/marbles.ts';

const values = { i: { type: 'introduced' }, w: { type: 'warmed' } };

const unsent = (type: XdsType, waitsFor: 'clusters' | 'endpoints' | 'in flight' | undefined) =>
  ({ type: 'unsent', typeUrl: typeUrls[type], waitsFor }) as const;
const answer = (type: XdsType) =>
  ({ type: 'answer', answer: { typeUrl: typeUrls[type] } }) as Extract<
    ProxyEffect,
    { type: 'answer' }
  >;
const effects = {
  c: unsent('listener', 'clusters'),
  e: unsent('listener', 'endpoints'),
  l: answer('listener'),
  d: unsent('route', 'clusters'),
  f: unsent('route', 'endpoints'),
  r: unsent('route', undefined),
  k: answer('cluster'),
  n: unsent('cluster', 'in flight'),
};

describe('the limits of waits', () => {
  it(
    'has a proxy introduced 1 s after its first request, whatever it asks then',
    marbles((m) => {
      const request$ = m.hot('   -r-r 400ms r|');
      const effect$ = m.hot<(typeof effects)[keyof typeof effects]>('  -|');
      m.expectObservable(waitLimits(request$, effect$)).toBe('- 1s (i|)', values);
    }),
  );

  it.each([
    {
      what: 'waits 5 s, however many clusters are sent meanwhile',
      effect: at({ '0s': 'c', '2s': 'k', '2.1s': 'e', '4s': 'k', '4.1s': 'c' }),
      expected: at({ '5s': 'w' }),
    },
    {
      what: 'waits no longer than something waits',
      effect: at({ '0s': 'cd', '2s': 'l', '3s': 'r', '4s': 'f', '6s': 'r' }),
      expected: '',
    },
    {
      what: 'waits 5 s again for endpoints, if the clusters are ACKed after that',
      effect: at({ '0s': 'c', '7s': 'e' }),
      expected: at({ '5s': 'w', '12s': 'w' }),
    },
    {
      what: 'waits once for the same',
      effect: at({ '0s': 'e', '7s': 'f', '8s': 'e' }),
      expected: at({ '5s': 'w' }),
    },
    {
      what: 'waits for no answer in flight',
      effect: at({ '0s': 'n' }),
      expected: '',
    },
  ])('$what', ({ effect, expected }) => {
    marbles((m) => {
      m.expectObservable(waitLimits(NEVER, m.hot(effect, effects)), '20s !').toBe(expected, values);
    })();
  });
});
