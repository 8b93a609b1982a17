import { EventEmitter } from 'node:events';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { signals } from '../../src/streams/signals.ts';

const fail = (error: unknown) => expect.unreachable(String(error));

describe('signals', () => {
  it('emits the name of each signal, the second as well as the first, and never completes', () => {
    const emitter = new EventEmitter();
    const seen: string[] = [];
    const subscription = signals(['SIGTERM', 'SIGINT'], emitter).subscribe({
      next: (name) => seen.push(name),
      error: fail,
      complete: () => seen.push('end'),
    });
    for (const [name, number] of [
      ['SIGTERM', 15],
      ['SIGINT', 2],
      ['SIGTERM', 15],
    ] as const)
      emitter.emit(name, name, number);
    expect(seen).toEqual(['SIGTERM', 'SIGINT', 'SIGTERM']);
    subscription.unsubscribe();
    emitter.emit('SIGTERM', 'SIGTERM', 15);
    expect(seen).toHaveLength(3);
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
