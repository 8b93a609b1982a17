import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { leftOut } from '../support/left-out.ts';
import {
  acceptsAll,
  expectEnd,
  expectNothingLeft,
  fakeEnvoy,
  onFullDisk,
  realEnvoy,
  run,
  standardFlags,
  withoutDrain,
  withoutPrivilege,
} from '../support/e2e/bad-input-program.ts';
import { program } from '../support/e2e/program.ts';
import { makeRig, type Rig, type RunningAgent } from '../support/e2e/rig.ts';

let rig: Rig;
beforeEach(async () => (rig = await makeRig()));
afterEach(() => rig.dispose());

describe('the command line', () => {
  it.each<[what: string, flags: readonly string[], why: string]>([
    [
      'a policy',
      ['--envoyRestartPolicy=never'],
      "--envoyRestartPolicy: 'never' is not one of backoff, exit",
    ],
    [
      'a duration without its unit',
      ['--drainDuration', '5'],
      "--drainDuration: '5' is not a duration (such as '45s' or '1m30s')",
    ],
    [
      'a duration in words',
      ['--minDelay', 'soon'],
      "--minDelay: 'soon' is not a duration (such as '45s' or '1m30s')",
    ],
    [
      'a duration below zero',
      ['--drainDuration', '-5s'],
      "--drainDuration: '-5s' is not a duration (such as '45s' or '1m30s')",
    ],
    [
      'an empty duration',
      ['--parentShutdownDuration='],
      "--parentShutdownDuration: '' is not a duration (such as '45s' or '1m30s')",
    ],
    [
      'a drain as long as the parent lives',
      ['--drainDuration', '60s', '--parentShutdownDuration', '1m'],
      '--parentShutdownDuration: 60s is not more than --drainDuration 60s',
    ],
    [
      'a drain that outlasts the parent',
      ['--drainDuration', '60s', '--parentShutdownDuration', '5s'],
      '--parentShutdownDuration: 5s is not more than --drainDuration 60s',
    ],
    ['admin port 0', ['--proxyAdminPort', '0'], "--proxyAdminPort: '0' is not a port (1 to 65535)"],
    [
      'admin port 70000',
      ['--proxyAdminPort', '70000'],
      "--proxyAdminPort: '70000' is not a port (1 to 65535)",
    ],
    [
      'an admin port in words',
      ['--proxyAdminPort', 'http'],
      "--proxyAdminPort: 'http' is not a port (1 to 65535)",
    ],
    [
      'status port 70000',
      ['--statusPort', '70000'],
      "--statusPort: '70000' is not a port (1 to 65535, or 0 for none)",
    ],
    [
      'a negative concurrency',
      ['--concurrency', '-1'],
      "--concurrency: '-1' is not a whole number from 0 on",
    ],
    [
      'a flag without its value',
      ['--proxyAdminPort'],
      "option '--proxyAdminPort <port>' argument missing; see pilot-agent proxy --help",
    ],
    [
      'a flag in the place of a value',
      ['--drainDuration', '--minDelay'],
      "--drainDuration: '--minDelay' is not a duration (such as '45s' or '1m30s')",
    ],
    [
      'a value of two lines',
      ['--concurrency', '1\n2'],
      "--concurrency: '1 2' is not a whole number from 0 on",
    ],
  ])('%s is refused with 64', async (_what, flags, why) => {
    await expectEnd(rig, rig.start(flags), 64, why);
  });

  it('a role that is none is refused with 64', async () => {
    await expectEnd(
      rig,
      run(rig, [...program, 'proxy', 'sidecat', ...standardFlags(rig)]),
      64,
      "role: 'sidecat' is not sidecar or router",
    );
  });

  it('names all that is wrong in one run', async () => {
    const flags = ['--proxyAdminPort', '0', '--concurrency', '-1', '--drainDuration', 'long'];
    const why =
      "role: 'sidecat' is not sidecar or router; " +
      "--drainDuration: 'long' is not a duration (such as '45s' or '1m30s'); " +
      "--proxyAdminPort: '0' is not a port (1 to 65535); " +
      "--concurrency: '-1' is not a whole number from 0 on";
    await expectEnd(
      rig,
      run(rig, [...program, 'proxy', 'sidecat', ...standardFlags(rig), ...flags]),
      64,
      why,
    );
  });

  it.each([
    ['without a likeness', ['nonsense'], /'nonsense'/],
    ['that is nearly one', ['prox', 'sidecar'], /'prox'/],
    ['below envoy', ['envoy', 'instal'], /'instal'/],
  ])('an unknown command %s is named, with 64', async (_what, args, why) => {
    await expectEnd(rig, run(rig, [...program, ...args]), 64, why);
  });

  it.each(['router', 'sidecar'])(
    'an unknown flag before the role %s is a warning, and does not eat it',
    async (role) => {
      const agent = run(rig, [
        ...program,
        'proxy',
        '--newThing',
        role,
        ...standardFlags(rig),
        '--newList=a',
        '--newest',
        'x',
      ]);
      try {
        expect(await agent.said('agent.started')).toMatchObject({ role });
        await agent.said('epoch.live');
        for (const flag of ['--newThing', '--newList', '--newest'])
          expect(agent.output()).toContain(`"unknown flag ${flag} is ignored"`);
        agent.kill('SIGTERM');
        expect(await agent.exit).toEqual({ code: 0, signal: null });
        expect(agent.errors()).toBe('');
        expectNothingLeft(rig);
      } finally {
        agent.kill('SIGKILL');
      }
    },
  );
});

