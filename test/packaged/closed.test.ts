import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask } from '../support/ask.ts';
import { program } from '../support/e2e/program.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

const [executable] = program;

function run(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const { status, stdout, stderr } = spawnSync(executable, args, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  return { status, stdout, stderr };
}

describe('the code cache', () => {
  it('is taken', () => {
    expect(run(['version'], { PILOT_AGENT_CODE_CACHE: 'check' })).toMatchObject({
      status: 0,
      stderr: '',
    });
  });

  it('would be missed: under another flag of V8 it is told that it is not used', () => {
    const { stderr } = spawnSync(
      process.execPath,
      ['--no-lazy', 'dist/pilot-agent.cjs', 'version'],
      {
        encoding: 'utf8',
        env: { ...process.env, PILOT_AGENT_CODE_CACHE: 'check' },
      },
    );
    expect(stderr).toContain('the code cache of main.cjs is not used');
  });

  it('of Node, for its own modules, is taken under the flags of the executable', async () => {
    const { execArgv, nodePackage } = (await import(resolve('scripts/package-options.mjs'))) as {
      readonly execArgv: readonly string[];
      readonly nodePackage: (cpu: string) => string;
    };
    const node = `${nodePackage(process.arch)}/bin/node`;
    const count = `for (const name of ['child_process', 'crypto', 'http']) require(name);
      const { compiledWithCache, compiledWithoutCache } = require('internal/test/binding').internalBinding('builtins').getCacheUsage();
      console.log(JSON.stringify({ taken: compiledWithCache.size > 20, refused: [...compiledWithoutCache] }));`;
    const flags = [...execArgv, '--no-warnings', '--expose-internals'];
    const { error, stdout } = spawnSync(node, [...flags, '-e', count], { encoding: 'utf8' });
    expect(error).toBeUndefined();
    expect(JSON.parse(stdout)).toEqual({ taken: true, refused: [] });
  });
});

describe('nothing from outside gets in', () => {
  let rig: Rig;
  beforeEach(async () => void (rig = await makeRig()));
  afterEach(() => rig.dispose());

  it('NODE_OPTIONS has no effect', () => {
    const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-closed-'));
    const file = join(folder, 'required.cjs');
    writeFileSync(file, "console.log('it was loaded')");
    const wanted = run(['version']);
    for (const options of [
      `--require ${file}`,
      '--inspect=0',
      '--throw-deprecation --no-such-flag',
    ])
      expect(run(['version'], { NODE_OPTIONS: options })).toEqual(wanted);
    rmSync(folder, { recursive: true });
  });

  it('a flag of Node is a flag that the agent does not know', () => {
    for (const flag of ['--inspect=0', '--eval=1', '--print=1'])
      expect(run([flag])).toMatchObject({ status: 64, stdout: '' });
  });

  it('SIGUSR1 opens the log file anew, and no inspector', async () => {
    const file = join(rig.folder, 'agent.log');
    const agent = rig.start(['--log_target', file, '--log_target', 'stdout']);
    await agent.said('epoch.live', 0);
    renameSync(file, `${file}.1`);
    agent.kill('SIGUSR1');
    await expect.poll(() => existsSync(file)).toBe(true);
    expect(await ask(9229, '/json')).toMatchObject({ status: 0 });
    expect(agent.errors()).toBe('');
  });

  it('the page, which is loaded late, is in it', async () => {
    const agent = rig.start();
    await agent.said('epoch.live', 0);
    expect((await ask(rig.ports.status, '/')).body).toMatch(/^<!doctype html>/i);
  });
});

it('ends by the signal that it gets before it has begun', async () => {
  const child = spawn(
    executable,
    ['wait', '--url', 'http://127.0.0.1:1/', '--timeoutSeconds', '60'],
    { stdio: 'ignore' },
  );
  await new Promise((done) => setTimeout(done, 500));
  child.kill('SIGTERM');
  expect(
    await new Promise((done) => child.once('exit', (code, signal) => done({ code, signal }))),
  ).toEqual({
    code: null,
    signal: 'SIGTERM',
  });
});
