import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { filter, firstValueFrom } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultMeshConfig } from '../../src/pilot-discovery/istio/mesh/mesh-config.ts';
import { readMeshConfig } from '../../src/pilot-discovery/istio/mesh/read-mesh-config.ts';
import { settingSource } from '../../src/pilot-discovery/registry/files/setting-source.ts';
import { ask } from '../support/ask.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';

const program = resolve('dist/pilot-discovery.cjs');
const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  execa(process.execPath, [program, ...args], { env, reject: false, timeout: 60_000 });

describe('pilot-discovery with bad input', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-'));
  let ports: readonly number[] = [];
  beforeAll(async () => {
    ports = await freePorts(3);
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const listen = () =>
    ['grpcAddr', 'httpAddr', 'monitoringAddr'].flatMap((flag, index) => [
      `--${flag}`,
      `127.0.0.1:${ports[index] ?? 0}`,
    ]);

  it.each([
    [
      ['discovery'],
      '--configDir is missing: name the folder of YAML files with the resources, or read them from Kubernetes (--kubeconfig)',
    ],
    [
      ['discovery', '--registries', 'Kubernetes'],
      '--registries Kubernetes: name a kubeconfig (--kubeconfig, KUBECONFIG), or run in a pod',
    ],
    [
      ['discovery', '--configDir', folder, '--registries', 'Kubernetes,Eureka'],
      "--registries: 'Eureka' is not one of Kubernetes, Consul",
    ],
    [
      ['discovery', '--configDir', folder, '--grpcAddr', 'here'],
      "--grpcAddr: 'here' is not host:port, :port, or empty",
    ],
    [
      ['discovery', '--configDir', folder, '--grpcAddr', '', '--secureGRPCAddr', ''],
      '--grpcAddr and --secureGRPCAddr are empty: no proxy could ask for anything',
    ],
    [
      ['discovery', '--configDir', folder, '--tlsCertFile', 'tls.crt'],
      '--tlsCertFile, --tlsKeyFile, --caCertFile: give all three, only --caCertFile, or none',
    ],
    [
      ['discovery', '--configDir', folder, '--keepaliveTimeout', 'long'],
      "--keepaliveTimeout: 'long' is not a duration (such as '100ms' or '10s')",
    ],
    [
      ['discovry'],
      "unknown command 'discovry'\n(Did you mean discovery?); see pilot-discovery --help",
    ],
    [['request', 'GET'], "missing required argument 'path'; see pilot-discovery --help"],
  ])('%j ends with 64 and one line', async (args, message) => {
    expect(await run(args)).toMatchObject({
      exitCode: 64,
      stderr: `pilot-discovery: ${message}`,
      stdout: '',
    });
  });

  it.each([
    [
      'PILOT_DEBOUNCE_AFTER',
      'soon',
      "PILOT_DEBOUNCE_AFTER: 'soon' is not a duration (such as '100ms' or '10s')",
    ],
    ['PILOT_PUSH_THROTTLE', 'many', "PILOT_PUSH_THROTTLE: 'many' is not a whole number"],
    [
      'PILOT_ENABLE_EDS_DEBOUNCE',
      'perhaps',
      "PILOT_ENABLE_EDS_DEBOUNCE: 'perhaps' is not true or false",
    ],
    ['PILOT_DEBOUNCE', 'never', "PILOT_DEBOUNCE: 'never' is neither adaptive nor empty"],
  ])('%s=%s ends with 64 and one line', async (name, value, message) => {
    const ended = await run(['discovery', '--configDir', folder], { [name]: value });
    expect(ended).toMatchObject({ exitCode: 64, stderr: `pilot-discovery: ${message}` });
  });

  it('names the line of a MeshConfig that is wrong', async () => {
    const file = join(folder, 'mesh');
    writeFileSync(file, '# all\naccessLogFile: /dev/stdout\nenableAutoMtls: perhaps\n');
    const ended = await run(['discovery', '--configDir', folder, '--meshConfig', file]);
    expect(ended).toMatchObject({
      exitCode: 78,
      stderr: `pilot-discovery: --meshConfig ${file}:3: enableAutoMtls: 'perhaps' is not true or false`,
    });
    rmSync(file);
  });

  it('does not take the defaults if the MeshConfig that is named does not exist', async () => {
    const file = join(folder, 'none');
    const ended = await run(['discovery', '--configDir', folder, '--meshConfig', file]);
    expect(ended).toMatchObject({
      exitCode: 78,
      stderr: `pilot-discovery: --meshConfig ${file}: it does not exist: name the file with the MeshConfig, or leave the flag out for the defaults`,
    });
  });

  it.each<[what: string, make: (file: string) => unknown, reason: string]>([
    ['is a FIFO', (file) => execFileSync('mkfifo', [file]), 'it is a FIFO, and not a regular file'],
    [
      'has 300 KB',
      (file) => writeFileSync(file, `# ${'x'.repeat(300_000)}\n`),
      'it has 300003 bytes, and 262144 are read at most',
    ],
  ])(
    'does not start with a MeshConfig that %s, as it takes none later',
    async (_, make, reason) => {
      const file = join(folder, 'mesh');
      make(file);
      const ended = await run(['discovery', '--configDir', folder, '--meshConfig', file]);
      expect(ended).toMatchObject({
        exitCode: 78,
        stderr: `pilot-discovery: --meshConfig ${file}: it cannot be read: ${reason}`,
      });
      const event = await firstValueFrom(
        settingSource({
          source: 'mesh',
          path: file,
          first: { mesh: defaultMeshConfig },
          read: readMeshConfig,
          eventOf: ({ mesh }) => ({ type: 'mesh', mesh }),
        }).pipe(filter(({ type }) => type === 'lost')),
        {
          defaultValue: undefined,
        },
      );
      expect(event).toEqual({ type: 'lost', source: 'mesh', reason: `${file}: ${reason}` });
      rmSync(file);
    },
  );

  it('says who has an address that is taken, in the log too', async () => {
    const server = createServer();
    await once(server.listen(ports[0], '127.0.0.1'), 'listening');
    const { exitCode, stderr, stdout } = await run([
      'discovery',
      '--configDir',
      folder,
      ...listen(),
    ]);
    server.close();
    const expected = new RegExp(
      `^pilot-discovery: --grpcAddr 127\\.0\\.0\\.1:${ports[0] ?? 0} is taken by .*${process.pid}.*: end who has it, or change --grpcAddr$`,
    );
    expect(stderr).toMatch(expected);
    expect(exitCode).toBe(69);
    expect(JSON.parse(stdout.split('\n').at(-1) ?? '')).toMatchObject({
      level: 'fatal',
      event: 'discovery.failed',
      code: 69,
    });
  });

  it('goes on with a flag that nobody knows, and with other spellings of those that it knows', async () => {
    const args = [
      'discovery',
      '--configdir',
      folder,
      '--unknownFlag',
      'x',
      '--httpsaddr',
      ':1',
      ...listen(),
    ];
    const child = execa(process.execPath, [program, ...args], { reject: false });
    await eventually(async () => (await ask(ports[1] ?? 0, '/ready')).status === 200);
    child.kill('SIGTERM');
    const { exitCode, stdout } = await child;
    expect(exitCode).toBe(0);
    const warnings = stdout
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly event: string; readonly warning?: string })
      .filter(({ event }) => event === 'discovery.flag_ignored')
      .map(({ warning }) => warning);
    expect(warnings).toEqual([
      '--httpsAddr is ignored: there is no injection',
      '--unknownFlag x is not known, and ignored',
    ]);
  });

  it('waits for a folder that is not there yet, and says so', async () => {
    const missing = join(folder, 'later');
    const child = execa(
      process.execPath,
      [program, 'discovery', '--configDir', missing, ...listen()],
      { reject: false },
    );
    await eventually(async () => (await ask(ports[1] ?? 0, '/ready')).status === 503);
    expect((await ask(ports[1] ?? 0, '/ready')).body).toContain('files');
    child.kill('SIGTERM');
    expect((await child).stdout).toContain('"event":"discovery.source_lost"');
  });
});
