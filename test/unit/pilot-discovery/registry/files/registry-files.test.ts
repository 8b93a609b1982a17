import {
  chmodSync,
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
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { StoreEvent } from '../../../../../src/pilot-discovery/environment/store-event.ts';
import {
  emptyStore,
  isSynced,
  reduceStore,
} from '../../../../../src/pilot-discovery/environment/store.ts';
import { flawsOf } from '../../../../../src/pilot-discovery/environment/store-flaws.ts';
import { eachResource } from '../../../../../src/pilot-discovery/environment/resources.ts';
import {
  filesSource,
  type FilesSourceOptions,
} from '../../../../../src/pilot-discovery/registry/files/files-source.ts';
import { readSimply } from '../../../../support/read-simply.ts';

const often = { interval: 5 };

describe('filesSource', () => {
  let folder: string;
  let listening: Subscription;
  const pathOf = (...names: readonly string[]) => join(folder, ...names);
  const put = (name: string, content: string | Uint8Array) => {
    mkdirSync(dirname(pathOf(name)), { recursive: true });
    writeFileSync(pathOf(name), content);
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-files-'));
    listening = new Subscription();
  });
  afterEach(() => {
    listening.unsubscribe();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Subscribes to a source; returns its events, and the store that they result in. */
  const listenTo = (options: Partial<FilesSourceOptions> = {}) => {
    let store = emptyStore(['files']);
    const events: StoreEvent[] = [];
    const listener = {
      next: (event: StoreEvent) => {
        events.push(event);
        [store] = reduceStore(store, event);
      },
      error: (error: unknown) => expect.unreachable(String(error)),
    };
    listening.add(filesSource(folder, { read: readSimply, ...options }).subscribe(listener));
    return {
      events,
      store: () => store,
      /** Returns `NAME ADDRESS` of each resource, sorted. */
      has: () =>
        [...eachResource(store.resources)]
          .map(([, { name, spec }]) => `${name} ${'address' in spec ? spec.address : ''}`)
          .sort()
          .join(', '),
      flaws: () =>
        flawsOf(store).map(
          ({ key, origin, reason }) =>
            `${origin.path.slice(folder.length + 1)}:${origin.line} ${key ?? ''} ${reason}`,
        ),
      isSynced: () => isSynced(store),
      lost: () => store.sources.get('files')?.lost,
    };
  };
  /** Subscribes in the same way, and waits until all is watched. */
  const watched = async (options: Partial<FilesSourceOptions> = {}) => {
    const listener = listenTo(options);
    await expect.poll(listener.isSynced, often).toBe(true);
    put('watched.yaml', 'watched yes');
    await expect.poll(listener.has, often).toContain('watched yes');
    unlinkSync(pathOf('watched.yaml'));
    await expect.poll(listener.has, often).not.toContain('watched');
    listener.events.length = 0;
    return listener;
  };

  it('tells what is in the files of a folder and of those in it, and then that this was all', async () => {
    put('a.yaml', 'a 1\n---\nb 2\n---\n# c\nc 3\n');
    put('deeper/still/d.yml', 'd 4');
    put('e.json', 'e 5');
    put('.hidden.yaml', 'f 6');
    put('text.txt', 'g 7');
    const { events, has, store } = listenTo();
    await expect.poll(has, often).toBe('a 1, b 2, c 3, d 4, e 5');
    expect(events.map(({ type }) => type)).toEqual(['changed', 'synced']);
    const lines = [...eachResource(store().resources)].map(
      ([key, { origin }]) => `${key} ${origin.source} ${origin.path}:${origin.line}`,
    );
    expect(lines).toContain(`WorkloadEntry/default/c files ${pathOf('a.yaml')}:6`);
  });

  it('tells what has changed, and nothing else', async () => {
    put('a.yaml', 'a 1\n---\nb 2\n');
    put('b.yaml', 'c 3');
    const { events, has } = await watched();
    put('a.yaml', 'a 1\n---\nb 5\n');
    await expect.poll(has, often).toBe('a 1, b 5, c 3');
    put('new/d.yaml', 'd 4');
    await expect.poll(has, often).toBe('a 1, b 5, c 3, d 4');
    put('new/d.yaml', 'd 6');
    await expect.poll(has, often).toBe('a 1, b 5, c 3, d 6');
    const emitted = events.flatMap((event) =>
      event.type === 'changed' ? event.upserts.map(({ name }) => name) : [event.type],
    );
    expect(emitted).toEqual(['b', 'd', 'd']);
  });

  it('parses no document again that has not changed, wherever it is by now', async () => {
    const read = vi.fn(readSimply);
    put('a.yaml', 'a 1\n---\nb 2\n---\nc 3\n');
    const { has, store } = await watched({ read });
    read.mockClear();
    put('a.yaml', 'a 1\n---\nb 2\nd 4\n---\nc 3\n');
    await expect.poll(has, often).toBe('a 1, b 2, c 3, d 4');
    expect(read.mock.calls.map(([text]) => text)).toEqual(['---\nb 2\nd 4\n']);
    expect(
      [...eachResource(store().resources)].find(([key]) => key.endsWith('/c'))?.[1].origin.line,
    ).toBe(6);
  });

  it('keeps what has moved to another file and is bad there', async () => {
    put('a.yaml', 'a 1\n');
    const { has, flaws } = await watched();
    put('new/b.yaml', 'a bad\n');
    await expect.poll(flaws, often).toHaveLength(1);
    unlinkSync(pathOf('a.yaml'));
    await sleep(500); // a missing file is checked twice
    put('c.yaml', 'c 1\n');
    await expect.poll(has, often).toContain('c 1');
    expect(has()).toBe('a 1, c 1');
  });

  it('removes what is in no file any more, and not what has moved to another file', async () => {
    put('a.yaml', 'a 1\nb 2\n');
    put('z.yaml', 'z 9\n');
    const { events, has, flaws } = await watched();
    renameSync(pathOf('a.yaml'), pathOf('c.yaml'));
    put('z.yaml', '# nothing\n');
    await expect.poll(has, often).toBe('a 1, b 2');
    expect(events.flatMap((event) => (event.type === 'changed' ? event.removes : []))).toEqual([
      'WorkloadEntry/default/z',
    ]);
    expect(flaws()).toEqual([]);
  });

  it('takes the good half of a file, and keeps the last good version of the rest', async () => {
    put('a.yaml', 'a 1\nb 2\n');
    const { has, flaws } = await watched();
    put('a.yaml', 'a bad\nb 3\nc 4\n');
    await expect.poll(has, often).toBe('a 1, b 3, c 4');
    await expect.poll(flaws, often).toEqual(['a.yaml:1 WorkloadEntry/default/a bad']);
    put('a.yaml', 'cut\nb 4\n');
    await expect.poll(has, often).toBe('a 1, b 4, c 4');
    await expect.poll(flaws, often).toEqual(['a.yaml:1  cut']);
    put('a.yaml', 'b 5\n');
    await expect.poll(has, often).toBe('b 5');
    await expect.poll(flaws, often).toEqual([]);
  });

  it('removes what is taken out of a file in which something else is bad, and was before', async () => {
    put('a.yaml', 'a 1\n---\ncut\n---\nb 2\n');
    const { has, flaws } = await watched();
    put('a.yaml', '---\ncut\n---\nb 3\n');
    await expect.poll(has, often).toBe('b 3');
    expect(flaws()).toEqual(['a.yaml:2  cut']);
  });

  it('does not show what is half written, nor takes it for all', async () => {
    put('a.yaml', 'a 1\nb 2\nc 3\n');
    const { events, has } = await watched();
    for (let round = 0; round < 10; round += 1) {
      const file = openSync(pathOf('a.yaml'), 'w'); // the file is empty now
      await new Promise((resolve) => setTimeout(resolve, 8));
      writeSync(file, `a 1\nb`);
      await new Promise((resolve) => setTimeout(resolve, 8));
      writeSync(file, ` ${round}\nc 3\n`);
      closeSync(file);
      await expect.poll(has, often).toBe(`a 1, b ${round}, c 3`);
    }
    expect(
      events.filter(
        (event) => event.type === 'flaws' || (event.type === 'changed' && event.removes.length > 0),
      ),
    ).toEqual([]);
  });

  it('takes the first of two files with the same resource, and tells of the other', async () => {
    put('b.yaml', 'x 2\n');
    put('c.yaml', 'x 3\n');
    const { has, flaws } = await watched();
    expect(has()).toBe('x 2');
    expect(flaws()).toEqual([
      expect.stringContaining('c.yaml:1 WorkloadEntry/default/x WorkloadEntry/default/x is in '),
    ]);
    put('a.yaml', 'x 1\n');
    await expect.poll(has, often).toBe('x 1');
    await expect
      .poll(() => flaws().map((flaw) => flaw.slice(0, 6)), often)
      .toEqual(['b.yaml', 'c.yaml']);
    unlinkSync(pathOf('a.yaml'));
    await expect.poll(has, often).toBe('x 2');
  });

  it('keeps what was in a file that cannot be read any more, and says why', async () => {
    put('a.yaml', 'a 1\n');
    put('b.yaml', 'b 2\n');
    const { has, flaws } = await watched();
    put('a.yaml', new Uint8Array([0xff, 0xfe]));
    await expect
      .poll(flaws, often)
      .toEqual(['a.yaml:0  the file cannot be read: it is not text in UTF-8']);
    rmSync(pathOf('b.yaml'));
    mkdirSync(pathOf('b.yaml'));
    put('c.yaml', 'c 3');
    await expect.poll(has, often).toBe('a 1, c 3');
    if (process.getuid?.() === 0) return; // root may read all
    chmodSync(pathOf('c.yaml'), 0o000);
    await expect.poll(() => flaws().join(), often).toContain('EACCES');
    expect(has()).toBe('a 1, c 3');
    chmodSync(pathOf('c.yaml'), 0o600);
    await expect.poll(() => flaws().join(), often).not.toContain('EACCES');
  });

  it('goes with a folder as Kubernetes mounts it, and with links to elsewhere', async () => {
    put('..1/a.yaml', 'a 1\n');
    symlinkSync('..1', pathOf('..data'));
    symlinkSync('..data/a.yaml', pathOf('a.yaml'));
    const elsewhere = mkdtempSync(join(tmpdir(), 'pilot-discovery-elsewhere-'));
    listening.add(() => rmSync(elsewhere, { recursive: true }));
    mkdirSync(join(elsewhere, 'sub'));
    writeFileSync(join(elsewhere, 'b'), 'b 1');
    writeFileSync(join(elsewhere, 'sub/c.yaml'), 'c 1');
    symlinkSync(join(elsewhere, 'b'), pathOf('b.yaml'));
    symlinkSync(join(elsewhere, 'sub'), pathOf('sub'));
    symlinkSync('..', join(elsewhere, 'sub/back'));
    const { events, has } = await watched();
    expect(has()).toBe('a 1, b 1, c 1');
    put('..2/a.yaml', 'a 2\n');
    symlinkSync('..2', pathOf('..data_tmp'));
    renameSync(pathOf('..data_tmp'), pathOf('..data'));
    rmSync(pathOf('..1'), { recursive: true });
    await expect.poll(has, often).toBe('a 2, b 1, c 1');
    writeFileSync(join(elsewhere, 'sub/c.yaml'), 'c 2');
    await expect.poll(has, often).toBe('a 2, b 1, c 2');
    writeFileSync(join(elsewhere, 'b'), 'b 2');
    await expect.poll(has, often).toBe('a 2, b 2, c 2');
    expect(events.every((event) => event.type === 'changed' && event.removes.length === 0)).toBe(
      true,
    );
  });

  it('keeps all while the folder is not there, and heals by itself', async () => {
    put('a.yaml', 'a 1\n');
    put('b.yaml', 'b 2\n');
    const { has, lost, isSynced: synced } = await watched();
    rmSync(folder, { recursive: true });
    await expect.poll(lost, often).toContain('ENOENT');
    expect(has()).toBe('a 1, b 2');
    put('b.yaml', 'b 3\n');
    await expect.poll(lost, often).toBeUndefined();
    await expect.poll(has, often).toBe('a 1, b 3'); // the rest may still come
    await expect.poll(has, often).toBe('b 3');
    expect(synced()).toBe(true);
  });

  it('is not synced before there is a folder', async () => {
    rmSync(folder, { recursive: true });
    const { has, lost, isSynced: synced } = listenTo();
    await expect.poll(lost, often).toContain('ENOENT');
    expect(synced()).toBe(false);
    put('a.yaml', 'a 1\n');
    await expect.poll(synced, often).toBe(true);
    expect(has()).toBe('a 1');
  });
});
