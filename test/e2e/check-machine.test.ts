import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { envoyConfig } from '../../demo/envoy-config.ts';
import { findExecutable } from '../../src/pilot-agent/envoy/find-envoy.ts';
import { leftOut } from '../support/left-out.ts';
import { realEnvoy } from '../support/e2e/bad-input-program.ts';
import { groupable } from '../support/e2e/machine-faults.ts';
import { flawed, flawsOf, isPermitted, makeCheck, runCheck } from '../support/e2e/checked.ts';

const hasMounts = isPermitted('unshare', '-m');
const nobody = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'];
const hasUsers = isPermitted(...nobody);
if (!hasMounts) leftOut('what `check` says of a full or read-only disk (needs mount namespaces)');
const groups = '/sys/fs/cgroup/memory';
const hasGroups = groupable('memory');
if (!hasGroups)
  leftOut('what `check` says of the limit of memory (needs control groups of version 1)');
const hasNetworks = isPermitted('unshare', '-n');
if (!hasNetworks)
  leftOut('what `check` says of connections that may wait (needs network namespaces)');
const hasUserNamespaces = isPermitted('unshare', '-Ur');
if (!hasUserNamespaces)
  leftOut('what `check` says of files that cannot be watched (needs user namespaces)');
if (!hasUsers) leftOut('what `check` says to a user who may not (needs root)');

/**
 * Returns a command that runs these commands in a mount namespace of its own, and then becomes the
 * program.
 */
const mounted = (commands: string) => [
  'unshare',
  '-m',
  'sh',
  '-c',
  `${commands} && exec "$@"`,
  'sh',
];

describe('check of the configuration', () => {
  it('tells what is wrong with a file, and nothing once that is right', async () => {
    const check = await makeCheck();
    const file = join(check.folder, 'agent.yaml');
    writeFileSync(file, 'drainDuraton: 10s\n');
    const wrong = await check.run({ config: file });
    expect(flawsOf('configuration', wrong)).toEqual([
      flawed('fail', 'configuration wrong', /agent\.yaml.*drainDuraton/),
    ]);
    expect(wrong.code).toBe(1);
    writeFileSync(file, 'drainDuration: 10s\n');
    expect(flawsOf('configuration', await check.run({ config: file }))).toEqual([]);
  });

  it('tells what is odd', async () => {
    const check = await makeCheck();
    const odd = await check.run({}, { env: { SECRET_TTL: 'soon' } });
    expect(flawsOf('configuration', odd)).toEqual([flawed('warn', 'config.warning', /SECRET_TTL/)]);
    expect(flawsOf('configuration', await check.run({}, { env: { SECRET_TTL: '1h' } }))).toEqual(
      [],
    );
  });

  it('ends with 64 for a command line that is wrong by itself, and for an output that there is not', async () => {
    expect(await runCheck(['--statusPort', 'x'])).toMatchObject({
      code: 64,
      output: expect.stringContaining('--statusPort') as string,
    });
    expect(await runCheck(['-o', 'xml'])).toMatchObject({
      code: 64,
      output: expect.stringContaining('--output') as string,
    });
  });
});

