import { EventEmitter } from 'node:events';
import { asyncScheduler } from 'rxjs';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { SourceChange } from '../../../src/streams/config-source.ts';
import { watchFiles } from '../../../src/streams/watch-files.ts';

const watch = vi.hoisted(() => ({ folders: vi.fn(), root: vi.fn() }));
vi.mock('chokidar', () => ({ watch: watch.folders }));
vi.mock('node:fs', async (original) => ({ ...(await original<object>()), watch: watch.root }));

const fail = (error: unknown) => expect.unreachable(String(error));

class FakeWatcher extends EventEmitter {
  closed = false;
  close(): Promise<void> {
    this.closed = true;
    this.removeAllListeners();
    return Promise.resolve();
  }
}

describe('watchFiles, as to what watching can do to it', () => {
  let watchers: FakeWatcher[] = [];
  beforeEach(() => {
    watchers = [];
    watch.folders.mockReset().mockImplementation(() => {
      const watcher = new FakeWatcher();
      watchers.push(watcher);
      return watcher;
    });
    watch.root.mockReset().mockImplementation(() => new FakeWatcher());
  });

  const noSpace = Object.assign(new Error('no space left'), { code: 'ENOSPC', path: '/tmp' });
  const round = async (number: number, ...errors: Error[]) => {
    await vi.waitUntil(() => watchers.length === number);
    for (const error of errors) watchers[number - 1]?.emit('error', error);
    watchers[number - 1]?.emit('ready');
  };

  it('tries again after 1 s, doubling to 30 s, says so once, and starts anew after a success', async () => {
    const delays: number[] = [];
    const schedule: typeof asyncScheduler.schedule = (work, delay = 0, state) => {
      delays.push(delay);
      return asyncScheduler.schedule(work, 0, state);
    };
    const retries = () => delays.filter((delay) => delay >= 1_000);
    const signs: SourceChange[] = [];
    const subscription = watchFiles(['/tmp/key.pem'], { now: () => 0, schedule }).subscribe({
      next: (sign) => signs.push(sign),
      error: fail,
    });
    for (let number = 1; number <= 7; number++) await round(number, noSpace, noSpace);
    await round(8);
    expect(retries()).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    const failed = { type: 'watch-failed', path: '/tmp', reason: 'ENOSPC' };
    expect(signs).toEqual([
      failed,
      { type: 'ready' },
      ...Array.from({ length: 7 }, () => ({ type: 'changed' })),
    ]);

    watchers[7]?.emit('error', noSpace);
    await round(9);
    expect(retries().slice(7)).toEqual([1_000]);
    expect(signs.slice(9)).toEqual([failed, { type: 'changed' }]);
    expect(watchers.map(({ closed }) => closed)).toEqual(watchers.map((_, index) => index < 8));
    subscription.unsubscribe();
    expect(watchers[8]?.closed).toBe(true);
  });

  it('still hears the rest meanwhile', async () => {
    const signs: SourceChange[] = [];
    const subscription = watchFiles(['/tmp/key.pem']).subscribe({
      next: (sign) => signs.push(sign),
      error: fail,
    });
    await round(1, noSpace);
    watchers[0]?.emit('raw', 'rename', 'key.pem', { watchedPath: '/tmp' });
    expect(signs.at(-1)).toEqual({ type: 'changed', path: '/tmp/key.pem' });
    await round(2, noSpace); // the event began a new round, long before the retry
    expect(signs.filter(({ type }) => type === 'watch-failed')).toHaveLength(1);
    subscription.unsubscribe();
  });

  it('survives an error that comes after the end', async () => {
    const subscription = watchFiles(['/tmp/key.pem']).subscribe({ error: fail });
    await round(1);
    subscription.unsubscribe();
    expect(watchers[0]?.emit('error', noSpace)).toBe(true);
  });

  it('never asks chokidar for the root folder, and hears what appears there', async () => {
    const signs: SourceChange[] = [];
    const subscription = watchFiles(['/no-such-folder/key.pem']).subscribe({
      next: (sign) => signs.push(sign),
      error: fail,
    });
    await vi.waitUntil(() => signs.length === 1);
    expect(watch.folders.mock.calls[0]?.[0]).toEqual([]);
    const hear = watch.root.mock.calls[0]?.[2] as (event: string, name: string) => void;
    hear('rename', 'other');
    hear('rename', 'no-such-folder');
    expect(signs).toEqual([{ type: 'ready' }, { type: 'changed', path: '/no-such-folder' }]);
    subscription.unsubscribe();
  });

  it('makes no fuss about a folder that is gone by the time it would be watched', async () => {
    watch.root.mockImplementation(() => {
      throw Object.assign(new Error('no such file'), { code: 'ENOENT', path: '/' });
    });
    const signs: SourceChange[] = [];
    const subscription = watchFiles(['/tmp/key.pem']).subscribe({
      next: (sign) => signs.push(sign),
      error: fail,
    });
    await round(1);
    expect(signs).toEqual([{ type: 'ready' }]);
    subscription.unsubscribe();
  });

  it('reports a root folder that can not be watched', async () => {
    watch.root.mockImplementation(() => {
      throw Object.assign(new Error('too many open files'), { code: 'EMFILE', path: '/' });
    });
    const signs: SourceChange[] = [];
    const subscription = watchFiles(['/tmp/key.pem']).subscribe({
      next: (sign) => signs.push(sign),
      error: fail,
    });
    await round(1);
    expect(signs).toEqual([
      { type: 'watch-failed', path: '/', reason: 'EMFILE' },
      { type: 'ready' },
    ]);
    subscription.unsubscribe();
  });
});
