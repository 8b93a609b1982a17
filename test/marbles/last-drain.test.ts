import { setTimeout } from 'node:timers/promises';
import {
  asyncScheduler,
  concat,
  defer,
  EMPTY,
  ignoreElements,
  map,
  merge,
  NEVER,
  type Observable,
  of,
  share,
  takeUntil,
  tap,
  throwError,
  timer,
} from 'rxjs';
import type { RunHelpers } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { Launch, Proxy, Signal } from '../../src/epochs/ports.ts';
import { fixedTiming } from '../../src/epochs/timing.ts';
import { keepProcesses } from '../../src/pilot-agent/run/start/process-keeper.ts';
import { lastDrain } from '../../src/pilot-agent/run/end/last-drain.ts';
import { readingOf } from '../../src/testing/reading.ts';
import { at } from '../../src/testing/at.ts';
import type { Script } from '../../src/testing/fake-script.ts';
import { fakeProxy } from '../support/marbles/slow-envoy.ts';
import { marbles } from '../support/marbles/marbles.ts';

interface Drawn {
  readonly script: Script;
  /** The lineage of each epoch; 0 if left out. */
  readonly lineages?: readonly number[];
  /** The methods of the proxy that fail. */
  readonly broken?: Partial<Proxy>;
  readonly terminate$?: Observable<unknown>;
  readonly terminations?: number;
}

/**
 * Draws a last drain. A core that is gone at 10 s launched all processes; the last drain begins
 * then. The minimum of the drain is 5 s, its cap 20 s.
 */
function drawLastDrain(
  m: RunHelpers,
  { script, lineages = [], broken = {}, terminate$ = NEVER, terminations = 0 }: Drawn,
) {
  const fake = fakeProxy(m, script);
  const processes = keepProcesses({ ...fake.proxy, ...broken });
  const timing = { ...fixedTiming, parentShutdown: 60_000, drainMinimum: 5_000, drainCap: 20_000 };
  const launches = script.processes.map((_, epoch): Launch => {
    return {
      adopted: false,
      epoch,
      restartEpoch: epoch,
      lineage: lineages[epoch] ?? 0,
      sideBySide: false,
      reading: readingOf('a'),
    };
  });
  const core$ = merge(...launches.map((launch) => processes.proxy.run(launch, NEVER))).pipe(
    ignoreElements(),
    takeUntil(timer(10_000)),
  );
  const ended$ = concat(core$, lastDrain(processes, { terminate$, terminations }, timing)).pipe(
    tap({ finalize: () => processes.release() }),
    share(),
  );
  return { ...fake, ended$ };
}

/** A proxy whose streams never end. */
const endlessProxy: Proxy = {
  run: () => NEVER,
  health: () => NEVER,
  publishAdmin: () => NEVER,
  check: () => NEVER,
  drain: () => NEVER,
  active: () => NEVER,
};

