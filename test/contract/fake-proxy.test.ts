import { EMPTY, type Observable } from 'rxjs';
import { expect } from 'vitest';
import { marbles } from '../support/marbles/marbles.ts';
import { readingOf } from '../../src/testing/reading.ts';
import { fakeProxy } from '../../src/testing/fake-proxy.ts';
import { proxyContract } from './proxy-contract.ts';
import type { Life, World } from './stage.ts';

const diagrams: Record<Life, string> = {
  serves: 'S',
  'ends cleanly by itself': 'S 999ms c',
  'is killed by somebody else': 'S 999ms k',
  'fails for want of key.pem': 'S 49ms f',
  'finds its port taken': 'S 49ms p',
  'can not be started': 'n',
  'has no admin endpoint': 'S',
  'is told to end 3 s after its child is LIVE': 'S',
};

proxyContract((life, trial) =>
  marbles((m) => {
    const frozen = new Set<number>();
    let inFlight = 0;
    let spoiled = false;
    let sick = false;
    const mute = life === 'has no admin endpoint';
    // If a child is halted, its parent answers. If a process without a parent is halted, none
    // answers.
    const health = (epoch: number) => {
      if (mute) return '?';
      if (frozen.has(epoch)) return epoch > 0 && !frozen.has(epoch - 1) ? 'u' : 's';
      return sick ? 'u' : undefined;
    };
    // The fake reads its script at each request, so a test can change the script meanwhile.
    const fake = fakeProxy(m, {
      processes: [diagrams[life], diagrams[life]],
      ...(life === 'is told to end 3 s after its child is LIVE' && { parentShutdown: 3_000 }),
      get health() {
        return [health(0), health(1)];
      },
      get checks() {
        return [spoiled ? '(n|)' : '(y|)'];
      },
      get active() {
        return [mute || frozen.size > 0 ? '?' : String(inFlight)];
      },
      get ignoresTerm() {
        return [...frozen];
      },
    });
    const alive = () =>
      fake.lives.flat().filter(({ unsubscribedFrame }) => unsubscribedFrame === Infinity).length;

    const end: { error?: unknown; completed?: true } = {};
    const world: World = {
      reading: readingOf('hash'),
      proxy: fake.proxy,
      slack: 0,
      alive,
      remains: () => Array.from({ length: alive() }, () => 'a process'),
      freeze: (epoch) => void frozen.add(epoch),
      thaw: (epoch) => void frozen.delete(epoch),
      spoil: () => (spoiled = true),
      sicken: () => done(() => (sick = true)),
      serves: () => EMPTY,
      refuses: () => EMPTY,
      ask: () => done(() => inFlight++),
      answer: () => done(() => (inFlight = 0)),
    };
    trial.in(world).subscribe({
      error: (error: unknown) => (end.error = error),
      complete: () => (end.completed = true),
    });
    m.flush();
    if ('error' in end) throw end.error as Error;
    expect(end.completed).toBe(true);
  })(),
);

function done(action: () => void): Observable<never> {
  action();
  return EMPTY;
}
