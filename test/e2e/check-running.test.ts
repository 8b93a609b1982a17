import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import stringWidth from 'string-width';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { leftOut } from '../support/left-out.ts';
import { flawed, flawsOf, isPermitted, runCheck } from '../support/e2e/checked.ts';
import { program } from '../support/e2e/program.ts';
import { certificateEnv, makeRig, type Rig } from '../support/e2e/rig.ts';

const hasProcesses = isPermitted('unshare', '-pf');
if (!hasProcesses)
  leftOut('what `check` says of an agent that is process 1 (needs process namespaces)');

let rig: Rig;
beforeEach(async () => {
  rig = await makeRig();
});
afterEach(() => rig.dispose());

const flags = () => [
  ...['--customConfigFile', rig.config, '--configPath', join(rig.folder, 'run')],
  ...['--statusPort', String(rig.ports.status), '--proxyAdminPort', String(rig.ports.admin)],
];
const check = () => runCheck(flags(), { env: certificateEnv(rig.certDir) });

describe('check beside an agent that runs', () => {
  it('finds all in order: the ports are held by this agent and its Envoy', async () => {
    const agent = rig.start();
    await agent.said('epoch.live', 0);
    await expect.poll(async () => (await rig.ready()).status).toBe(200);
    const checked = await check();
    expect(checked.findings.filter(({ level }) => level !== 'ok')).toEqual([]);
    expect(checked).toMatchObject({ code: 0, agent: { pid: agent.pid } });
    const findings = checked.findings.map(({ check: name, what }) => `${name}: ${what}`);
    expect(findings).toContain('agent: it is ready');
    expect(findings).toContainEqual(
      expect.stringMatching(/^ports: .*: free, or held by this agent and its Envoy$/),
    );
  });

  it('takes the Envoy of another folder for a stranger', async () => {
    const agent = rig.start();
    await agent.said('epoch.live', 0);
    const checked = await runCheck([...flags(), '--configPath', join(rig.folder, 'other')]);
    expect(flawsOf('ports', checked)).toContainEqual(
      flawed(
        'fail',
        'port taken',
        new RegExp(
          `^${rig.ports.status} for the status port is taken by process ${agent.pid} \\(${basename(program[0])} `,
        ),
      ),
    );
    expect(flawsOf('ports', checked)).toContainEqual(
      flawed('fail', 'port taken', /for Envoy's admin endpoint is taken by process \d+ \(envoy\)/),
    );
  });

  it('says why it is not ready, and where that reason is explained', async () => {
    rmSync(join(rig.certDir, 'key.pem'));
    const agent = rig.start();
    await agent.said('files.awaited');
    const checked = await check();
    expect(checked.code).toBe(1);
    expect(flawsOf('agent', checked)).toEqual([
      expect.objectContaining({
        what: expect.stringMatching(/^it is not ready: waiting for .*key\.pem/) as string,
        see: 'docs/troubleshooting.md#waiting-for',
      }),
    ]);
  });

  it.skipIf(!hasProcesses)('warns of one that is process 1', async () => {
    const agent = rig.start([], { wrap: ['unshare', '-pf', '--kill-child', '--mount-proc'] });
    await agent.said('agent.process_one');
    expect(flawsOf('tools', await check())).toEqual([
      flawed('warn', 'agent.process_one', /the agent is process 1/, /tini/),
    ]);
  });

  it('says that it is silent', async () => {
    const agent = rig.start();
    await agent.said('epoch.live', 0);
    rmSync(join(rig.folder, 'run', 'status'));
    expect(flawsOf('agent', await check())).toEqual([
      flawed('fail', 'agent silent', /run\/status: connect ENOENT/),
    ]);
  });
});

describe.each([
  [80, 24],
  [200, 60],
])('check on a terminal of %i × %i', (columns, rows) => {
  /** Resolves to the lines that `check` prints on a terminal of that size. */
  async function onTerminal(...args: readonly string[]): Promise<readonly string[]> {
    const script = `
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', ${rows}, ${columns}, 0, 0))
    os.execvp(sys.argv[1], sys.argv[1:])
try:
    while chunk := os.read(fd, 65536):
        sys.stdout.buffer.write(chunk)
except OSError: pass
os.waitpid(pid, 0)`;
    const line = ['-c', script, ...program, 'check', ...args];
    const { stdout } = await promisify(execFile)('python3', line, {
      env: { ...process.env, TERM: 'xterm-256color', ...certificateEnv(rig.certDir) },
    });
    return stdout.replaceAll('\r', '').trimEnd().split('\n');
  }

  it('breaks no line badly, has colours, and tells all in one screen if all is in order', async () => {
    const lines = await onTerminal(...flags());
    expect(lines.filter((line) => stringWidth(line) > columns)).toEqual([]);
    expect(lines.join('\n')).toContain('\u001b[32m√\u001b[39m ports');
    expect(lines.length).toBeLessThanOrEqual(rows);
    const wrong = await onTerminal(
      '--binaryPath',
      `/nowhere/${'long/'.repeat(60)}envoy`,
      '--discoveryAddress',
      'nobody.invalid:15010',
    );
    expect(wrong.filter((line) => stringWidth(line) > columns)).toEqual([]);
    expect(wrong.join('\n')).toContain('\u001b[31m×\u001b[39m envoy');
    expect(wrong.at(-1)).toMatch(/^\d failures?, /);
  });
});