describe('a port that is taken', () => {
  const byMe = `is in use by process ${process.pid} \\(.+\\)`;

  it('the status port: 69, and no Envoy was started', async () => {
    const { status } = rig.ports;
    const close = await take(status);
    const agent = rig.start();
    await expectEnd(
      rig,
      agent,
      69,
      new RegExp(
        `^--statusPort ${status}: the port ${byMe}: end who has it, or change --statusPort$`,
      ),
    );
    expect(launches(agent)).toBe(0);
    await close();
  });

  it.each(['admin', 'listen'] as const)(
    'the %s port: 69, and Envoy is not tried again',
    async (name) => {
      const close = await take(rig.ports[name], '127.0.0.1');
      const agent = rig.start();
      await expectEnd(
        rig,
        agent,
        69,
        new RegExp(
          `^Envoy cannot bind 127.0.0.1:${rig.ports[name]}: the address ${byMe}: end who has it, or change the port in ${rig.config}$`,
        ),
      );
      expect(launches(agent)).toBe(1);
      await close();
    },
  );
});

describe('the folder to write to', () => {
  it.each<[what: string, path: () => string]>([
    ['below a regular file', () => join(rig.config, 'run')],
    ['far below a regular file', () => join(rig.config, 'a/b/run')],
    ['below /proc', () => '/proc/pilot-agent-test/run'],
  ])('%s: 78', async (_what, path) => {
    await expectEnd(
      rig,
      rig.start(['--configPath', path()]),
      78,
      new RegExp(`^--configPath ${path()} cannot be written: (ENO|EACCES|EPERM)`),
    );
  });

  it.each([0o644, 0o755])('a regular file of mode %o: 78', async (mode) => {
    chmodSync(rig.config, mode);
    await expectEnd(
      rig,
      rig.start(['--configPath', rig.config]),
      78,
      new RegExp(`^--configPath ${rig.config} .*directory`),
    );
  });

  it('that may not be written to: 78', async () => {
    const prefix = withoutPrivilege();
    if (prefix === undefined) {
      leftOut('a folder that may not be written to');
      return;
    }
    mkdirSync(join(rig.folder, 'run'), { mode: 0o500 });
    const agent = run(rig, [...prefix, ...program, 'proxy', 'sidecar', ...standardFlags(rig)]);
    await expectEnd(
      rig,
      agent,
      78,
      new RegExp(`^--configPath ${rig.folder}/run cannot be written: EACCES`),
    );
  });

  it.each(['no bytes', 'no bytes and no inodes'] as const)(
    'on a disk with %s left: all works that needs no disk',
    async (left) => {
      const folder = join(rig.folder, 'run');
      mkdirSync(folder);
      const prefix = onFullDisk(folder, left);
      if (prefix === undefined) {
        leftOut(`a disk with ${left} left`);
        return;
      }
      const agent = run(rig, [...prefix, ...program, 'proxy', 'sidecar', ...standardFlags(rig)]);
      try {
        await agent.said('epoch.live');
        expect(await rig.ready()).toEqual({ status: 200, body: '' });
        if (left !== 'no bytes')
          expect(JSON.stringify(await agent.said('config.warning'))).toContain(
            'another agent with the same --configPath would not notice this one',
          );
        agent.kill('SIGTERM');
        expect(await agent.exit).toEqual({ code: 0, signal: null });
        expect(agent.errors()).not.toMatch(/pilot-agent:|^ +at /m);
        expectNothingLeft(rig);
      } finally {
        agent.kill('SIGKILL');
      }
    },
  );

  it('that has to be made on a full disk: 78', async () => {
    const disk = join(rig.folder, 'disk');
    mkdirSync(disk);
    const prefix = onFullDisk(disk, 'no bytes and no inodes');
    if (prefix === undefined) {
      leftOut('a folder to be made on a full disk');
      return;
    }
    const agent = run(rig, [
      ...prefix,
      ...program,
      'proxy',
      'sidecar',
      ...standardFlags(rig),
      '--configPath',
      join(disk, 'run'),
    ]);
    await expectEnd(
      rig,
      agent,
      78,
      new RegExp(`^--configPath ${disk}/run cannot be written: ENOSPC`),
    );
  });
});

