import { EventEmitter } from 'node:events';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { signals, uncaught } from '../../../src/streams/process-events.ts';

const fail = (error: unknown) => expect.unreachable(String(error));

describe('signals', () => {
  it('emits the name of each signal, the second as well as the first, and never completes', () => {
    const emitter = new EventEmitter();
    const emitted: string[] = [];
    const subscription = signals(['SIGTERM', 'SIGINT'], emitter).subscribe({
      next: (name) => emitted.push(name),
      error: fail,
      complete: () => emitted.push('end'),
    });
    for (const [name, number] of [
      ['SIGTERM', 15],
      ['SIGINT', 2],
      ['SIGTERM', 15],
    ] as const)
      emitter.emit(name, name, number);
    expect(emitted).toEqual(['SIGTERM', 'SIGINT', 'SIGTERM']);
    subscription.unsubscribe();
    emitter.emit('SIGTERM', 'SIGTERM', 15);
    expect(emitted).toHaveLength(3);
  });

  it('leaves one listener behind for each signal, without which the default would kill the agent while it writes its last lines', () => {
    const emitter = new EventEmitter();
    signals(['SIGTERM', 'SIGINT'], emitter).subscribe().unsubscribe();
    signals(['SIGTERM'], emitter).subscribe().unsubscribe();
    expect(emitter.eventNames()).toEqual(['SIGTERM', 'SIGINT']);
    expect(emitter.listenerCount('SIGTERM')).toBe(1);
  });

  it('does not listen before it is subscribed to', () => {
    const emitter = new EventEmitter();
    void signals(['SIGTERM'], emitter);
    expect(emitter.eventNames()).toEqual([]);
  });

  it('never completes even without a signal to wait for', () => {
    const subscription = signals([]).subscribe({ error: fail });
    expect(subscription.closed).toBe(false);
    subscription.unsubscribe();
  });

  it('hears the signals of the process', async () => {
    const heard = firstValueFrom(signals(['SIGUSR2']), { defaultValue: undefined });
    process.kill(process.pid, 'SIGUSR2');
    expect(await heard).toBe('SIGUSR2');
  });
});

describe('uncaught', () => {
  const event = 'uncaughtException';

  it('emits what nobody has caught, to each who listens', () => {
    const process = new EventEmitter();
    const emitted: unknown[] = [];
    const subscriptions = [1, 2].map((n) =>
      uncaught(process).subscribe({
        next: (error) => emitted.push([n, error]),
        error: expect.unreachable,
      }),
    );
    process.emit(event, 'no', event);
    expect(emitted).toEqual([
      [1, 'no'],
      [2, 'no'],
    ]);
    for (const subscription of subscriptions) subscription.unsubscribe();
  });

  it('takes no notice before it is subscribed, and holds off the end of the process afterwards', () => {
    const process = new EventEmitter();
    const error$ = uncaught(process);
    expect(process.listenerCount(event)).toBe(0);
    for (let times = 0; times < 3; times++)
      error$.subscribe({ error: expect.unreachable }).unsubscribe();
    expect(process.listenerCount(event)).toBe(1);
  });
});
