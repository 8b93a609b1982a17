import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type InstalledPackage, installPackage } from '../support/e2e/installed-package.ts';
import { makeRig } from '../support/e2e/rig.ts';

/** The arguments that make Node run TypeScript, if this Node does not run it without them. */
const tsx =
  'typescript' in process.features
    ? []
    : ['--import', pathToFileURL('node_modules/tsx/dist/loader.mjs').href];

describe('the examples, with the package installed elsewhere', () => {
  let installed: InstalledPackage;
  beforeAll(() => {
    installed = installPackage(['rxjs']);
    cpSync('examples', join(installed.folder, 'examples'), { recursive: true });
    writeFileSync(join(installed.folder, 'package.json'), JSON.stringify({ type: 'module' }));
  });
  afterAll(() => installed.dispose());

  it.each(['own-source', 'timing-rule', 'two-clusters'])('%s keeps what its test says', (name) => {
    const args = [...tsx, '--test', '--test-reporter', 'tap', `examples/${name}.test.ts`];
    const { stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: installed.folder,
      encoding: 'utf8',
    });
    expect(stdout + stderr).toMatch(/^# pass [1-9]/m);
    expect(stdout + stderr).toMatch(/^# fail 0$/m);
  });

  it('embedded-agent serves, and ends as it is asked', async () => {
    const rig = await makeRig({ plain: true });
    writeFileSync(join(rig.folder, 'switches.json'), '{}');
    const { folder, config, ports } = rig;
    const args = [
      ...tsx,
      'examples/embedded-agent.ts',
      config,
      join(folder, 'run'),
      String(ports.admin),
      String(ports.status),
    ];
    const env = { ...process.env, MINIMUM_DRAIN_DURATION: '0s' };
    const child = spawn(process.execPath, args, {
      cwd: installed.folder,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => (output += piece));
    try {
      await expect.poll(() => output).toContain('epoch 0 serves');
      child.kill('SIGTERM');
      expect(await once(child, 'close')).toEqual([0, null]);
      expect(output).toBe('nobody serves\nepoch 0 serves\nnobody serves\nended as asked\n');
      expect(rig.envoys()).toEqual([]);
    } finally {
      child.kill('SIGKILL');
      await rig.dispose();
    }
  });
});
