import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { exitCodes } from '../../src/shared/program/exit.ts';
import { leftOut } from '../support/left-out.ts';

const has = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
const built = `executable/pilot-agent-linux-${process.arch}`;
const run = (program: string, args: readonly string[]) =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'pilot-agent-debian-'))));
afterAll(() => rmSync(folder, { recursive: true }));

const canPackage = ['dpkg', 'dpkg-deb', 'gcc'].every(has);
if (!canPackage) leftOut('The Debian package: there is no dpkg, or no gcc', 'a program');

describe.runIf(canPackage)('the Debian package', () => {
  let root: string;
  let deb: string;
  const inRoot = (path: string) => join(root, path);

  beforeAll(() => {
    let executable = resolve(built);
    if (!existsSync(executable)) {
      executable = join(folder, 'executable');
      writeFileSync(
        executable,
        `#!/bin/sh\nexec '${process.execPath}' '${resolve('dist/pilot-agent.cjs')}' "$@"\n`,
        { mode: 0o755 },
      );
    }
    deb = run(process.execPath, [
      'scripts/package-deb.mjs',
      process.arch,
      executable,
      folder,
    ]).trim();
    root = join(folder, 'root');
    for (const path of ['var/lib/dpkg/info', 'var/lib/dpkg/updates'])
      mkdirSync(inRoot(path), { recursive: true });
    writeFileSync(inRoot('var/lib/dpkg/status'), '');
    run('dpkg', [
      '--root',
      root,
      '--force-not-root',
      '--force-depends',
      '--no-triggers',
      '--unpack',
      deb,
    ]);
  });

  it('runs where it is installed, with the guard beside it', () => {
    expect(run(inRoot('usr/bin/pilot-agent'), ['--version']).trim()).toBe(packageJson.version);
    expect(
      spawnSync(inRoot('usr/lib/pilot-agent/pilot-agent-guard'), { encoding: 'utf8' }),
    ).toMatchObject({ status: exitCodes.usage });
  });

  it('has what belongs to a program, all of it of root', () => {
    const listed = run('dpkg-deb', ['--contents', deb]).trim().split('\n');
    expect(listed.filter((line) => !line.includes(' root/root '))).toEqual([]);
    const texts = [
      'usr/share/bash-completion/completions/pilot-agent',
      'usr/share/zsh/vendor-completions/_pilot-agent',
      'usr/share/fish/vendor_completions.d/pilot-agent.fish',
    ];
    for (const path of texts) expect(readFileSync(inRoot(path), 'utf8')).toContain('pilot-agent');
    expect(readFileSync(inRoot('usr/share/pilot-agent/pilot-agent.schema.json'), 'utf8')).toBe(
      readFileSync('schema/pilot-agent.schema.json', 'utf8'),
    );
    expect(run('gzip', ['-cd', inRoot('usr/share/man/man1/pilot-agent.1.gz')])).toBe(
      readFileSync('man/pilot-agent.1', 'utf8'),
    );
    expect(
      run('gzip', ['-cd', inRoot('usr/share/doc/pilot-agent/THIRD-PARTY-NOTICES.txt.gz')]),
    ).toContain('rxjs');
    expect(readFileSync(inRoot('usr/share/doc/pilot-agent/copyright'), 'utf8')).toContain(
      'Apache-2.0',
    );
  });

  it('leaves nothing when it is removed', () => {
    const other = join(folder, 'other');
    execFileSync('cp', ['-a', root, other]);
    for (const script of ['postinst', 'postrm'])
      rmSync(join(other, `var/lib/dpkg/info/pilot-agent.${script}`)); // they need a shell in the root
    run('dpkg', [
      '--root',
      other,
      '--force-not-root',
      '--force-depends',
      '--no-triggers',
      '--purge',
      'pilot-agent',
    ]);
    expect(run('find', [other, '-name', '*pilot-agent*']).trim()).toBe('');
  });

  if (!has('lintian')) leftOut('lintian, for the Debian package', 'a program');
  it.runIf(has('lintian'))('is in order for lintian', () => {
    // Node contains its libraries, the guard needs none, and no bug of Debian requested this
    // package.
    const meant = [
      'embedded-library',
      'statically-linked-binary',
      'initial-upload-closes-no-bugs',
      'no-changelog',
      'unstripped-binary-or-object',
    ];
    const { stdout } = spawnSync(
      'lintian',
      ['--allow-root', '--no-cfg', '--suppress-tags', meant.join(','), deb],
      { encoding: 'utf8' },
    );
    expect(stdout.split('\n').filter((line) => line.startsWith('E:'))).toEqual([]);
  });
});

const hasSystemd = has('systemd-analyze');
if (!hasSystemd) leftOut('The unit of systemd, by systemd-analyze', 'a program');

describe('the unit of systemd', () => {
  const unit = readFileSync('deploy/systemd/pilot-agent.service', 'utf8');
  const setting = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? '';

  it.runIf(hasSystemd)('is in order for systemd, which finds it little exposed', () => {
    const file = join(folder, 'pilot-agent.service');
    // The program is not installed here, so the unit names another one.
    writeFileSync(
      file,
      unit.replace('/usr/bin/pilot-agent', '/bin/true').replace(/^User=.*$/m, 'User=daemon'),
    );
    expect(
      spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' }),
    ).toMatchObject({ status: 0, stderr: '' });
    const { status, stdout } = spawnSync(
      'systemd-analyze',
      ['security', '--offline=true', '--threshold=40', '--no-pager', file],
      {
        encoding: 'utf8',
      },
    );
    expect(status, stdout).toBe(0);
  });

  it('ends the agent alone, which drains, and has the time for it', () => {
    expect(setting('KillMode')).toBe('mixed');
    const drain = Number(setting('Environment=TERMINATION_DRAIN_DURATION_SECONDS'));
    expect(Number(setting('TimeoutStopSec'))).toBeGreaterThanOrEqual(drain + 3);
    expect(setting('RestartPreventExitStatus')).toBe(`${exitCodes.usage} ${exitCodes.config}`);
  });

  it('has flags that the agent takes without a warning', () => {
    const [, , ...args] = setting('ExecStart').split(' ');
    const config = join(folder, 'agent.yaml');
    writeFileSync(config, '{}');
    const given = args.map((arg) => (arg === '/etc/pilot-agent/agent.yaml' ? config : arg));
    const env = { PATH: process.env['PATH'], TERMINATION_DRAIN_DURATION_SECONDS: '20' };
    const printed = spawnSync(
      process.execPath,
      ['dist/pilot-agent.cjs', 'config', 'print', ...given],
      { encoding: 'utf8', env },
    );
    expect(printed).toMatchObject({ status: 0, stderr: '' });
    expect(args).toEqual(
      expect.arrayContaining(['--configPath', `/run/${setting('RuntimeDirectory')}`]),
    );
  });
});
