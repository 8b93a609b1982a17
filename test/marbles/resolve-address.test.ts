import { describe, it } from 'vitest';
import { resolveAddress } from '../../src/pilot-agent/bootstrap/address.ts';
import { marbles } from '../support/marbles/marbles.ts';

const values = {
  a: { ok: true, address: '1.2.3.4:9125' },
  x: { ok: false, reason: "lookup failed for 'statsd': no answer within 5 s" },
};

describe('resolveAddress', () => {
  it(
    'waits for an answer of 4.999 s',
    marbles((m) => {
      const lookup$ = m.cold('4999ms (a|)', { a: ['1.2.3.4'] });
      const expected = '      4999ms (a|)';
      m.expectObservable(resolveAddress('statsd:9125', { lookup: () => lookup$ })).toBe(
        expected,
        values,
      );
    }),
  );

  it(
    'gives up after 5 s, as a value, and drops the question',
    marbles((m) => {
      const lookup$ = m.cold(' 20s (a|)', { a: ['1.2.3.4'] });
      const subscribed = '    ^ 4999ms !';
      const expected = '      5s (x|)';
      m.expectObservable(resolveAddress('statsd:9125', { lookup: () => lookup$ })).toBe(
        expected,
        values,
      );
      m.expectSubscriptions(lookup$.subscriptions).toBe(subscribed);
    }),
  );

  it(
    'asks nobody before it is subscribed to, and anew each time',
    marbles((m) => {
      const lookup$ = m.cold(' 1s (a|)', { a: ['1.2.3.4'] });
      const address$ = resolveAddress('statsd:9125', { lookup: () => lookup$ });
      m.expectObservable(address$, '5s ^').toBe('6s (a|)', values);
      m.expectObservable(address$, '9s ^').toBe('10s (a|)', values);
      m.expectSubscriptions(lookup$.subscriptions).toBe(['5s ^ 999ms !', '9s ^ 999ms !']);
    }),
  );
});
