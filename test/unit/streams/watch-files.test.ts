import {
  mkdir,
  mkdtemp,
  readFile,
  realpath,
  rename,
  rm,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  concatMap,
  filter,
  firstValueFrom,
  startWith,
  Subject,
  type Subscription,
  tap,
  timeout,
} from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SourceChange } from '../../../src/streams/config-source.ts';
import { watchFiles } from '../../../src/streams/watch-files.ts';

const deadline = 5_000;

interface Heard {
  readonly sign: SourceChange;
  /**
   * The contents of the files when the sign came, which a pipeline without a window would have
   * read.
   */
  readonly contents: string;
}

describe('watchFiles', () => {
  let root = '';
  let version = 0;
  let watched: readonly string[] = [];
  let heard: Heard[] = [];
  let heard$ = new Subject<Heard>();
  let subscription: Subscription | undefined;

  const pathOf = (name: string) => join(root, name);
  const write = async (name: string) => {
    await mkdir(dirname(pathOf(name)), { recursive: true });
    await writeFile(pathOf(name), `content ${++version}`);
  };
  const writeOver = async (name: string) => {
    await write(`${name}.new`);
    await rename(pathOf(`${name}.new`), pathOf(name));
  };
  const linkOver = async (target: string, name: string) => {
    await symlink(target, pathOf(`${name}_tmp`));
    await rename(pathOf(`${name}_tmp`), pathOf(name));
  };
  const read = async () =>
    JSON.stringify(
      await Promise.all(watched.map((name) => readFile(pathOf(name), 'utf8').catch(() => null))),
    );

  const until = (holds: () => boolean) =>
    firstValueFrom(heard$.pipe(startWith(undefined), filter(holds), timeout({ first: deadline })), {
      defaultValue: undefined,
    });

  const watching = async (...names: string[]) => {
    subscription?.unsubscribe();
    watched = names;
    heard = [];
    heard$ = new Subject();
    subscription = watchFiles(names.map(pathOf))
      .pipe(
        concatMap(async (sign) => ({ sign, contents: await read() })),
        tap((event) => heard.push(event)),
      )
      .subscribe(heard$);
    await until(() => heard[0]?.sign.type === 'ready');
  };

  /**
   * Does `change`, and waits for a sign that came when the files held what they hold after it.
   * Resolves with the signs since.
   */
  const signsAfter = async (change: () => Promise<unknown>) => {
    const start = heard.length;
    await change();
    const contents = await read();
    await until(() => heard.slice(start).some((event) => event.contents === contents));
    return () => heard.slice(start).map(({ sign }) => sign);
  };

  /**
   * Like `signsAfter`, but also waits for the next round, so that the next change finds nothing but
   * the new watch set.
   */
  const settledSignsAfter = async (change: () => Promise<unknown>) => {
    const signs = await signsAfter(change);
    await until(() => signs().some((sign) => sign.type === 'changed' && sign.path === undefined));
    return signs();
  };

  beforeEach(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'watch-files-')));
    version = 0;
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    subscription?.unsubscribe();
    await rm(root, { recursive: true });
  });

  it('hears a write, hears a removal, and does nothing for an empty list', async () => {
    await write('key.pem');
    await watching('key.pem');
    await signsAfter(() => write('key.pem'));
    await watching('key.pem');
    await signsAfter(() => unlink(pathOf('key.pem')));
    const nothing: SourceChange[] = [];
    const idle = watchFiles([]).subscribe({
      next: (sign) => nothing.push(sign),
      error: (error: unknown) => expect.unreachable(String(error)),
    });
    await watching('key.pem');
    expect(nothing).toEqual([{ type: 'ready' }]);
    expect(idle.closed).toBe(false);
    idle.unsubscribe();
  });

  const changes: Record<string, () => Promise<unknown>> = {
    'written in place': () => write('certs/key.pem'),
    'renamed over': () => writeOver('certs/key.pem'),
    deleted: () => rm(pathOf('certs/key.pem'), { force: true }),
    'created again': () => write('certs/key.pem'),
    'deleted and created at once': async () => {
      await rm(pathOf('certs/key.pem'));
      await write('certs/key.pem');
    },
  };

  it('hears a file that is written in place, renamed over, deleted and created again', async () => {
    await write('certs/key.pem');
    await watching('certs/key.pem');
    for (const change of Object.values(changes)) {
      const signs = await settledSignsAfter(change);
      expect(signs[0]).toEqual({ type: 'changed', path: pathOf('certs/key.pem') });
    }
    expect(heard.filter(({ sign }) => sign.type !== 'changed')).toHaveLength(1);
  });

  it('misses nothing of changes that follow each other at once', async () => {
    await write('certs/key.pem');
    await watching('certs/key.pem');
    for (let n = 0; n < 10; n++)
      for (const change of Object.values(changes)) await signsAfter(change);
  });

  it.each([
    ['after each other', settledSignsAfter],
    ['at once', signsAfter],
  ])('hears three rotations of a Kubernetes volume, %s', async (_, heardBy) => {
    const rotate = async () => {
      const [old, next] = [`..2024_${version}`, `..2024_${version + 1}`];
      await write(`certs/${next}/key.pem`);
      await linkOver(next, 'certs/..data');
      await rm(pathOf(`certs/${old}`), { recursive: true, force: true });
    };
    await rotate();
    await symlink('..data/key.pem', pathOf('certs/key.pem'));
    await watching('certs/key.pem');
    for (let n = 0; n < 3; n++) await heardBy(rotate);
  });

  it.each([
    ['after each other', settledSignsAfter],
    ['at once', signsAfter],
  ])(
    'hears three rotations behind a chain of links that ends in another folder, %s',
    async (_, heardBy) => {
      const rotate = async () => {
        const folder = `store/v${version + 1}`;
        await write(`${folder}/key.pem`);
        await linkOver(pathOf(folder), 'store/current');
      };
      await rotate();
      await mkdir(pathOf('etc'));
      await symlink('store/current', pathOf('live'));
      await symlink('../live/key.pem', pathOf('etc/key.pem'));
      await watching('etc/key.pem');
      for (let n = 0; n < 3; n++) await heardBy(rotate);
      await heardBy(() => linkOver('../store/current/key.pem', 'etc/key.pem'));
      for (let n = 0; n < 3; n++) await heardBy(rotate);
    },
  );

  it('hears a file whose folders appear later, one after the other', async () => {
    await watching('etc/certs/key.pem');
    await settledSignsAfter(() => mkdir(pathOf('etc')));
    await settledSignsAfter(() => mkdir(pathOf('etc/certs')));
    await settledSignsAfter(() => write('etc/certs/key.pem'));
    await settledSignsAfter(() => write('etc/certs/key.pem'));
  });

  it('hears a file that appears together with its folders', async () => {
    await watching('etc/certs/key.pem');
    await signsAfter(() => write('etc/certs/key.pem'));
    await signsAfter(() => writeOver('etc/certs/key.pem'));
  });

  it('hears a folder that is removed and made again', async () => {
    await write('certs/key.pem');
    await watching('certs/key.pem');
    for (let n = 0; n < 3; n++) {
      await settledSignsAfter(() => rm(pathOf('certs'), { recursive: true }));
      await settledSignsAfter(() => write('certs/key.pem'));
      await settledSignsAfter(() => write('certs/key.pem'));
    }
    for (let n = 0; n < 3; n++) {
      await signsAfter(async () => {
        await rm(pathOf('certs'), { recursive: true });
        await write('certs/key.pem');
      });
    }
  });

  it('hears a folder that is replaced by another, and then what happens in the new one', async () => {
    await write('etc/certs/key.pem');
    await watching('etc/certs/key.pem');
    for (const folder of ['etc/certs', 'etc']) {
      await settledSignsAfter(async () => {
        await write(folder === 'etc' ? 'new/certs/key.pem' : 'new/key.pem');
        await rename(pathOf(folder), pathOf('old'));
        await rename(pathOf('new'), pathOf(folder));
      });
      await settledSignsAfter(() => write('etc/certs/key.pem'));
      await rm(pathOf('old'), { recursive: true });
    }
  });

  it('hears the target of a link go and come back', async () => {
    await write('store/key.pem');
    await symlink('store/key.pem', pathOf('key.pem'));
    await watching('key.pem');
    await settledSignsAfter(() => rm(pathOf('store/key.pem')));
    await settledSignsAfter(() => write('store/key.pem'));
    await settledSignsAfter(() => linkOver('nowhere', 'key.pem'));
    await settledSignsAfter(() => write('nowhere'));
  });

  it('says nothing about other files in the same folders', async () => {
    await write('certs/key.pem');
    await write('certs/other.pem');
    await watching('certs/key.pem');
    await write('certs/other.pem');
    await write('certs/new.pem');
    await mkdir(pathOf('certs/folder'));
    await unlink(pathOf('certs/other.pem'));
    await symlink('key.pem', pathOf('certs/link'));
    await write('beside');
    const signs = await settledSignsAfter(() => write('certs/key.pem'));
    expect(heard[1]?.sign).toEqual({ type: 'changed', path: pathOf('certs/key.pem') });
    expect(new Set(signs.map((sign) => sign.type === 'changed' && sign.path))).toEqual(
      new Set([pathOf('certs/key.pem'), undefined]),
    );
  });

  it('watches many paths at once, also names that chokidar would hide', async () => {
    const names = ['a/cert~', 'a/.key.swp', 'b/root.pem'];
    for (const name of names) await write(name);
    await watching(...names);
    for (const name of names)
      expect((await settledSignsAfter(() => write(name)))[0]).toEqual({
        type: 'changed',
        path: pathOf(name),
      });
  });

  it('hears changes by polling too, if chokidar is told to poll', async () => {
    vi.stubEnv('CHOKIDAR_USEPOLLING', '1');
    await write('certs/key.pem');
    await watching('certs/key.pem');
    // fs.watchFile takes its first reading, some time after `ready`, for the old state.
    await vi.waitFor(
      async () => {
        await writeOver('certs/key.pem');
        expect(heard.map(({ sign }) => sign)).toContainEqual({
          type: 'changed',
          path: pathOf('certs/key.pem'),
        });
      },
      { timeout: deadline, interval: 300 },
    );
  });

  it('stops with its subscription', async () => {
    await write('key.pem');
    await watching('key.pem');
    const first = heard;
    subscription?.unsubscribe();
    await watching('key.pem');
    await settledSignsAfter(() => write('key.pem'));
    expect(first).toHaveLength(1);
  });
});
