import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { claimFolder } from '../../src/proxy/adopted-envoys.ts';

const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-claim-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('a folder has one claimant, by whatever name it is called, until that one has ended in whatever way', { timeout: 30_000 }, async () => {
  const link = `${folder}/link`;
  symlinkSync(folder, link);
  const code = `const { claimFolder } = await import('./src/proxy/adopted-envoys.ts');
    console.log(await claimFolder(${JSON.stringify(folder)}));
    process.stdin.resume();`;
  const other = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const [said] = (await once(other.stdout, 'data')) as [Buffer];
    expect(String(said).trim()).toBe('true');
    expect(await claimFolder(folder)).toBe(false);
    expect(await claimFolder(link)).toBe(false);
  } finally {
    other.kill('SIGKILL');
    await once(other, 'exit');
  }
  expect(await claimFolder(link)).toBe(true);
  expect(await claimFolder(folder)).toBe(false);
});
