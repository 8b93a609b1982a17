import { EventEmitter } from 'node:events';
import { Subject, VirtualTimeScheduler } from 'rxjs';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  type Call,
  firstRequests,
  type StreamMessage,
} from '../../../../src/pilot-discovery/push/first-request.ts';
import type { Variant } from '../../../../src/shared/xds/messages.ts';

class FakeCall extends EventEmitter {
  readonly name: string;
  isPaused = false;

  constructor(name: string) {
    super();
    this.name = name;
  }

  pause() {
    this.isPaused = true;
  }
}

const first: StreamMessage = { type: 'refused', reason: 'only a test' };

describe('firstRequests', () => {
  let scheduler: VirtualTimeScheduler;
  let call$: Subject<readonly [Variant, Call]>;
  let signs: string[];
  /** The cost of the beginning of a stream, in ms. */
  let cost: number;
  beforeEach(() => {
    [scheduler, call$, signs, cost] = [new VirtualTimeScheduler(), new Subject(), [], 0];
    firstRequests(call$, { longest: 10_000, most: 2 }, scheduler).subscribe({
      next: (sign) => {
        const { name } = sign.call as unknown as FakeCall;
        signs.push(
          `${scheduler.frame} ${name} ${sign.type === 'silent' ? sign.reason : sign.type}`,
        );
        scheduler.frame += cost;
      },
      error: (bug: unknown) => signs.push(String(bug)),
    });
  });
  const comes = (name: string) => {
    const call = new FakeCall(name);
    call$.next(['delta', call as unknown as Call]);
    return call;
  };

  it('lets a stream begin with its first request, and pauses it until somebody listens', () => {
    const call = comes('a');
    call.emit('data', first);
    expect(call.isPaused).toBe(true);
    expect(call.listenerCount('data')).toBe(0);
    scheduler.flush();
    expect(signs).toEqual(['0 a begun']);
  });

  it('gives up a stream that says nothing for 10 s', () => {
    comes('a');
    scheduler.schedule(() => comes('b'), 4_000);
    scheduler.flush();
    expect(signs).toEqual([
      '10000 a it has asked for nothing within 10 s',
      '14000 b it has asked for nothing within 10 s',
    ]);
  });

  it('gives up the oldest of too many that say nothing', () => {
    comes('a').emit('data', first);
    for (const name of ['b', 'c', 'd']) comes(name);
    scheduler.maxFrames = 0;
    scheduler.flush();
    expect(signs).toEqual([
      '0 a begun',
      '0 b it has asked for nothing, and 2 streams have come since',
    ]);
  });

  it('forgets a stream that has gone before or after its first request', () => {
    comes('a').emit('cancelled');
    const gone = comes('b');
    gone.emit('data', first);
    gone.emit('cancelled');
    scheduler.flush();
    expect(signs).toEqual([]);
  });

  it('gives up many in slices, so that others have their turn', () => {
    cost = 2;
    scheduler.maxFrames = 100;
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) comes(name);
    scheduler.schedule(() => signs.push(`${scheduler.frame} another has its turn`), 1);
    scheduler.flush();
    expect(signs.map((line) => line.split(' ')[1])).toEqual(['a', 'b', 'c', 'another', 'd']);
  });

  it('lets many begin in slices, so that others have their turn', () => {
    cost = 2;
    for (const name of ['a', 'b', 'c', 'd']) comes(name).emit('data', first);
    scheduler.schedule(() => signs.push(`${scheduler.frame} another has its turn`), 1);
    scheduler.flush();
    expect(signs.map((line) => line.replace(/^\d+ /, ''))).toEqual([
      'a begun',
      'b begun',
      'c begun',
      'another has its turn',
      'd begun',
    ]);
  });
});
