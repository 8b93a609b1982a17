import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, assert, beforeEach, describe, it } from 'vitest';
import { cacheDir, findEnvoy } from '../../../../src/pilot-agent/envoy/find-envoy.ts';
describe('findEnvoy', () => {
  let folder: string;

  const put = (name: string, mode = 0o755) => {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, '', { mode });
    return path;
  };
  const find = ({
    binaryPath,
    ...env
  }: { binaryPath?: string; PATH?: string; ENVOY_BIN?: string } = {}) =>
    findEnvoy({
      binaryPath,
      env,
      cacheDir: join(folder, 'cache'),
      version: '1.2.3',
      defaultPath: join(folder, 'default/envoy'),
    });

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'find-envoy-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('looks at the default path, ENVOY_BIN, PATH, then the cache', () => {
    const cache = put('cache/1.2.3/envoy');
    const env = {
      PATH: `${join(folder, 'empty')}:${join(folder, 'bin')}`,
      ENVOY_BIN: join(folder, 'mine'),
    };
    assert.deepEqual(find(env), { ok: true, path: cache, from: 'cache' });
    const bin = put('bin/envoy');
    assert.deepEqual(find(env), { ok: true, path: bin, from: 'path' });
    const mine = put('mine');
    assert.deepEqual(find(env), { ok: true, path: mine, from: 'envoy-bin' });
    const standard = put('default/envoy');
    assert.deepEqual(find(env), { ok: true, path: standard, from: 'default-path' });
  });

  it('never searches past a given --binaryPath', () => {
    put('default/envoy');
    const missing = join(folder, 'missing');
    assert.deepEqual(find({ binaryPath: missing }), {
      ok: false,
      reason: `--binaryPath ${missing} does not exist: name another Envoy, or leave it out`,
    });
    const given = put('given');
    assert.deepEqual(find({ binaryPath: given }), { ok: true, path: given, from: 'binary-path' });
  });

  it('looks a bare --binaryPath up in PATH only', () => {
    const path = put('bin/my-envoy');
    assert.deepEqual(find({ binaryPath: 'my-envoy', PATH: join(folder, 'bin') }), {
      ok: true,
      path,
      from: 'binary-path',
    });
    assert.deepEqual(find({ binaryPath: 'my-envoy' }), {
      ok: false,
      reason: '--binaryPath my-envoy is not in PATH: name another Envoy, or leave it out',
    });
  });

  it('takes only a regular file that may be executed', () => {
    const plain = put('plain', 0o644);
    assert.deepEqual(find({ binaryPath: plain }), {
      ok: false,
      reason: `--binaryPath ${plain} may not be executed by this user: name another Envoy, or leave it out`,
    });
    assert.deepEqual(find({ binaryPath: folder }), {
      ok: false,
      reason: `--binaryPath ${folder} is not a regular file: name another Envoy, or leave it out`,
    });
    chmodSync(plain, 0o755);
    assert.isTrue(find({ binaryPath: plain }).ok);
  });

  it('says in one line where it looked and what to do', () => {
    put('default/envoy', 0o644);
    const result = find({ ENVOY_BIN: '/no/such' });
    assert.deepEqual(result, {
      ok: false,
      reason:
        `no Envoy found: ${folder}/default/envoy may not be executed by this user, /no/such does not exist, envoy is not in PATH, ` +
        `${folder}/cache/1.2.3/envoy does not exist; give --binaryPath, set ENVOY_BIN, or run: pilot-agent envoy install`,
    });
  });
});

describe('cacheDir', () => {
  it.each([
    [{ HOME: '/home/a' }, '/home/a/.cache/pilot-agent/envoy'],
    [{ HOME: '/home/a', XDG_CACHE_HOME: '/c' }, '/c/pilot-agent/envoy'],
    [{ HOME: '/home/a', XDG_CACHE_HOME: 'relative' }, '/home/a/.cache/pilot-agent/envoy'],
    [{ HOME: '/home/a', XDG_CACHE_HOME: '/c', PILOT_AGENT_CACHE: '/p' }, '/p'],
  ])('%j → %s', (env, path) => assert.equal(cacheDir(env), path));
});