describe('the custom configuration', () => {
  it('that is missing: 78', async () => {
    const path = join(rig.folder, 'none.json');
    await expectEnd(
      rig,
      rig.start(['--customConfigFile', path]),
      78,
      new RegExp(`^--customConfigFile ${path} cannot be read: ENOENT`),
    );
  });

  it('that is a directory: 78', async () => {
    const path = rig.certDir;
    await expectEnd(
      rig,
      rig.start(['--customConfigFile', path]),
      78,
      new RegExp(`^--customConfigFile ${path} .*(directory|regular file)`),
    );
  });

  it('that may not be read: 78', async () => {
    const prefix = withoutPrivilege();
    if (prefix === undefined) {
      leftOut('a custom configuration that may not be read');
      return;
    }
    chmodSync(rig.config, 0o000);
    const agent = run(rig, [...prefix, ...program, 'proxy', 'sidecar', ...standardFlags(rig)]);
    await expectEnd(
      rig,
      agent,
      78,
      new RegExp(`^--customConfigFile ${rig.config} cannot be read: EACCES`),
    );
  });

  it.each([
    ['backoff', 'warning'],
    ['exit', 'info'],
  ])(
    "that Envoy refuses: 78 with Envoy's reason and the file, under the policy %s",
    async (policy, level) => {
      writeFileSync(rig.config, '{ "nonsense": 1 }');
      const agent = rig.start(['--envoyRestartPolicy', policy, '--proxyLogLevel', level]);
      await expectEnd(
        rig,
        agent,
        78,
        `Envoy refuses its configuration: ${rig.config}:1:3: no such field: 'nonsense'`,
      );
      expect(launches(agent)).toBe(1);
      const lines = agent.log().filter((line) => JSON.stringify(line).includes('nonsense'));
      expect(lines.map(({ event, excerpt }) => [event, excerpt])).toEqual([
        ['config.refused', '1 | { "nonsense": 1 }\n  |   ^^^^^^^^^^'],
        ['agent.ended', undefined],
        ['agent.failed', undefined],
      ]);
    },
  );

  it('with a key that does not match its certificate: 78', async () => {
    const { key } = await rig.ca.issue();
    writeFileSync(join(rig.certDir, 'key.pem'), key);
    await expectEnd(
      rig,
      rig.start(),
      78,
      new RegExp(
        `${rig.certDir}/cert-chain.pem, ${rig.certDir}/key.pem: the key does not match the certificate \\(subject .*, serial ${rig.issued.serial}, public key`,
      ),
    );
  });
});

