import { Readable } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { looked, serviceFigures } from '../../src/pilot-agent/run/status/request-figures.ts';
import { marbles } from '../support/marbles/marbles.ts';

const counts = (completed: number, failed = 0) =>
  `http.inbound_a.downstream_rq_completed: ${completed}\nhttp.inbound_a.downstream_rq_5xx: ${failed}`;
const answer = (value: string) => ({ ok: true as const, value });
const none: Parameters<typeof looked>[0] = { kept: [], report: undefined };

describe('what Envoy says of its service', () => {
  it(
    'is asked for every 5 s and only while somebody looks, once for all who look',
    marbles((m) => {
      const paths: string[] = [];
      const admin = {
        open: (path: string) => {
          paths.push(path);
          return of(
            Object.assign(Readable.from([]), { statusCode: 503 }) as unknown as IncomingMessage,
          );
        },
      };
      const looks$ = serviceFigures(admin);
      // Two subscribers look for 12 s, and then none for a minute.
      m.expectObservable(looks$, '^ 12s !').toBe('a 4999ms b 4999ms c', reports(0, 5, 10));
      m.expectObservable(looks$, '- 6s ^ 3s !').toBe('- 6s b', reports(0, 5, 10));
      m.expectObservable(looks$, '72s ^ 1s !').toBe('72s a', reports(72, 0, 0));
      m.flush();
      expect(paths).toHaveLength(2 * 4);
    }),
  );

  it('is what came in the last minute; of the first look, since the start of Envoy', () => {
    const listeners = answer('{}');
    const after = [100, 160, 400].reduce(
      (before, requests, index) =>
        looked(before, answer(counts(requests, index)), listeners, 1_000 + index * 40_000),
      none,
    );
    expect(looked(none, answer(counts(100)), listeners, 1_000).report).toMatchObject({
      inbound: { requests: 100 },
    });
    expect(looked(none, answer(counts(100)), listeners, 1_000).report).not.toHaveProperty('overMs');
    expect(after.report).toMatchObject({ overMs: 40_000, inbound: { requests: 240, failures: 1 } });
    expect(after.report).not.toHaveProperty('outbound');
  });

  it('begins anew with an Envoy that counts from 0, and keeps what it knows over a silence', () => {
    const first = looked(none, answer(counts(100)), answer('{}'), 1_000);
    const silent = looked(
      first,
      { ok: false, error: new Error('connect ECONNREFUSED') },
      answer('{}'),
      6_000,
    );
    expect(silent.report).toMatchObject({ state: 'silent', reason: 'connect ECONNREFUSED' });
    expect(looked(silent, answer(counts(130)), answer('{}'), 11_000).report).toMatchObject({
      overMs: 10_000,
      inbound: { requests: 30 },
    });
    expect(looked(silent, answer(counts(7)), answer('{}'), 11_000).report).toMatchObject({
      inbound: { requests: 7 },
    });
  });
});

/** Returns reports of silences at these seconds, as `a`, `b` and `c`. */
function reports(...seconds: readonly [number, number, number]) {
  const report = (second: number) => ({
    at: new Date(second * 1_000).toISOString(),
    state: 'silent',
    reason: 'Envoy answers 503',
  });
  return { a: report(seconds[0]), b: report(seconds[1]), c: report(seconds[2]) };
}