describe('the last drain', () => {
  it(
    'drains the newest of each lineage, and ends each lineage from the youngest on',
    marbles((m) => {
      const run = drawLastDrain(m, { script: { processes: ['-', '-', '-'] }, lineages: [0, 0, 1] });
      // Beside a parent the number has to stay 0 for 6 s.
      m.expectObservable(run.ended$).toBe('16s |');
      m.expectObservable(run.drained$).toBe(at({ '10s': 'ab', '16s': 'cde' }), {
        a: 'g1',
        b: 'g2',
        c: 'p2',
        d: 'p1',
        e: 'p0',
      });
      m.expectObservable(run.signalled$).toBe('16s (TT)');
      for (const life of run.lives) m.expectSubscriptions(life).toBe(at({ '0s': '^', '16s': '!' }));
    }),
  );

  it(
    'waits until an Envoy is LIVE that comes up, for it would not hear',
    marbles((m) => {
      const run = drawLastDrain(m, { script: { processes: ['-'], health: ['u 11999ms l'] } });
      m.expectObservable(run.ended$).toBe('15s |');
      m.expectObservable(run.drained$).toBe(at({ '12s': 'a', '15s': 'b' }), { a: 'g0', b: 'p0' });
    }),
  );

  it(
    'kills a child that comes up still, which would end its parent',
    marbles((m) => {
      const run = drawLastDrain(m, {
        script: { processes: ['-', '-'], health: ['l', 'u'] },
        lineages: [0, 0],
      });
      m.expectObservable(run.ended$).toBe('16s |');
      m.expectObservable(run.signalled$).toBe('16s (KT)');
    }),
  );

  it(
    'is over as soon as no process is left',
    marbles((m) => {
      const run = drawLastDrain(m, {
        script: { processes: ['12s c', '14s k'], active: ['1', '1'] },
      });
      m.expectObservable(run.ended$).toBe('14s |');
      m.expectObservable(run.signalled$).toBe('');
    }),
  );

  it(
    'passes over a parent that has ended while its child was told to',
    marbles((m) => {
      const run = drawLastDrain(m, {
        script: { processes: ['-', '16500ms k', '-'], ignoresTerm: [2] },
      });
      m.expectObservable(run.ended$).toBe('17s |');
      m.expectObservable(run.signalled$).toBe(at({ '16s': 'T', '17s': 'KT' }));
      m.expectSubscriptions(run.lives[1] ?? []).toBe(at({ '0s': '^', '16.5s': '!' }));
    }),
  );

  it(
    'kills what does not end by SIGTERM',
    marbles((m) => {
      const run = drawLastDrain(m, { script: { processes: ['-'], ignoresTerm: [0] } });
      m.expectObservable(run.ended$).toBe('16s |');
      m.expectObservable(run.signalled$).toBe(at({ '15s': 'T', '16s': 'K' }));
    }),
  );

  it.each([
    {
      what: 'a first request changes nothing',
      requests: '11s s',
      before: 0,
      over: '31s',
      signalled: at({ '30s': 'T', '31s': 'K' }),
    },
    {
      what: 'a second one skips the drain',
      requests: '11s s 999ms s',
      before: 0,
      over: '13s',
      signalled: at({ '12s': 'T', '13s': 'K' }),
    },
    {
      what: 'a third one kills',
      requests: '11s s 99ms s 99ms s',
      before: 0,
      over: '11.2s',
      signalled: at({ '11.1s': 'T', '11.2s': 'K' }),
    },
    {
      what: 'those before it count',
      requests: '11s s 99ms s',
      before: 1,
      over: '11.1s',
      signalled: at({ '11s': 'T', '11.1s': 'K' }),
    },
  ] as const)('$what', ({ requests, before, over, signalled }) => {
    marbles((m) => {
      const script = { processes: ['-'], active: ['1'], ignoresTerm: [0] };
      const run = drawLastDrain(m, { script, terminate$: m.hot(requests), terminations: before });
      m.expectObservable(run.ended$).toBe(at({ [over]: '|' }));
      m.expectObservable(run.signalled$).toBe(signalled);
    })();
  });

  const fails$ = () => throwError(() => new Error('no'));
  const throws = () => {
    throw new Error('no');
  };

  it.each([
    {
      what: 'no count of what is in flight',
      broken: { active: fails$ },
      over: '30s',
      signalled: '30s T',
    },
    { what: 'a count that throws', broken: { active: throws }, over: '30s', signalled: '30s T' },
    { what: 'no answer to a drain', broken: { drain: fails$ }, over: '15s', signalled: '15s T' },
    { what: 'a health that throws', broken: { health: throws }, over: '15s', signalled: '15s T' },
  ] as const)('goes on with $what', ({ broken, over, signalled }) => {
    marbles((m) => {
      const run = drawLastDrain(m, { script: { processes: ['-'] }, broken });
      m.expectObservable(run.ended$).toBe(at({ [over]: '|' }));
      m.expectObservable(run.signalled$).toBe(signalled);
    })();
  });

  it(
    'gives up 10 s after the cap, and what is left is let go of then',
    marbles((m) => {
      const deaf: string[] = [];
      const endless$ = defer(() => {
        deaf.push('^');
        return concat(EMPTY, NEVER).pipe(
          tap({ unsubscribe: () => deaf.push(`! ${asyncScheduler.now()}`) }),
        );
      });
      const run = drawLastDrain(m, {
        script: { processes: ['-'] },
        broken: { run: () => endless$, drain: () => NEVER },
      });
      m.expectObservable(run.ended$).toBe('40s |');
      m.flush();
      expect(deaf).toEqual(['^', '! 40000']);
    }),
  );
});

