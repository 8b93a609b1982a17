import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { firstValueFrom, NEVER } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { readingOf } from '../../../src/testing/reading.ts';
import { bootstrap, type EnvoyStage, envoyStage } from '../../support/fake-envoy.ts';

let stage: EnvoyStage;
afterEach(() => stage.dispose());

const beside = { epoch: 1, restartEpoch: 0, lineage: 1, sideBySide: true };

describe('an Envoy', () => {
  it('beside another one is not started if its configuration cannot be written', async () => {
    const loopback = { socket_address: { address: '127.0.0.1', port_value: 15_000 } };
    const text = JSON.stringify({
      admin: { address: loopback },
      static_resources: { clusters: [{ endpoint: { address: loopback } }] },
    });
    stage = envoyStage({ config: () => ({ ...bootstrap, text }) });
    mkdirSync(join(stage.folder, 'envoy-beside-1.json'));
    const reading = readingOf('hash', { ...bootstrap, text });
    const life$ = stage.proxy.run({ adopted: false, ...beside, reading }, NEVER);
    expect(await firstValueFrom(life$, { defaultValue: undefined })).toMatchObject({
      type: 'exited',
      exit: { kind: 'spawn-failed', reason: expect.stringContaining('no place beside') as string },
    });
  });

  it('is started with all its arguments, and where to write down its admin address', async () => {
    stage = envoyStage();
    const { argv } = await stage.start({ epoch: 0 });
    expect(argv).toEqual([
      ...['-c', join(stage.folder, 'envoy-rev0.json')],
      ...['--restart-epoch', '0', '--drain-time-s', '45', '--parent-shutdown-time-s', '60'],
      ...[
        '--service-cluster',
        'a cluster',
        '--service-node',
        'a~node',
        '--local-address-ip-version',
        'v4',
      ],
      ...[
        '--log-format',
        '%v',
        '-l',
        'info',
        '--component-log-level',
        'misc:error',
        '--concurrency',
        '2',
      ],
      ...[
        '--base-id',
        String(stage.baseId),
        '--socket-path',
        join(stage.folder, `envoy-${stage.baseId}`, 's'),
        '--socket-mode',
        '600',
      ],
      ...['--drain-strategy', 'immediate'],
      ...['--admin-address-path', stage.addressFile],
    ]);
  });

  it('has the restart epoch of its launch, and the base id of its line, which is drawn once', async () => {
    stage = envoyStage();
    const started: string[] = [];
    for (const launch of [
      { epoch: 0, restartEpoch: 0, lineage: 0 },
      { epoch: 1, restartEpoch: 1, lineage: 0 },
      { epoch: 2, restartEpoch: 0, lineage: 1 },
      { epoch: 3, restartEpoch: 1, lineage: 1 },
      { epoch: 4, restartEpoch: 0, lineage: 2 },
      { epoch: 5, restartEpoch: 2, lineage: 0 },
    ]) {
      const { argv, option } = await stage.start(launch);
      const waits = argv.includes('--skip-hot-restart-on-no-parent');
      const baseId = Number(option('--base-id')) - stage.baseId;
      started.push(
        `${launch.epoch}: ${option('--restart-epoch')} of ${baseId}${waits ? ', a child' : ''}`,
      );
    }
    expect(started).toEqual([
      '0: 0 of 0',
      '1: 1 of 0, a child',
      '2: 0 of 1',
      '3: 1 of 1, a child',
      '4: 0 of 2',
      '5: 2 of 0, a child',
    ]);
  });

  it('has its bootstrap in a file of its owner alone, until it has ended', async () => {
    let count = 0;
    stage = envoyStage({
      config: () => ({ ...bootstrap, text: `{"number":${count++}}`, extension: '.yaml' }),
    });
    const [first, second] = [await stage.start({ epoch: 0 }), await stage.start({ epoch: 1 })];
    const paths = [first, second].map(({ option }) => option('-c'));
    expect(paths).toEqual([
      join(stage.folder, 'envoy-rev0.yaml'),
      join(stage.folder, 'envoy-rev1.yaml'),
    ]);
    expect(paths.map((path) => readFileSync(path, 'utf8'))).toEqual([
      '{"number":0}',
      '{"number":1}',
    ]);
    expect(paths.map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600]);
    first.signal('SIGTERM');
    expect(await first.exit()).toMatchObject({ kind: 'signaled', signal: 'SIGTERM' });
    expect(paths.map((path) => existsSync(path))).toEqual([false, true]);
    second.signal('SIGTERM');
    await second.exit();
    expect(readdirSync(stage.folder)).toEqual([]);
  });

  it('is not started from a configuration that is refused, and that is the reason', async () => {
    stage = envoyStage({ config: () => ({ kind: 'refused', reason: 'PROXY_CONFIG: no YAML' }) });
    expect(await stage.events({})).toEqual([
      { type: 'exited', exit: { kind: 'spawn-failed', reason: 'PROXY_CONFIG: no YAML' } },
    ]);
  });

  it('that cannot be started is an exit', async () => {
    stage = envoyStage();
    stage.install('exit 127');
    expect((await stage.events({})).at(-1)).toEqual({
      type: 'exited',
      exit: { kind: 'spawn-failed', reason: '127' },
    });
    expect(readdirSync(stage.folder)).toEqual([]);
  });

  it('is heard with its epoch, and its last lines are those of its exit', async () => {
    stage = envoyStage();
    stage.install('echo "cannot bind \'0.0.0.0:80\': Address already in use" >&2; exit 1');
    const tail = ["cannot bind '0.0.0.0:80': Address already in use"];
    const exit = { kind: 'failed', code: 1, tail, addressTaken: '0.0.0.0:80' };
    expect((await stage.events({ epoch: 4 })).at(-1)).toEqual({ type: 'exited', exit });
    expect(stage.heard).toEqual(tail.map((line) => `4 ${line}`));
  });

  it('is killed when nobody is subscribed to it any more, and nothing of it is left', async () => {
    stage = envoyStage();
    const envoy = await stage.start({});
    await envoy.comesUp();
    envoy.leave();
    await expect.poll(() => existsSync(`/proc/${envoy.pid}/exe`)).toBe(false);
    expect(readdirSync(stage.folder)).toEqual([]);
  });

  it('leaves its admin address to those that still run, and nothing when it was the last', async () => {
    stage = envoyStage();
    const [parent, child] = [await stage.start({ epoch: 0 }), await stage.start({ epoch: 1 })];
    const { address } = await child.comesUp();
    parent.leave();
    expect(readFileSync(stage.addressFile, 'utf8')).toBe(address);
    child.leave();
    expect(existsSync(stage.addressFile)).toBe(false);
  });

  it('leaves the shared memory of its line to the last of that', async () => {
    stage = envoyStage();
    const memory = (baseId: number) => `/dev/shm/envoy_shared_memory_${baseId}0`;
    const mine = memory(stage.baseId);
    const others = memory(stage.baseId + 1);
    const [parent, child] = [await stage.start({ epoch: 0 }), await stage.start({ epoch: 1 })];
    const other = await stage.start({ epoch: 2, restartEpoch: 0, lineage: 1 });
    for (const path of [mine, others]) writeFileSync(path, '');
    const left = () => [mine, others].map((path) => existsSync(path));
    parent.leave();
    expect(left()).toEqual([true, true]);
    child.leave();
    expect(left()).toEqual([false, true]);
    other.leave();
    expect(left()).toEqual([false, false]);
  });
});