describe('check of Envoy', () => {
  it('says where it has looked for one', async () => {
    const check = await makeCheck();
    expect(flawsOf('envoy', await check.run({ binaryPath: join(check.folder, 'envoy') }))).toEqual([
      flawed(
        'fail',
        'envoy missing',
        /--binaryPath .*envoy does not exist/,
        /pilot-agent envoy install/,
      ),
    ]);
    expect(flawsOf('envoy', await check.run({ binaryPath: realEnvoy() }))).toEqual([]);
  });

  it.each([
    ['does not run', 'exit 1', 'fail', 'envoy broken', /does not run/],
    ['is something else', 'echo hello', 'fail', 'envoy broken', /is not an Envoy/],
    [
      'is too old',
      'echo "envoy  version: abc/1.35.9/Clean/RELEASE/BoringSSL"',
      'warn',
      'envoy.unsupported',
      /is 1\.35\.9, and 1\.36 to 1\.40/,
    ],
    [
      'is too new',
      'echo "envoy  version: abc/1.41.0/Clean/RELEASE/BoringSSL"',
      'warn',
      'envoy.unsupported',
      /is 1\.41\.0/,
    ],
  ] as const)('says that one %s', async (_, script, level, flaw, what) => {
    const check = await makeCheck();
    const binaryPath = join(check.folder, 'envoy');
    writeFileSync(binaryPath, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    expect(flawsOf('envoy', await check.run({ binaryPath }))[0]).toEqual(flawed(level, flaw, what));
  });
});

describe('check of Envoy over its configuration', () => {
  it('says what Envoy refuses, and nothing once that is right', async () => {
    const check = await makeCheck();
    const customConfigFile = join(check.folder, 'envoy.json');
    const { health: listenPort, admin: adminPort } = check.ports;
    writeFileSync(
      customConfigFile,
      JSON.stringify({ ...envoyConfig({ adminPort, listenPort }), static_resourses: {} }),
    );
    expect(flawsOf('envoy', await check.run({ customConfigFile }))).toEqual([
      flawed('fail', 'config.refused', /^it refuses its configuration: .*static_resourses/),
    ]);
    writeFileSync(customConfigFile, JSON.stringify(envoyConfig({ adminPort, listenPort })));
    const right = await check.run({ customConfigFile });
    expect(flawsOf('envoy', right)).toEqual([]);
    expect(right.findings.map(({ what }) => what)).toContain('it accepts its configuration');
  });

  it('says that it could not ask', async () => {
    const check = await makeCheck();
    expect(flawsOf('envoy', await check.run({}, { env: { TMPDIR: '/nowhere' } }))).toEqual([
      flawed(
        'warn',
        'check unfinished',
        /it was not asked about its configuration: ENOENT/,
        /TMPDIR/,
      ),
    ]);
  });
});

describe('check of ports', () => {
  it.each([
    ['status', /for the status port/, /--statusPort/],
    ['admin', /for Envoy's admin endpoint/, /--proxyAdminPort/],
    ['prometheus', /for Envoy's listener \w+/, /ENVOY_PROMETHEUS_PORT/],
    ['health', /for Envoy's listener \w+/, /ENVOY_STATUS_PORT/],
  ] as const)('names who has taken that of %s, and what changes it', async (name, what, fix) => {
    const check = await makeCheck();
    const server = createServer().listen(check.ports[name], '127.0.0.1');
    await once(server, 'listening');
    expect(flawsOf('ports', await check.run())).toEqual([
      flawed(
        'fail',
        'port taken',
        new RegExp(`${check.ports[name]} ${what.source} is taken by process ${process.pid} \\(`),
        fix,
      ),
    ]);
    await new Promise((done) => server.close(done));
    expect(flawsOf('ports', await check.run())).toEqual([]);
  });

  it('looks for them in a configuration of the user', async () => {
    const check = await makeCheck();
    const customConfigFile = join(check.folder, 'envoy.json');
    const { health: listenPort, admin: adminPort } = check.ports;
    writeFileSync(customConfigFile, JSON.stringify(envoyConfig({ adminPort, listenPort })));
    const server = createServer().listen(listenPort, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    expect(flawsOf('ports', await check.run({ customConfigFile }))).toEqual([
      flawed(
        'fail',
        'port taken',
        new RegExp(`^${listenPort} for Envoy's listener`),
        /the listener in .*envoy\.json/,
      ),
    ]);
  });

  it('says that one is given twice', async () => {
    const check = await makeCheck();
    const customConfigFile = join(check.folder, 'envoy.json');
    const { status: listenPort, admin: adminPort } = check.ports;
    writeFileSync(customConfigFile, JSON.stringify(envoyConfig({ adminPort, listenPort })));
    expect(flawsOf('ports', await check.run({ customConfigFile }))).toEqual([
      flawed(
        'fail',
        'port twice',
        new RegExp(`^${listenPort} is for both Envoy's listener`),
        /envoy\.json and --statusPort/,
      ),
    ]);
    expect(flawsOf('ports', await check.run({ customConfigFile, statusPort: '0' }))).toEqual([]);
  });

  it.skipIf(!hasUsers)(
    'says that this user may not have one, and who has one cannot be seen',
    async () => {
      const check = await makeCheck();
      const server = createServer().listen(check.ports.admin, '127.0.0.1');
      onTestFinished(() => void server.close());
      await once(server, 'listening');
      const as = (user: readonly string[]) =>
        check.run({ statusPort: '80' }, { wrap: user, env: { ENVOY_BIN: '/bin/true' } });
      chmodSync(check.folder, 0o755);
      expect(flawsOf('ports', await as(nobody))).toEqual([
        flawed('fail', 'port privileged', /^80 for the status port/, /--statusPort/),
        flawed('fail', 'port taken', /is taken by a process of user 0 that cannot be seen/),
      ]);
      const capable = [
        ...nobody,
        '--inh-caps',
        '+net_bind_service',
        '--ambient-caps',
        '+net_bind_service',
      ];
      expect(flawsOf('ports', await as(capable))).toEqual([
        flawed('fail', 'port taken', /is taken by a process of user 0/),
      ]);
    },
  );
});

describe('check of tools', () => {
  it('names each that is missing, and the package that has it', async () => {
    const check = await makeCheck();
    const bin = join(check.folder, 'bin');
    mkdirSync(bin);
    const all = ['setpriv', 'mkfifo', 'sh', 'grep', 'rm', 'rmdir', 'setsid'];
    const link = (name: string) =>
      symlinkSync(findExecutable(name, process.env['PATH']) ?? '', join(bin, name));
    all.slice(1, -1).forEach(link);
    const look = async () =>
      flawsOf('tools', await check.run({ keepEnvoy: 'true' }, { env: { PATH: bin } }));
    expect(await look()).toEqual([
      flawed('warn', 'tool.missing', /^setpriv is not in PATH/, /util-linux/),
      flawed('fail', 'tool.missing', /--keepEnvoy needs setsid/, /util-linux/),
    ]);
    link('setpriv');
    link('setsid');
    expect(await look()).toEqual([]);
  });
});

describe('check of folders', () => {
  it('says that a folder is none', async () => {
    const check = await makeCheck();
    const file = join(check.folder, 'file');
    writeFileSync(file, '');
    for (const configPath of [file, join(file, 'below')])
      expect(flawsOf('folders', await check.run({ configPath }))).toEqual([
        flawed('fail', 'folder unwritable', /--configPath .*file/),
      ]);
    rmSync(file);
    expect(flawsOf('folders', await check.run({ configPath: file }))).toEqual([]);
    expect(readdirSync(check.folder)).toEqual([]); // the check changes nothing
  });

  it.skipIf(!hasUsers)('says who may not write there', async () => {
    const check = await makeCheck();
    const look = async () => flawsOf('folders', await check.run({}, { wrap: nobody }));
    chmodSync(check.folder, 0o755);
    expect(await look()).toEqual([
      flawed('fail', 'folder unwritable', /cannot be written by user 65534: EACCES/),
    ]);
    chmodSync(check.folder, 0o777);
    expect(await look()).toEqual([]);
  });

  it.skipIf(!hasMounts)('says that a disk is full', async () => {
    const check = await makeCheck();
    const look = async (size: string) =>
      flawsOf(
        'folders',
        await check.run(
          {},
          {
            wrap: mounted(
              `mount -t tmpfs -o size=${size} tmpfs ${check.folder} && cd ${check.folder}`,
            ),
          },
        ),
      );
    expect(await look('64k')).toEqual([flawed('fail', 'folder full', /--configPath .*64 KiB/)]);
    expect(await look('64m')).toEqual([]);
  });
});

describe.skipIf(!hasMounts)('check of shared memory', () => {
  it('says that it is full', async () => {
    const check = await makeCheck();
    const look = async (size: string) =>
      flawsOf(
        'shared memory',
        await check.run({}, { wrap: mounted(`mount -t tmpfs -o size=${size} tmpfs /dev/shm`) }),
      );
    expect(await look('64k')).toEqual([
      flawed('fail', 'shared memory full', /64 KiB are free in \/dev\/shm/),
    ]);
    expect(await look('64m')).toEqual([]);
  });

  it('says that it cannot be written', async () => {
    const check = await makeCheck();
    const readOnly = 'mount --bind /dev/shm /dev/shm && mount -o remount,bind,ro /dev/shm';
    expect(flawsOf('shared memory', await check.run({}, { wrap: mounted(readOnly) }))).toEqual([
      flawed('fail', 'shared memory unusable', /\/dev\/shm cannot be written by user \d+: EROFS/),
    ]);
    expect(flawsOf('shared memory', await check.run())).toEqual([]);
  });
});

describe('check of limits', () => {
  it('says that more threads are asked for than there are cores', async () => {
    const check = await makeCheck();
    const look = async (concurrency: string) =>
      flawsOf('limits', await check.run({ concurrency }, { env: { ISTIO_CPU_LIMIT: '1' } }));
    expect(await look('8')).toEqual([
      flawed(
        'warn',
        'threads many',
        /^--concurrency is 8, and 1 of \d+ cores may be used/,
        /--concurrency 1 at most/,
      ),
    ]);
    expect(await look('1')).toEqual([]);
  });
});

describe.skipIf(!hasGroups)('check of the limit of memory', () => {
  it('says that it is low', async () => {
    const check = await makeCheck();
    const group = `${groups}/pilot-agent-check-${process.pid}`;
    mkdirSync(group);
    onTestFinished(() => rmdirSync(group));
    const look = async (bytes: number) => {
      writeFileSync(join(group, 'memory.limit_in_bytes'), String(bytes));
      const wrap = ['sh', '-c', `echo $$ > ${group}/cgroup.procs && exec "$@"`, 'sh'];
      return flawsOf('limits', await check.run({}, { wrap }));
    };
    expect(await look(120 << 20)).toEqual([
      flawed('warn', 'memory low', /^the limit of memory is 120 MiB/, /128 MiB or more/),
    ]);
    expect(await look(256 << 20)).toEqual([]);
  });
});

describe('check of the kernel', () => {
  it('says that few files may be open', async () => {
    const check = await makeCheck();
    const look = async (limit: number) =>
      flawsOf('kernel', await check.run({}, { wrap: ['prlimit', `--nofile=${limit}:${limit}`] }));
    expect(await look(512)).toEqual([flawed('warn', 'files few', /^512 files/)]);
    expect(await look(4096)).toEqual([]);
  });

  it.skipIf(!hasNetworks)('says that few connections may wait', async () => {
    const check = await makeCheck();
    const look = async (most: number) => {
      const wrap = [
        'unshare',
        '-n',
        'sh',
        '-c',
        `echo ${most} > /proc/sys/net/core/somaxconn && exec "$@"`,
        'sh',
      ];
      return flawsOf('kernel', await check.run({}, { wrap }));
    };
    expect(await look(16)).toEqual([flawed('warn', 'backlog short', /^16 connections may wait/)]);
    expect(await look(128)).toEqual([]);
  });

  it.skipIf(!hasUserNamespaces)('says that no file can be watched', async () => {
    const check = await makeCheck();
    const look = async (most: number) => {
      const wrap = [
        'unshare',
        '-Ur',
        'sh',
        '-c',
        `echo ${most} > /proc/sys/user/max_inotify_instances && exec "$@"`,
        'sh',
      ];
      return flawsOf('kernel', await check.run({}, { wrap }));
    };
    expect(await look(0)).toEqual([
      flawed(
        'warn',
        'config.watch_failed',
        /files cannot be watched: EMFILE/,
        /fs\.inotify\.max_user_instances/,
      ),
    ]);
    expect(await look(8)).toEqual([]);
  });
});
