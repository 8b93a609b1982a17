import { createHash } from 'node:crypto';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { asyncScheduler, type SchedulerLike, Subject, Subscription, switchMap, tap } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { eachPiece } from '../../../../src/shared/files/outside-file.ts';
import type { SourceConfig } from '../../../../src/pilot-agent/config/source-config.ts';
import type { Contribution } from '../../../../src/pilot-agent/sources/contribution.ts';
import { files, type FilesOptions } from '../../../../src/pilot-agent/sources/files.ts';
import type { SourceChange } from '../../../../src/streams/config-source.ts';

vi.mock('../../../../src/shared/files/outside-file.ts', { spy: true });

const digest = (content: string) => createHash('sha256').update(content).digest('hex');

describe('files', () => {
  let folder: string;
  let listening: Subscription;
  const pathOf = (...names: readonly string[]) => join(folder, ...names);
  const put = (name: string, content: string | Uint8Array) => writeFileSync(pathOf(name), content);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'pilot-agent-files-'));
    listening = new Subscription();
  });
  afterEach(() => {
    listening.unsubscribe();
    rmSync(folder, { recursive: true });
  });

  /** Subscribes to a source; returns its changes and its newest content. */
  const listenTo = (paths: readonly string[], options: FilesOptions = {}) => {
    const changes: SourceChange[] = [];
    let now: Contribution | undefined;
    const { changes$, reading$ } = files(paths, {
      pauses: { first: 50, longest: 50 },
      firstWithin: 5_000,
      ...options,
    });
    const now$ = changes$.pipe(
      tap((change) => changes.push(change)),
      switchMap(() => reading$),
    );
    listening.add(
      now$.subscribe({
        next: ({ config }) => (now = config?.[0]),
        error: (error: unknown) => expect.unreachable(String(error)),
      }),
    );
    const count = (type: SourceChange['type']) =>
      changes.filter((change) => change.type === type).length;
    return {
      changes,
      count,
      content: () => now?.content,
      trouble: () => now?.trouble,
      contribution: () => now,
    };
  };
  /** Subscribes in the same way, and waits until the source is watched. */
  const watched = async (paths: readonly string[], options: FilesOptions = {}) => {
    const listener = listenTo(paths, options);
    await expect
      .poll(() => listener.count('source-read') + listener.count('source-unreadable'))
      .toBeGreaterThan(1);
    return listener;
  };

  it('has the digests of files and of the files in folders, by path, for a restart', async () => {
    mkdirSync(pathOf('conf', 'deeper'), { recursive: true });
    put('conf/a', 'a');
    put('conf/.a.swp', 'of an editor');
    put('conf/deeper/b', 'b');
    put('file', 'f');
    const config: SourceConfig = {
      kind: 'files',
      name: 'mine',
      as: 'restart',
      at: '',
      paths: [pathOf('conf'), pathOf('file'), pathOf('file'), pathOf('none')],
    };
    const { contribution } = listenTo(config.paths, config);
    const content = { [pathOf('conf/a')]: digest('a'), [pathOf('file')]: digest('f') };
    await expect
      .poll(contribution)
      .toMatchObject({ source: 'mine', use: 'restart', content, trouble: undefined });
  });

  it('has the text of a file, the texts of a folder by name, those of several paths by path', async () => {
    mkdirSync(pathOf('conf'));
    put('conf/a', 'grüße');
    put('file', 'f');
    expect.soft(await only([pathOf('file')], { as: 'envoy' })).toBe('f');
    expect.soft(await only([pathOf('conf')], { as: 'merge' })).toEqual({ a: 'grüße' });
    expect
      .soft(await only([pathOf('conf'), pathOf('file')], { as: 'runtime' }))
      .toEqual({ [pathOf('conf/a')]: 'grüße', [pathOf('file')]: 'f' });
    expect
      .soft(await only([pathOf('conf')], { as: 'secret' }))
      .toEqual({ a: Buffer.from('grüße') });
    async function only(paths: readonly string[], options: FilesOptions) {
      const { content } = listenTo(paths, options);
      await expect.poll(content).toBeDefined();
      return content();
    }
  });

  it('sees files come, change, move and go', async () => {
    mkdirSync(pathOf('conf'));
    const { content } = await watched([pathOf('conf'), pathOf('file')]);
    expect(content()).toEqual({});
    put('conf/a', '1');
    await expect.poll(content).toEqual({ [pathOf('conf/a')]: digest('1') });
    put('conf/a', '2'); // the size is the same, and perhaps the tick of the clock
    await expect.poll(content).toEqual({ [pathOf('conf/a')]: digest('2') });
    renameSync(pathOf('conf/a'), pathOf('conf/b'));
    await expect.poll(content).toEqual({ [pathOf('conf/b')]: digest('2') });
    put('file', 'f');
    await expect
      .poll(content)
      .toEqual({ [pathOf('conf/b')]: digest('2'), [pathOf('file')]: digest('f') });
    unlinkSync(pathOf('conf/b'));
    await expect.poll(content).toEqual({ [pathOf('file')]: digest('f') });
  });

  it('sees the swap by which Kubernetes replaces a mounted folder', async () => {
    const mount = (version: string) => {
      mkdirSync(pathOf('conf', `..${version}`), { recursive: true });
      for (const name of ['a', 'b']) put(`conf/..${version}/${name}`, name + version);
      symlinkSync(`..${version}`, pathOf('conf', '..data.new'));
      renameSync(pathOf('conf', '..data.new'), pathOf('conf', '..data'));
    };
    mount('1');
    for (const name of ['a', 'b']) symlinkSync(`..data/${name}`, pathOf('conf', name));
    const { content, count } = await watched([pathOf('conf')], { as: 'merge' });
    expect(content()).toEqual({ a: 'a1', b: 'b1' });
    mount('2');
    rmSync(pathOf('conf', '..1'), { recursive: true });
    await expect.poll(content).toEqual({ a: 'a2', b: 'b2' });
    expect(count('changed')).toBe(2);
  });

  it('sees another folder in the place of one, also by a link, and what changes in it then', async () => {
    for (const name of ['one', 'two']) {
      mkdirSync(pathOf(name));
      put(`${name}/a`, name);
    }
    symlinkSync('one', pathOf('link'));
    const { content } = await watched([pathOf('link')], { as: 'merge' });
    expect(content()).toEqual({ a: 'one' });
    symlinkSync('two', pathOf('new'));
    renameSync(pathOf('new'), pathOf('link'));
    await expect.poll(content).toEqual({ a: 'two' });
    put('two/b', 'b');
    await expect.poll(content).toEqual({ a: 'two', b: 'b' });
    rmSync(pathOf('two'), { recursive: true });
    // A missing path keeps the last content.
    await expect.poll(content).toEqual({ a: 'two', b: 'b' });
    mkdirSync(pathOf('two'));
    put('two/c', 'c');
    await expect.poll(content).toEqual({ c: 'c' });
  });

  it.each([
    { what: 'a file that is not there', make: () => undefined, says: 'is not there' },
    {
      what: 'a file that is not a text',
      make: () => put('file', Buffer.from([0xff])),
      says: 'is not text in UTF-8',
    },
    {
      what: 'a file that is too large',
      make: () => put('file', 'x'.repeat((256 << 10) + 1)),
      says: 'cannot be read: it has 262145 bytes, and 262144 are read at most',
    },
  ])('keeps what it has while there is $what', async ({ make, says }) => {
    put('file', 'f');
    const { content, trouble } = await watched([pathOf('file')], { as: 'merge' });
    unlinkSync(pathOf('file'));
    make();
    await expect.poll(trouble).toBe(`${pathOf('file')} ${says}`);
    expect(content()).toBe('f');
    put('file', 'g');
    await expect.poll(content).toBe('g');
  });

  it('reads no file anew that has not changed', async () => {
    mkdirSync(pathOf('conf'));
    for (const name of ['a', 'b', 'c']) put(`conf/${name}`, name);
    const { count } = await watched([pathOf('conf')], { every: 50 });
    vi.mocked(eachPiece).mockClear();
    put('conf/b', 'new');
    await expect.poll(() => count('changed')).toBe(2);
    expect(new Set(vi.mocked(eachPiece).mock.calls.map(([path]) => path))).toEqual(
      new Set([pathOf('conf/b')]),
    );
  });

  it('has what is there after more events than the kernel keeps, in a few looks', async () => {
    mkdirSync(pathOf('conf'));
    const names = ['a', 'b', 'c', 'd'];
    for (const name of names) put(`conf/${name}`, '0000');
    const { count, content } = await watched([pathOf('conf')], { as: 'merge' });
    const opened = names.map((name) => openSync(pathOf('conf', name), 'r+'));
    // No event is read during the loop: the kernel drops those beyond 16,384.
    for (let round = 1_000; round <= 5_999; round++)
      for (const fd of opened) writeSync(fd, String(round), 0);
    put('conf/last', 'last');
    for (const fd of opened) closeSync(fd);
    await expect
      .poll(content)
      .toEqual({ ...Object.fromEntries(names.map((name) => [name, '5999'])), last: 'last' });
    expect(count('source-read')).toBeLessThan(10);
  });

  it('looks at all when it is asked to, or time has passed, even without an event', async () => {
    mkdirSync(pathOf('conf'));
    put('elsewhere', '1');
    symlinkSync('../elsewhere', pathOf('conf/link'));
    // A pause is 2,000 times as long as a look. By a clock that stands still, a look takes no time.
    const clock = { now: { value: () => 0 } };
    const scheduler = Object.create(asyncScheduler, clock) as SchedulerLike;
    const on$ = new Subject<void>();
    const [onDemand, timed] = [
      await watched([pathOf('conf')], { as: 'merge', on$ }),
      await watched([pathOf('conf')], { as: 'merge', every: 100, scheduler }),
    ];
    // A watch may report its start late, which leads to a look too.
    let now = 1;
    do {
      now += 1;
      put('elsewhere', String(now));
      await expect.poll(timed.content).toEqual({ link: String(now) });
    } while (isDeepStrictEqual(onDemand.content(), { link: String(now) }) && now < 5);
    expect(onDemand.content()).not.toEqual({ link: String(now) });
    on$.next();
    await expect.poll(onDemand.content).toEqual({ link: String(now) });
  });
});
