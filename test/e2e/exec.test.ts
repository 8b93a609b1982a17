import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { withoutDrain } from '../support/e2e/bad-input-program.ts';
import { program } from '../support/e2e/program.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

let rig: Rig;
afterEach(() => rig.dispose());

/** Runs `pilot-agent exec` with a command of the shell. */
function exec(script: string, flags: readonly string[] = []) {
  return execCommand(['sh', '-c', script], flags);
}

function execCommand(command: readonly string[], flags: readonly string[] = []) {
  const [file, ...main] = program;
  const child = spawn(file, [
    ...main,
    'exec',
    '--statusPort',
    String(rig.ports.status),
    ...flags,
    '--',
    ...command,
  ]);
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (stdout += piece));
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (stderr += piece));
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((done) =>
    child.once('close', (code) => done({ code, stdout, stderr })),
  );
  return { child, ended, output: () => stdout, errors: () => stderr };
}

it('holds the command back until the agent is ready, ends the agent with it, and returns its code', async () => {
  rig = await makeRig({ plain: true });
  const look = `fetch('http://127.0.0.1:${rig.ports.status}/healthz/ready').then(({ status }) => (console.log(status), process.exit(7)))`;
  const { ended, errors } = execCommand([process.execPath, '-e', look]);
  await expect
    .poll(errors)
    .toMatch(/^pilot-agent: waiting for the agent: connect ECONNREFUSED .*\n$/);
  const agent = rig.start([], { env: withoutDrain });
  const { stderr, ...rest } = await ended;
  expect(rest).toEqual({ code: 7, stdout: '200\n' });
  expect(stderr).toMatch(
    /^(pilot-agent: waiting for the agent: .*\n)+pilot-agent: the agent is ready after \d+\.\d s\n$/,
  );
  expect(await agent.exit).toEqual({ code: 0, signal: null });
  expect(agent.log().find(({ event }) => event === 'termination.requested')).toMatchObject({
    by: '/quitquitquit',
  });
});

it('passes signals on to the command, and says what ended it', async () => {
  rig = await makeRig({ plain: true });
  const agent = rig.start([], { env: withoutDrain });
  const { child, ended, output } = exec(
    "trap 'echo heard' USR1; trap 'kill -KILL $$' TERM; echo up; while :; do sleep 0.05; done",
    ['--quiet'],
  );
  await expect.poll(output).toBe('up\n');
  child.kill('SIGUSR1');
  await expect.poll(output).toBe('up\nheard\n');
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ code: 137, stderr: '' });
  expect((await agent.exit).code).toBe(0);
});

it('ends with 127 and a line for a command that is not there, and ends the agent all the same', async () => {
  rig = await makeRig({ plain: true });
  const agent = rig.start([], { env: withoutDrain });
  const { code, stderr } = await execCommand([join(rig.folder, 'no-such-command')], ['--quiet'])
    .ended;
  expect([code, stderr]).toEqual([
    127,
    expect.stringMatching(
      /^pilot-agent: .*no-such-command.*ENOENT \(docs.troubleshooting\.md#exit-other\)\n$/,
    ),
  ]);
  expect((await agent.exit).code).toBe(0);
});

it('does not start the command if the agent is not ready in time, and ends with 69', async () => {
  rig = await makeRig({ plain: true });
  const result = await exec('echo started', ['--timeoutSeconds', '1']).ended;
  expect(result).toMatchObject({ code: 69, stdout: '' });
  expect(result.stderr).toMatch(
    /^pilot-agent: waiting for the agent: (connect ECONNREFUSED .*)\npilot-agent: the agent is not ready within 1 s: \1 .*\n$/,
  );
});

it('returns the code of the command also if the agent is gone by then, and says so', async () => {
  rig = await makeRig({ plain: true });
  const agent = rig.start([], { env: withoutDrain });
  const { ended } = exec(
    `kill -KILL ${agent.pid}; while kill -0 ${agent.pid} 2>/dev/null; do sleep 0.05; done; exit 3`,
    ['--quiet'],
  );
  const { code, stderr } = await ended;
  expect([code, stderr]).toEqual([
    3,
    expect.stringMatching(/^pilot-agent: the agent cannot be asked to quit: connect ECONNREFUSED/),
  ]);
});
