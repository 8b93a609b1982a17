import { describe, expect, it } from 'vitest';
import { outsideOf } from '../../../../src/pilot-agent/run/outside.ts';

function heard(
  names: readonly NodeJS.Signals[],
  options: Parameters<typeof outsideOf>[0],
): readonly string[] {
  const emitted: string[] = [];
  const listening = outsideOf(options)
    .signals(names)
    .subscribe({
      next: (name) => emitted.push(name),
      error: (error: unknown) => emitted.push(String(error)),
    });
  process.emit('SIGUSR1');
  listening.unsubscribe();
  return emitted;
}

describe('outsideOf', () => {
  const signal = AbortSignal.abort();

  it('takes what the program says for a request to end, and for nothing else', () => {
    expect(heard(['SIGTERM', 'SIGINT'], { signal, obeys: false })).toEqual(['abort']);
    expect(heard(['SIGHUP'], { signal, obeys: false })).toEqual([]);
  });

  it('hears it once, when it comes', () => {
    const end = new AbortController();
    const emitted: string[] = [];
    outsideOf({ signal: end.signal, obeys: false })
      .signals(['SIGTERM'])
      .subscribe({ next: (name) => emitted.push(name), error: () => undefined });
    expect(emitted).toEqual([]);
    end.abort();
    end.abort();
    expect(emitted).toEqual(['abort']);
  });

  it('obeys signals to the process only if it is asked to', () => {
    process.once('SIGUSR1', () => undefined);
    expect(heard(['SIGUSR1'], { signal: undefined, obeys: false })).toEqual([]);
    expect(heard(['SIGUSR1'], { signal: undefined, obeys: true })).toEqual(['SIGUSR1']);
  });

  it('leaves to the program what nobody has caught', () => {
    const before = process.listenerCount('uncaughtException');
    outsideOf({ signal: undefined, obeys: false })
      .uncaught()
      .subscribe({ error: () => undefined })
      .unsubscribe();
    expect(process.listenerCount('uncaughtException')).toBe(before);
  });
});
