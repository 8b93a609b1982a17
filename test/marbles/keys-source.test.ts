import { describe, expect, it } from 'vitest';
import { TestScheduler } from 'rxjs/testing';
import {
  asyncScheduler,
  concat,
  filter,
  firstValueFrom,
  map,
  NEVER,
  of,
  takeUntil,
  timer,
} from 'rxjs';
import type { KeysAnswer } from '../../src/pilot-discovery/registry/keys/fetch-keys.ts';
import {
  type KeysRequest,
  keysSource,
} from '../../src/pilot-discovery/registry/keys/keys-source.ts';
import type { StoreEvent } from '../../src/pilot-discovery/environment/store-event.ts';

const from = (name: string) => ({ has: 'keys', url: `https://${name}`, timeoutMs: 5_000 }) as const;
const user = (name: string) => ({
  key: `RequestAuthentication/default/${name}`,
  origin: { source: 'files', path: 'a.yaml', line: 1 },
  field: 'spec.jwtRules[0].jwksUri',
});
const keysRequest = (others: KeysRequest['others'], ...names: readonly string[]): KeysRequest => ({
  others,
  wanted: new Map(
    names.map((name) => [`keys https://${name}`, { from: from(name), users: [user(name)] }]),
  ),
});

/** Returns an event as text: `keys a=1 b=2` with the current keys, `flaws …`, or `synced`. */
function shown(event: StoreEvent): string {
  if (event.type === 'fetched-keys')
    return `keys ${[...event.keys].map(([id, keys]) => `${id.slice(-1)}=${keys}`).join(' ')}`;
  if (event.type !== 'flaws') return event.type;
  return `flaws ${event.flaws.map(({ key, reason }) => `${key?.slice(-1)}: ${reason}`).join(' ')}`;
}

type Answer = readonly [ms: number, keys: string | undefined];

/**
 * Returns the events, each with its time in ms. `asks` contains the requests and their times.
 * `answers` contains the answers of each address; the last one repeats.
 */
function timedEvents(
  asks: readonly (readonly [ms: number, request: KeysRequest])[],
  answers: Readonly<Record<string, readonly Answer[]>>,
  until: number,
): readonly string[] {
  const lines: string[] = [];
  const counts = new Map<string, number>();
  const scheduler = new TestScheduler(() => undefined);
  scheduler.run(() => {
    const request$ = concat(
      ...asks.map(([ms, request], index) =>
        timer(ms - (asks[index - 1]?.[0] ?? 0)).pipe(map(() => request)),
      ),
      NEVER,
    );
    const fetch$ = ({ url }: { readonly url: string }) => {
      const count = counts.get(url) ?? 0;
      counts.set(url, count + 1);
      const those = answers[url.slice(-1)] ?? [];
      const [ms, keys] = those[Math.min(count, those.length - 1)] ?? [0, undefined];
      const result: KeysAnswer =
        keys === undefined ? { ok: false, reason: 'it is away' } : { ok: true, keys };
      return timer(ms).pipe(map(() => result));
    };
    keysSource(request$, fetch$, scheduler)
      .pipe(takeUntil(timer(until)))
      .subscribe({
        next: (event) => lines.push(`${scheduler.now()} ${shown(event)}`),
        error: (error: unknown) => lines.push(String(error)),
      });
  });
  return lines;
}

const minute = 60_000;

