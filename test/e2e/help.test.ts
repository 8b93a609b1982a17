import { spawnSync } from 'node:child_process';
import { chmodSync, closeSync, openSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { examples } from '../../src/pilot-agent/cli/examples.ts';
import { oldestEnvoy } from '../support/oldest-envoy.ts';
import { program } from '../support/e2e/program.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

/**
 * The commands that need no agent. A unit test of the help checks that the CLI accepts all
 * examples.
 */
const commands = ['bootstrap', 'config print', 'envoy install', 'envoy path', 'version', 'help'];
const shown = commands.flatMap((name) =>
  [...examples(`pilot-agent ${name}`).matchAll(/^ {2}\$ (.*)$/gm)].map(([, line = '']) => line),
);

let rig: Rig;
beforeAll(() => oldestEnvoy(), 120_000); // an example installs it: a download would be reported
beforeEach(async () => (rig = await makeRig({ plain: true })));
afterEach(() => rig.dispose());

it.each(shown)('the example %s does what its page says', (example) => {
  writeFileSync(join(rig.folder, 'pilot-agent'), `#!/bin/sh\nexec ${program.join(' ')} "$@"\n`);
  chmodSync(join(rig.folder, 'pilot-agent'), 0o755);
  writeFileSync(join(rig.folder, 'envoy.yaml'), 'static_resources: {}\n');
  const env = { ...process.env, PATH: `${rig.folder}:${process.env['PATH'] ?? ''}` };
  const { status, stdout, stderr } = spawnSync('sh', ['-c', example], {
    cwd: rig.folder,
    env,
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/\S\n+$/);
});

it.each([
  [
    {},
    "pilot-agent: unknown command 'nonsense'; see pilot-agent --help (docs/troubleshooting.md#exit-64)\n",
  ],
  [
    { FORCE_COLOR: '1' },
    "\u001b[31mpilot-agent:\u001b[39m unknown command 'nonsense'; see pilot-agent --help\u001b[90m (docs/troubleshooting.md#exit-64)\u001b[39m\n",
  ],
])('with %o an error on a pipe has the colours that the environment asks for', (env, line) => {
  const [file, ...args] = program;
  const outer = { ...process.env };
  delete outer['FORCE_COLOR'];
  expect(
    spawnSync(file, [...args, 'nonsense'], { env: { ...outer, ...env }, encoding: 'utf8' }).stderr,
  ).toBe(line);
});

const discovery = [process.execPath, resolve('dist/pilot-discovery.cjs')] as const;
it.each([
  ...['--help', 'help proxy', 'version', 'completion bash', 'config print'].map(
    (words) => [program, words] as const,
  ),
  ...['--help', 'help analyze', 'version'].map((words) => [discovery, words] as const),
])(
  '%s %s ends with 69 on a full disk, and with 0 if its reader is gone',
  ([file, ...args], words) => {
    const command = [...args, ...words.split(' ')];
    const full = openSync('/dev/full', 'w');
    const lost = spawnSync(file, command, { stdio: ['ignore', full, 'pipe'], encoding: 'utf8' });
    closeSync(full);
    expect([lost.status, lost.stderr]).toEqual([
      69,
      expect.stringMatching(/^pilot-\w+: the output cannot be written: ENOSPC.*\n$/),
    ]);
    const unread = '(sleep 0.1; "$0" "$@"; echo "$?" >&2) | true';
    const gone = spawnSync('sh', ['-c', unread, file, ...command], { encoding: 'utf8' });
    expect(gone.stderr).toBe('0\n');
  },
);
