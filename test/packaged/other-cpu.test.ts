import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { leftOut } from '../support/left-out.ts';

const other = process.arch === 'x64' ? 'arm64' : 'x64';
const emulator = {
  arm64: ['qemu-aarch64-static', '/usr/aarch64-linux-gnu'],
  x64: ['qemu-x86_64-static', '/usr/x86_64-linux-gnu'],
}[other];
const executable = `executable/pilot-agent-linux-${other}`;
const [qemu = '', root = ''] = emulator;
const isPossible =
  existsSync(executable) && existsSync(root) && spawnSync(qemu, ['--version']).status === 0;
if (!isPossible) leftOut(`the executable for ${other}, under ${qemu}`, 'a program');

function run(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const { status, stdout, stderr } = spawnSync(qemu, ['-L', root, executable, ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  return { status, stdout, stderr };
}

describe.runIf(isPossible)(`the executable for ${other}`, () => {
  it('takes its code cache, and says its version', () => {
    const result = run(['version', '--short'], { PILOT_AGENT_CODE_CACHE: 'check' });
    expect(result).toEqual({ status: 0, stdout: `${packageJson.version}\n`, stderr: '' });
  });

  it('prints its help, and a bootstrap', () => {
    expect(run(['--help'])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('proxy') as string,
    });
    const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-other-'));
    const { status, stdout } = run(['bootstrap', '--configPath', folder], {
      POD_NAME: 'pod',
      POD_NAMESPACE: 'ns',
      INSTANCE_IP: '10.1.2.3',
    });
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      node: { id: 'sidecar~10.1.2.3~pod.ns~ns.svc.cluster.local' },
    });
    rmSync(folder, { recursive: true });
  });
});