describe('the source of keys', () => {
  it('is synced when the others are, if nothing is asked', () => {
    expect(
      timedEvents(
        [
          [0, keysRequest('reading')],
          [10, keysRequest('synced')],
        ],
        {},
        100,
      ),
    ).toEqual(['10 synced']);
  });

  it('is synced when each address has been tried', () => {
    expect(
      timedEvents(
        [[0, keysRequest('synced', 'a', 'b')]],
        { a: [[10, '1']], b: [[30, undefined]] },
        100,
      ),
    ).toEqual([
      '10 keys a=1',
      '30 synced',
      '80 flaws b: the keys cannot be fetched: it is away; each token of the issuer is refused',
    ]);
  });

  it('fetches again every 20 minutes, and tells what differs', () => {
    expect(
      timedEvents(
        [[0, keysRequest('synced', 'a')]],
        {
          a: [
            [0, '1'],
            [0, '1'],
            [0, '2'],
          ],
        },
        50 * minute,
      ),
    ).toEqual(['0 keys a=1', '0 synced', `${40 * minute} keys a=2`]);
  });

  it('tries again soon after a failure, and keeps what it had', () => {
    const answers: readonly Answer[] = [
      [0, '1'],
      [0, undefined],
      [0, undefined],
      [0, undefined],
      [0, '2'],
    ];
    expect(timedEvents([[0, keysRequest('synced', 'a')]], { a: answers }, 30 * minute)).toEqual([
      '0 keys a=1',
      '0 synced',
      `${20 * minute + 50} flaws a: the keys cannot be fetched: it is away; the previous keys are used`,
      `${20 * minute + 7_000} keys a=2`,
      `${20 * minute + 7_050} flaws `,
    ]);
  });

  it('waits for an answer as long as the rule says', () => {
    expect(timedEvents([[0, keysRequest('synced', 'a')]], { a: [[6_000, '1']] }, 5_500)).toEqual([
      '5000 synced',
      '5050 flaws a: the keys cannot be fetched: there is no answer within 5000 ms; each token of the issuer is refused',
    ]);
  });

  it('tells the flaws of many addresses together', () => {
    const names = ['a', 'b', 'c'];
    const away = (name: string) =>
      `${name}: the keys cannot be fetched: it is away; each token of the issuer is refused`;
    const answers = { a: [[0, undefined]], b: [[20, undefined]], c: [[40, undefined]] } as const;
    expect(timedEvents([[0, keysRequest('synced', ...names)]], answers, 500)).toEqual([
      '40 synced',
      `90 flaws ${names.map(away).join(' ')}`,
    ]);
  });

  const patient = (timeoutMs: number): KeysRequest => ({
    others: 'synced',
    wanted: new Map([
      ['keys https://a', { from: { ...from('a'), timeoutMs }, users: [user('a')] }],
    ]),
  });

  it('is synced 10 s after the others, however long a rule waits for its issuer', () => {
    expect(timedEvents([[0, patient(30_000)]], { a: [[20_000, '1']] }, minute)).toEqual([
      '10000 synced',
      '20000 keys a=1',
    ]);
  });

  it('waits a minute at most for an answer', () => {
    expect(timedEvents([[0, patient(1_000 * 3_600_000)]], { a: [[70_000, '1']] }, 61_000)).toEqual([
      '10000 synced',
      '60050 flaws a: the keys cannot be fetched: there is no answer within 60000 ms; each token of the issuer is refused',
    ]);
  });

  const failing = Array.from({ length: 9 }, (): Answer => [0, undefined]);

  it('waits 10 s at most between tries while there are no keys', () => {
    const time = 1_000 + 2_000 + 4_000 + 8_000 + 5 * 10_000;
    const answers: readonly Answer[] = [...failing, [0, '1']];
    expect(timedEvents([[0, keysRequest('synced', 'a')]], { a: answers }, 10 * minute)).toContain(
      `${time} keys a=1`,
    );
  });

  it('waits a minute at most between tries while the last keys stay', () => {
    const time = 20 * minute + 63_000 + 3 * minute;
    const answers: readonly Answer[] = [[0, '1'], ...failing, [0, '2']];
    expect(timedEvents([[0, keysRequest('synced', 'a')]], { a: answers }, 30 * minute)).toContain(
      `${time} keys a=2`,
    );
  });

  it('forgets what is no longer asked for, and fetches what is new', () => {
    expect(
      timedEvents(
        [
          [0, keysRequest('synced', 'a')],
          [100, keysRequest('synced', 'b')],
          [200, keysRequest('synced', 'a', 'b')],
        ],
        {
          a: [
            [0, '1'],
            [0, '3'],
          ],
          b: [[10, '2']],
        },
        300,
      ),
    ).toEqual(['0 keys a=1', '0 synced', '100 keys ', '110 keys b=2', '200 keys b=2 a=3']);
  });

  it('abandons what is no longer asked for', () => {
    expect(
      timedEvents(
        [
          [0, keysRequest('reading', 'a')],
          [5, keysRequest('synced')],
        ],
        { a: [[10, '1']] },
        100,
      ),
    ).toEqual(['5 synced']);
  });

  it('takes the failures of 2,000 addresses in a moment', async () => {
    const names = Array.from({ length: 2_000 }, (_, index) => `${index}`);
    const request$ = concat(of(keysRequest('synced', ...names)), NEVER);
    const away: KeysAnswer = { ok: false, reason: 'it is away' };
    const before = process.cpuUsage();
    const whole$ = keysSource(request$, () => of(away), asyncScheduler).pipe(
      filter((event) => event.type === 'flaws' && event.flaws.length === names.length),
    );
    await firstValueFrom(whole$, { defaultValue: undefined });
    // 0.3 s, and 11 s if each failure looked at all addresses.
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(3);
  });
});
