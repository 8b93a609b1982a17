import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { execa } from 'execa';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  DeltaDiscoveryRequestSchema,
  type DeltaDiscoveryResponse,
} from '../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { typeUrls } from '../../src/pilot-discovery/push/view.ts';
import { ask } from '../support/ask.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';
import { acceptingClient, deltaClient } from '../support/proxy-client.ts';

const id = 'sidecar~127.0.0.1~web.default~default.svc.cluster.local';
const service = (host: string) => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: ${host.replace('.', '-')}, namespace: default }
spec: { hosts: [${host}], resolution: DNS, ports: [{ number: 80, name: http, protocol: HTTP }] }
`;

describe('how pilot-discovery is started', () => {
  let folder: string;
  let [xds, http, monitoring]: number[] = [];
  const ends: (() => unknown)[] = [];
  /** Sends a signal to the program that was started last. `errors` returns its stderr. */
  let signal: (name: NodeJS.Signals) => unknown;
  let errors: () => string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-'));
    [xds, http, monitoring] = await freePorts(3);
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
    rmSync(folder, { recursive: true });
  });

  const place = (name: string) => join(folder, name);
  function write(name: string, text: string): void {
    writeFileSync(place('new'), text);
    renameSync(place('new'), place(name));
  }

  interface Line {
    readonly event: string;
    readonly path?: string;
    readonly reason?: string;
  }

  async function start(...more: readonly string[]): Promise<() => readonly Line[]> {
    const listen = Object.entries({
      grpcAddr: xds,
      httpAddr: http,
      monitoringAddr: monitoring,
    }).flatMap(([flag, port = 0]) => [`--${flag}`, `127.0.0.1:${port}`]);
    const child = execa(
      process.execPath,
      [resolve('dist/pilot-discovery.cjs'), 'discovery', ...listen, ...more],
      {
        buffer: false,
        reject: false,
      },
    );
    let output = '';
    let wrong = '';
    child.stderr.setEncoding('utf8').on('data', (piece: string) => (wrong += piece));
    signal = (name) => child.kill(name);
    errors = () => wrong;
    child.stdout.setEncoding('utf8').on('data', (piece: string) => (output += piece));
    ends.push(() => (child.kill('SIGTERM'), child));
    await eventually(async () => (await ask(http ?? 0, '/ready')).status === 200);
    return () =>
      output
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Line);
  }

  it('has the resources of the folders that the MeshConfig names, beside those of --configDir', async () => {
    for (const name of ['one', 'two', 'three']) {
      mkdirSync(place(name));
      writeFileSync(join(place(name), 'service.yaml'), service(`${name}.mesh`));
    }
    write(
      'mesh',
      `configSources: [{ address: "fs://${place('two')}" }, { address: "fs://${place('three')}" }, { address: "k8s://istiod" }]`,
    );
    const everywhere = `0.0.0.0:${xds ?? 0}`;
    const folders = ['--configDir', place('one'), '--meshConfig', place('mesh')];
    const lines = await start(...folders, '--grpcAddr', everywhere, '--secureGRPCAddr', '');
    await expect
      .poll(lines)
      .toMatchObject([
        { event: 'discovery.started', grpc: everywhere },
        { event: 'discovery.open', grpc: everywhere },
        { event: 'discovery.unserved' },
        { event: 'discovery.ready', services: 3 },
      ]);
    const client = acceptingClient(xds ?? 0, id, typeUrls.cluster);
    ends.push(() => client.close());
    const names = () =>
      client.answers
        .flatMap(({ resources }) => resources.map(({ name }) => name))
        .filter((name) => name.endsWith('.mesh'))
        .sort();
    await expect
      .poll(names)
      .toEqual(['outbound|80||one.mesh', 'outbound|80||three.mesh', 'outbound|80||two.mesh']);
    write('three/service.yaml', service('four.mesh'));
    await expect.poll(names).toContain('outbound|80||four.mesh');
    await expect
      .poll(() => lines().find(({ event }) => event === 'discovery.unserved'))
      .toMatchObject({
        path: `${place('mesh')}:1`,
        field: 'configSources[2].address',
        reason: "'k8s://istiod' is not read: only fs://FOLDER and xds://HOST:PORT are",
      });
  });

  it('gives its proxies what a changed MeshConfig says, and what the last good one said if it is bad or gone', async () => {
    mkdirSync(place('resources'));
    write('mesh', '# the defaults');
    const lines = await start('--configDir', place('resources'), '--meshConfig', place('mesh'));
    const client = acceptingClient(xds ?? 0, id, typeUrls.listener);
    ends.push(() => client.close());
    const newest = () =>
      client.answers
        .flatMap(({ resources }) => resources)
        .findLast(({ name }) => name === 'virtualOutbound')?.resource;
    const passes = () => Buffer.from(newest()?.value ?? '').includes('PassthroughCluster');
    await expect.poll(passes).toBe(true);
    write('mesh', 'outboundTrafficPolicy: { mode: REGISTRY_ONLY }');
    await expect.poll(passes).toBe(false);
    const count = client.answers.length;
    write('mesh', '# new\noutboundTrafficPolicy: { mode: ALL }');
    const about = (name: string) => lines().findLast(({ event }) => event === name);
    await expect
      .poll(() => about('discovery.refused'))
      .toMatchObject({ path: `${place('mesh')}:2`, field: 'outboundTrafficPolicy.mode' });
    rmSync(place('mesh'));
    await expect.poll(() => about('discovery.source_lost')).toMatchObject({ source: 'mesh' });
    write('mesh', '# back\noutboundTrafficPolicy: { mode: REGISTRY_ONLY }');
    await expect.poll(() => about('discovery.source_back')).toMatchObject({ source: 'mesh' });
    expect(client.answers).toHaveLength(count);
    write('mesh', '');
    await expect.poll(passes).toBe(true);
  });

  it('writes a new log file at SIGUSR1 once the old one was moved, and opens no debugger', async () => {
    const lines = await start(
      '--configDir',
      folder,
      '--log_target',
      'stdout',
      '--log_target',
      place('log'),
    );
    await expect.poll(() => readFileSync(place('log'), 'utf8')).toContain('"discovery.ready"');
    renameSync(place('log'), place('log.1'));
    signal('SIGUSR1');
    const events = () => lines().map(({ event }) => event);
    await expect.poll(events).toContain('log.reopened');
    await expect.poll(() => existsSync(place('log'))).toBe(true);
    write('service.yaml', service('later.mesh'));
    await expect.poll(() => readFileSync(place('log'), 'utf8')).toContain('"discovery.pushed"');
    expect(readFileSync(place('log.1'), 'utf8')).not.toContain('"discovery.pushed"');
    expect(errors()).toBe('');
  });

  it('has a proxy connect anew after --keepaliveMaxServerConnectionAge, and gives it nothing that it has', async () => {
    mkdirSync(place('resources'));
    writeFileSync(join(place('resources'), 'service.yaml'), service('one.mesh'));
    await start('--configDir', place('resources'), '--keepaliveMaxServerConnectionAge', '500ms');
    const client = acceptingClient(xds ?? 0, id, typeUrls.cluster);
    ends.push(() => client.close());
    await expect.poll(() => client.statuses.length).toBe(1);
    const versions = Object.fromEntries(
      client.answers
        .flatMap(({ resources }) => resources)
        .map(({ name, version }) => [name, version]),
    );
    expect(Object.keys(versions)).toContain('outbound|80||one.mesh');
    const again = deltaClient(xds ?? 0);
    ends.push(() => again.close());
    const answered: DeltaDiscoveryResponse[] = [];
    again.call.on('data', (answer: DeltaDiscoveryResponse) => answered.push(answer));
    again.call.write(
      create(DeltaDiscoveryRequestSchema, {
        node: { id },
        typeUrl: typeUrls.cluster,
        initialResourceVersions: versions,
      }),
    );
    await expect.poll(() => again.statuses.length).toBe(1);
    expect(answered.flatMap(({ resources }) => resources)).toEqual([]);
  });

  it('keeps what an emptied folder had until that is confirmed, and says so', async () => {
    mkdirSync(place('resources/all'), { recursive: true });
    for (let index = 0; index < 12; index += 1)
      writeFileSync(place(`resources/all/${index}.yaml`), service(`s${index}.mesh`));
    const lines = await start('--configDir', place('resources'));
    const client = acceptingClient(xds ?? 0, id, typeUrls.cluster);
    ends.push(() => client.close());
    await expect.poll(() => client.answers.length).toBe(1);
    renameSync(place('resources/all'), place('gone'));
    const about = (name: string) => lines().find(({ event }) => event === name);
    await expect
      .poll(() => about('discovery.removals_held'))
      .toMatchObject({ level: 'error', removals: 12, source: 'files' });
    const note = {
      status: 200,
      body: '12 removals are held back: pilot-discovery confirm lets them happen\n',
    };
    expect(await ask(http ?? 0, '/ready')).toMatchObject(note);
    expect((await ask(monitoring ?? 0, '/metrics')).body).toContain('pilot_held_removals 12\n');
    expect(client.answers).toHaveLength(1);
    expect((await ask(http ?? 0, '/confirm')).status).toBe(405);
    const { stdout } = await execa(process.execPath, [
      resolve('dist/pilot-discovery.cjs'),
      'confirm',
      '--httpAddr',
      `127.0.0.1:${http ?? 0}`,
    ]);
    expect(stdout).toBe('confirmed: 12 resources are removed');
    await expect
      .poll(() => client.answers.flatMap(({ removedResources }) => removedResources))
      .toHaveLength(12);
    expect(await ask(http ?? 0, '/ready')).toMatchObject({ status: 200, body: '' });
    expect(about('discovery.removals_over')).toBeDefined();
  });

  it('serves nobody who comes with resources if it has never had any, and everybody else', async () => {
    mkdirSync(place('resources'));
    await start('--configDir', place('resources'));
    const newcomer = acceptingClient(xds ?? 0, id, typeUrls.cluster);
    const back = deltaClient(xds ?? 0);
    for (const client of [newcomer, back]) ends.push(() => client.close());
    const initialResourceVersions = { 'outbound|80||one.mesh': '1' };
    back.call.write(
      create(DeltaDiscoveryRequestSchema, {
        node: { id },
        typeUrl: typeUrls.cluster,
        initialResourceVersions,
      }),
    );
    await expect.poll(() => newcomer.answers.length).toBeGreaterThan(0);
    await expect.poll(() => back.statuses.length).toBe(1);
    expect(back.answers).toEqual([]);
    writeFileSync(join(place('resources'), 'service.yaml'), service('two.mesh'));
    await expect.poll(() => newcomer.answers.length).toBeGreaterThan(1);
    const again = deltaClient(xds ?? 0);
    ends.push(() => again.close());
    again.call.write(
      create(DeltaDiscoveryRequestSchema, {
        node: { id },
        typeUrl: typeUrls.cluster,
        initialResourceVersions,
      }),
    );
    await expect.poll(() => again.answers.length).toBeGreaterThan(0);
  });
});