describe('an Envoy beside another line', () => {
  const adminOf = (override: string) =>
    (
      JSON.parse(override) as {
        admin: { address: { socket_address: { address: string; port_value: number } } };
      }
    ).admin.address.socket_address;

  it('has an admin endpoint of its own, and writes down elsewhere where that is; its override is on no command line', async () => {
    stage = envoyStage({
      config: () => ({
        ...bootstrap,
        override: 'admin: {profile_path: /p}\nstats_flush_interval: 1s',
      }),
    });
    const first = await stage.start({ epoch: 0 });
    const second = await stage.start(beside);
    for (const { argv } of [first, second])
      expect(argv.join(' ')).not.toMatch(/profile_path|stats_flush/);
    for (const { option } of [first, second])
      expect(JSON.parse(readFileSync(option('-c'), 'utf8'))).toMatchObject({
        admin: { profile_path: '/p' },
        stats_flush_interval: '1s',
      });
    const override = second.option('--config-yaml');
    const address = {
      socket_address: { address: '127.0.0.1', port_value: adminOf(override).port_value },
    };
    expect(JSON.parse(override)).toEqual({ admin: { address } });
    expect(address.socket_address.port_value).toBeGreaterThan(0);
    expect(second.option('--admin-address-path')).toBe(`${stage.addressFile}-1`);
    expect(first.option('--admin-address-path')).toBe(stage.addressFile);
  });

  it('has the clusters that lead to its admin endpoint led to its own, in a file of its owner alone, until it has ended', async () => {
    const socket = (port: number) => ({
      socket_address: { address: '127.0.0.1', port_value: port },
    });
    const config = (port: number) => ({
      admin: { address: socket(15_000) },
      static_resources: { clusters: [{ name: 'a', address: socket(port) }] },
    });
    stage = envoyStage({ config: () => ({ ...bootstrap, text: JSON.stringify(config(15_000)) }) });
    await stage.start({ epoch: 0 });
    const second = await stage.start(beside);
    const path = second.option('-c');
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(
      config(adminOf(second.option('--config-yaml')).port_value),
    );
    expect(statSync(path).mode & 0o777).toBe(0o600);
    second.signal('SIGKILL');
    await second.exit();
    expect(readdirSync(stage.folder)).toEqual([`envoy-${stage.baseId}`, 'envoy-rev0.json']);
  });

  it('is started from what is given if no cluster leads to its admin endpoint', async () => {
    stage = envoyStage();
    await stage.start({ epoch: 0 });
    expect((await stage.start(beside)).option('-c')).toBe(join(stage.folder, 'envoy-rev1.json'));
  });

  it('has neither if nothing stands beside it', async () => {
    stage = envoyStage();
    await stage.start({ epoch: 0 });
    const { argv, option } = await stage.start({ ...beside, sideBySide: false });
    expect(argv).not.toContain('--config-yaml');
    expect(option('--admin-address-path')).toBe(stage.addressFile);
  });

  const reason = 'enable_reuse_port is false: no other Envoy can listen beside the one that runs';
  const notStarted = [{ type: 'exited', exit: { kind: 'spawn-failed', reason } }];

  it.each(['staticListeners', 'dynamicListeners'] as const)(
    'is not started if the %s of the other share no port',
    async (which) => {
      stage = envoyStage();
      const admin = await (
        await stage.start({ epoch: 0 })
      ).comesUp({ [which]: [{ listener: { enable_reuse_port: false } }] });
      expect(await stage.events(beside)).toEqual(notStarted);
      expect(admin.requests).toEqual([
        'GET /config_dump?resource=static_listeners',
        'GET /config_dump?resource=dynamic_listeners',
      ]);
      expect(readdirSync(stage.folder)).toEqual([
        `envoy-${stage.baseId}`,
        'envoy-admin-address',
        'envoy-rev0.json',
      ]);
    },
  );

  it('is not started if its configuration lets it share no port', async () => {
    stage = envoyStage({ config: () => ({ kind: 'given', path, override: '' }) });
    const path = join(stage.root, 'envoy.yaml');
    writeFileSync(path, 'enable_reuse_port: true');
    const admin = await (await stage.start({ epoch: 0 })).comesUp();
    admin.behaves('hangs up');
    writeFileSync(path, 'enable_reuse_port: false');
    expect(await stage.events(beside)).toEqual(notStarted);
    writeFileSync(path, 'enable_reuse_port: true');
    expect((await stage.start(beside)).option('-c')).toBe(path);
  });
});
