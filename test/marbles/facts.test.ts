import type { RunHelpers } from 'rxjs/testing';
import { map, NEVER, type Observable, of } from 'rxjs';
import { describe, it } from 'vitest';
import { type Platform, unknownPlatform } from '../../src/pilot-agent/bootstrap/cloud.ts';
import { factsOf } from '../../src/pilot-agent/run/start/facts.ts';
import { marbles } from '../support/marbles/marbles.ts';

const nothing = { statsdUdpAddress: '', customConfigFile: '', cpuLimit: 7 };
const values = {
  u: unknownPlatform,
  a: { ...unknownPlatform, metadata: { of: 'a' } },
  b: { ...unknownPlatform, metadata: { of: 'b' } },
};

/** Expects the platform that readings at these moments know. */
function drawn(
  m: RunHelpers,
  platform$: Observable<Platform>,
  readings: readonly string[],
  expected: readonly string[],
): void {
  const factsFor$ = factsOf(platform$);
  for (const [index, reading] of readings.entries()) {
    const platforms$ = factsFor$(nothing).pipe(map(({ platform }) => platform));
    m.expectObservable(platforms$, reading).toBe(expected[index] ?? '', values);
  }
}

describe('the platform, as a fact', () => {
  it(
    'is waited for until it is known',
    marbles((m) => drawn(m, m.cold('a 299ms (b|)', values), ['^ 2s !'], ['300ms (b|)'])),
  );

  it(
    'is waited for 1 s: what it has said by then counts, and what it says later counts for later epochs',
    marbles((m) => {
      const platform$ = m.cold(' a 2s (b|)', values);
      drawn(
        m,
        platform$,
        ['^ 9s !', '1500ms ^ 9s !', '3s ^ 9s !'],
        ['1s (a|)', '1500ms (a|)', '3s (b|)'],
      );
      m.expectSubscriptions(platform$.subscriptions).toBe('^ 2s !');
    }),
  );

  it(
    'is unknown after 1 s if nothing is said at all',
    marbles((m) => drawn(m, NEVER, ['^ 2s !'], ['1s (u|)'])),
  );

  it(
    'is not waited for if it says all at once',
    marbles((m) => drawn(m, of(values.a), ['^ 2s !'], ['(a|)'])),
  );
});

it(
  'the limits are facts of each epoch, read with what the environment says',
  marbles((m) => {
    const cpu$ = factsOf(of(unknownPlatform))(nothing).pipe(map(({ limits }) => limits.cpu));
    m.expectObservable(cpu$).toBe('(c|)', { c: 7 });
  }),
);