describe('an Envoy that is none', () => {
  it('is missing: 69', async () => {
    const path = join(rig.folder, 'none');
    await expectEnd(
      rig,
      rig.start(['--binaryPath', path]),
      69,
      `--binaryPath ${path} does not exist: name another Envoy, or leave it out`,
    );
  });

  it('is a directory: 69', async () => {
    await expectEnd(
      rig,
      rig.start(['--binaryPath', rig.certDir]),
      69,
      `--binaryPath ${rig.certDir} is not a regular file: name another Envoy, or leave it out`,
    );
  });

  it('may not be executed: 69', async () => {
    await expectEnd(
      rig,
      rig.start(['--binaryPath', rig.config]),
      69,
      `--binaryPath ${rig.config} may not be executed by this user: name another Envoy, or leave it out`,
    );
  });

  it('is not a program: 69', async () => {
    const path = join(rig.folder, 'garbage');
    writeFileSync(path, '\0\x01\x02garbage', { mode: 0o755 });
    const agent = rig.start(['--binaryPath', path, '--envoyRestartBudget', '1']);
    await expectEnd(rig, agent, 69, new RegExp(`${path}.*Exec format error`));
  });
});

describe('an Envoy that ends by itself', () => {
  it('with 7 at once, policy exit: 7', async () => {
    const agent = rig.start([
      '--binaryPath',
      fakeEnvoy(rig, 'exit 7'),
      '--envoyRestartPolicy',
      'exit',
    ]);
    await expectEnd(rig, agent, 7, 'Envoy ended with 7');
    expect(launches(agent)).toBe(1);
  });

  it('with 7 at once, policy backoff: 7 after one more try', async () => {
    const agent = rig.start([
      '--binaryPath',
      fakeEnvoy(rig, acceptsAll, 'exit 7'),
      '--envoyRestartBudget',
      '1',
    ]);
    await expectEnd(rig, agent, 7, 'Envoy ended with 7');
    expect(launches(agent)).toBe(2);
  });

  it('with 7 whatever it is asked: the same, for that is not a word about the configuration', async () => {
    const agent = rig.start([
      '--binaryPath',
      fakeEnvoy(rig, 'exit 7'),
      '--envoyRestartBudget',
      '1',
    ]);
    await expectEnd(rig, agent, 7, 'Envoy ended with 7');
    expect(launches(agent)).toBe(2);
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGKILL', 137],
  ])('by %s at once: %d', async (signal, code) => {
    const envoy = fakeEnvoy(rig, acceptsAll, `kill -${signal.slice(3)} $$`);
    const agent = rig.start(['--binaryPath', envoy, '--envoyRestartBudget', '1']);
    await expectEnd(rig, agent, code, `Envoy was ended by ${signal}`);
    expect(launches(agent)).toBe(2);
  });

  it('by a signal while it serves, policy exit: 128 + n', async () => {
    const agent = rig.start(['--envoyRestartPolicy', 'exit']);
    await agent.said('epoch.live', 0);
    const [pid = 0] = rig.envoys();
    process.kill(pid, 'SIGKILL');
    await expectEnd(rig, agent, 137, 'Envoy was ended by SIGKILL');
  });

  it('with 1 at first, while nothing speaks against its configuration: is started again', async () => {
    const marker = join(rig.folder, 'tried');
    const second = `[ -e ${marker} ] && exec ${realEnvoy()} "$@"`;
    const envoy = fakeEnvoy(rig, acceptsAll, second, `touch ${marker}`, 'exit 1');
    const agent = rig.start(['--binaryPath', envoy], { env: withoutDrain });
    expect(await agent.said('epoch.failed', 0)).toMatchObject({ kind: 'failed', code: 1 });
    await agent.said('epoch.live', 1);
    expect(await rig.ready()).toEqual({ status: 200, body: '' });

    agent.kill('SIGTERM');
    expect(await agent.exit).toEqual({ code: 0, signal: null });
    expect(agent.errors()).toBe('');
    expectNothingLeft(rig);
  });
});

/** Returns how many Envoys the agent has started. */
function launches(agent: RunningAgent): number {
  return agent.log().filter(({ event }) => event === 'epoch.started').length;
}

function take(port: number, host?: string): Promise<() => Promise<void>> {
  return new Promise((done, fail) => {
    const server = createServer((socket) => socket.on('error', () => undefined).resume()).once(
      'error',
      fail,
    );
    server.listen(port, host, () =>
      done(() => new Promise((closed) => server.close(() => closed()))),
    );
  });
}
