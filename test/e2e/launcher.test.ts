import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pilot-agent-launcher-'));
  cpSync('dist', folder, { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

const inFolder = (name: string) => join(folder, name);

function run(env: NodeJS.ProcessEnv = {}) {
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    [inFolder('pilot-agent.cjs'), 'version', '--short'],
    {
      encoding: 'utf8',
      env: { ...process.env, ...env },
    },
  );
  return { status, signal, stdout, stderr };
}

function change(name: string, changed: (content: Buffer) => Buffer): void {
  writeFileSync(inFolder(name), changed(readFileSync(inFolder(name))));
}

it('a code cache in which bits have flipped, or of which a part is missing, is not used', () => {
  const right = run();
  expect(right).toMatchObject({ status: 0, stderr: '' });
  const whole = readFileSync(inFolder('main.cjs.cache'));
  const flipped = (every: number) =>
    whole.map((byte, index) => (index % every === every - 1 ? byte ^ 0x10 : byte));
  const damaged = [flipped(whole.length - 1), flipped(1 << 16), flipped(1 << 10)];
  const cut = [0, 10, 32, 5_000].map((length) => whole.subarray(0, length));
  for (const content of [...damaged, ...cut]) {
    change('main.cjs.cache', () => Buffer.from(content));
    expect(run()).toEqual(right);
  }
});

it('the code cache of another bundle of the same length is not used', () => {
  const { stdout } = run();
  const version = stdout.trim();
  const other = version.replace(/\d/g, '7');
  expect(other).not.toBe(version);
  change('main.cjs', (bundle) =>
    Buffer.from(bundle.toString('latin1').replaceAll(`"${version}"`, `"${other}"`), 'latin1'),
  );
  expect(run().stdout).toBe(stdout.replace(version, other));
});

it("SIGUSR1 does not open Node's inspector, from the first line of the program on", () => {
  const bundle = `(function () { process.kill(process.pid, 'SIGUSR1'); setTimeout(() => console.log('none'), 300); })`;
  change('main.cjs', () => Buffer.from(bundle));
  expect(run()).toEqual({ status: 0, signal: null, stdout: 'none\n', stderr: '' });
});