describe('the last drain in real time', () => {
  it('does not give up at once if its cap is the longest timer', async () => {
    const processes = keepProcesses({
      ...endlessProxy,
      health: () => of('live' as const),
      active: () => of(1),
    });
    const timing = { ...fixedTiming, parentShutdown: 0, drainMinimum: 0, drainCap: 2 ** 31 - 1 };
    const launch: Launch = { adopted: true, epoch: 0, restartEpoch: 0, lineage: 0 };
    processes.proxy.run(launch, NEVER).subscribe().unsubscribe();
    let ends = 0;
    const requests = { terminate$: NEVER, terminations: 0 };
    const draining = lastDrain(processes, requests, timing).subscribe({
      complete: () => (ends += 1),
      error: (error: unknown) => {
        throw error as Error;
      },
    });
    await setTimeout(20); // a timer that is too long ends after 1 ms
    draining.unsubscribe();
    processes.release();
    expect(ends).toBe(0);
  });
});

describe('held processes', () => {
  it(
    'hear what they are sent, but not that their sender fails; that is an error of the run',
    marbles((m) => {
      const fake = fakeProxy(m, { processes: ['-'], ignoresTerm: [0] });
      const processes = keepProcesses(fake.proxy);
      const launch: Launch = { adopted: true, epoch: 0, restartEpoch: 0, lineage: 0 };
      const signals$ = m.cold<Signal>('1s u 999ms t 999ms #', { u: 'SIGUSR1', t: 'SIGTERM' });
      m.expectObservable(processes.proxy.run(launch, signals$).pipe(map(({ type }) => type))).toBe(
        '3s #',
      );
      m.expectObservable(fake.signalled$).toBe(at({ '1s': 'U', '2s': 'T' }));
      m.expectObservable(
        timer(8_000).pipe(
          tap(() => processes.release()),
          ignoreElements(),
        ),
      ).toBe('8s |');
      m.expectSubscriptions(fake.lives[0] ?? []).toBe(at({ '0s': '^', '8s': '!' }));
    }),
  );

  it(
    'are none any more after their end, and after the release a run that is unsubscribed ends',
    marbles((m) => {
      const fake = fakeProxy(m, { processes: ['1s c', '-', '-'] });
      const processes = keepProcesses(fake.proxy);
      const launch = (epoch: number): Launch => ({
        adopted: true,
        epoch,
        restartEpoch: 0,
        lineage: 0,
      });
      const numbers: (readonly number[])[] = [];
      m.expectObservable(processes.proxy.run(launch(0), NEVER).pipe(ignoreElements())).toBe('1s |');
      m.expectObservable(processes.proxy.run(launch(1), NEVER), '^ 2s !').toBe('-');
      m.expectObservable(
        timer(3_000).pipe(
          tap(() => numbers.push(processes.living().map(({ epoch }) => epoch))),
          tap(() => processes.release()),
          ignoreElements(),
        ),
      ).toBe('3s |');
      m.expectObservable(processes.proxy.run(launch(2), NEVER), '^ 5s !').toBe('-');
      m.expectSubscriptions(fake.lives[1] ?? []).toBe(at({ '0s': '^', '3s': '!' }));
      m.expectSubscriptions(fake.lives[2] ?? []).toBe('^ 5s !');
      m.flush();
      expect(numbers).toEqual([[1, 2]]);
    }),
  );
});
