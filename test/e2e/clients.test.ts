import { execFile } from 'node:child_process';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePorts } from '../support/free-ports.ts';
import { withoutDrain } from '../support/e2e/bad-input-program.ts';
import { program } from '../support/e2e/program.ts';
import { type LogLine, makeRig, type Rig, type RunningAgent } from '../support/e2e/rig.ts';

const [file, ...main] = program;
/** Runs a command. Resolves to its exit code and what it prints. */
const run = (...args: readonly string[]) =>
  promisify(execFile)(file, [...main, ...args]).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: unknown) => {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      return { code, stdout, stderr };
    },
  );
const messages = (log: string) =>
  log
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as LogLine).msg);

describe('beside an agent that runs', () => {
  let rig: Rig;
  let agent: RunningAgent;
  let logFile: string;

  beforeAll(async () => {
    rig = await makeRig({ plain: true });
    logFile = join(rig.folder, 'agent.log');
    agent = rig.start(['--log_target', 'stdout', '--log_target', logFile], { env: withoutDrain });
  });
  afterAll(() => rig.dispose());

  it('wait is over when the agent is ready', async () => {
    const url = `http://localhost:${rig.ports.status}/healthz/ready`;
    expect(await run('wait', '--url', url, '--periodMillis', '50', '--quiet')).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
    expect((await rig.ready()).status).toBe(200);
  });

  it('request finds its Envoy, and prints the answer as it is', async () => {
    const { stdout, ...rest } = await run(
      'request',
      'GET',
      'server_info',
      '--configPath',
      join(rig.folder, 'run'),
    );
    expect(rest).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ state: 'LIVE' });
  });

  it('request ends with 1 and one line if Envoy refuses', async () => {
    const why =
      'pilot-agent: received unsuccessful status code 405: Method GET not allowed, POST required. (docs/troubleshooting.md#exit-1)\n';
    const refused = await run('request', 'GET', '/quitquitquit', '--port', String(rig.ports.admin));
    expect(refused).toEqual({ code: 1, stdout: '', stderr: why });
  });

  it('a log file that was moved away is opened anew by SIGUSR1', async () => {
    renameSync(logFile, `${logFile}.1`);
    agent.kill('SIGUSR1');
    await expect.poll(() => existsSync(logFile)).toBe(true);
    agent.kill('SIGTERM');
    expect((await agent.exit).code).toBe(0);
    const [before = [], after = []] = [`${logFile}.1`, logFile].map((path) =>
      messages(readFileSync(path, 'utf8')),
    );
    expect(after).toContain('no Envoy is left');
    expect([...before, ...after]).toEqual(messages(agent.output()));
  });
});

it('wait and request end with 69 if there is nobody, and say so; wait said before what it waits for', async () => {
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}/`;
  const [waited, requested] = await Promise.all([
    run('wait', '--timeoutSeconds', '1', '--url', url),
    run('request', 'GET', 'stats', '--port', String(port)),
  ]);
  const why = `connect ECONNREFUSED 127.0.0.1:${port}`;
  const refused = `${why} (docs/troubleshooting.md#exit-69)\n`;
  const stderr = `pilot-agent: waiting for ${url}: ${why}\npilot-agent: ${url} is not ready within 1 s: ${refused}`;
  expect(waited).toEqual({ code: 69, stdout: '', stderr });
  expect(requested).toEqual({
    code: 69,
    stdout: '',
    stderr: `pilot-agent: Envoy's admin endpoint does not answer: ${why}: start an agent, or name the admin port of one by --port (docs/troubleshooting.md#exit-69)\n`,
  });
});
