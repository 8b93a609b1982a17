import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { typeUrls } from '../../src/pilot-discovery/push/view.ts';
import { ask } from '../support/ask.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';
import { acceptingClient } from '../support/proxy-client.ts';

let folder: string;
const write = (path: string, text: string): void => writeFileSync(join(folder, path), text);

const reviews = `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: reviews }
spec:
  hosts: [reviews.mesh]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }]
  endpoints: [{ address: 10.0.0.1, labels: { app: reviews } }]
`;
const rule = (timeout: string) => `apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: reviews }
spec:
  hosts: [reviews.mesh]
  http: [{ timeout: ${timeout}, route: [{ destination: { host: reviews.mesh } }] }]
`;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pilot-diff-'));
  for (const [name, timeout] of [
    ['old', '1s'],
    ['new', '2s'],
    ['bad', '2 weeks'],
  ] as const) {
    mkdirSync(join(folder, name));
    write(`${name}/reviews.yaml`, reviews);
    write(`${name}/rule.yaml`, rule(timeout));
  }
  mkdirSync(join(folder, 'empty'));
  write('mesh.yaml', 'accessLogFile: /dev/stdout\n');
  write('bad-mesh.yaml', 'enableAutoMtls: perhaps\n');
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const diff = (...args: readonly string[]) =>
  execa(process.execPath, [resolve('dist/pilot-discovery.cjs'), 'diff', ...args], {
    cwd: folder,
    reject: false,
  });

describe('pilot-discovery diff', () => {
  it('ends with 0 if nothing changes', async () => {
    expect(await diff('old', 'old')).toMatchObject({
      exitCode: 0,
      stdout: 'Nothing changes for 1 proxy.',
      stderr: '',
    });
  });

  it('ends with 1 if something changes, and says what', async () => {
    const { exitCode, stdout, stderr } = await diff('old', 'new');
    expect([exitCode, stderr]).toEqual([1, '']);
    expect(stdout.split('\n').slice(0, 3)).toEqual([
      'reviews-0.default: 1 route',
      '  route  changed  80',
      '      ~ virtual_hosts["reviews.mesh:80"].routes[0].route.timeout: "1s" → "2s"',
    ]);
  });

  it('compares files, and prints JSON', async () => {
    const { exitCode, stdout } = await diff('old/rule.yaml', 'new/reviews.yaml', '-o', 'json');
    expect([exitCode, JSON.parse(stdout)]).toMatchObject([
      1,
      { changed: 1, groups: [{ proxies: [{ name: 'reviews-0.default', presence: 'new' }] }] },
    ]);
  });

  it('compares proxies that are named, with the MeshConfig and the namespace that are given', async () => {
    const id = 'sidecar~10.0.0.9~app.shop~shop.svc.corp.test,app=x';
    const flags = ['--meshConfig', 'mesh.yaml', '--namespace', 'shop', '--domain', 'corp.test'];
    const { exitCode, stdout } = await diff('empty', 'old', '--proxy', id, '-o', 'json', ...flags);
    const { groups } = JSON.parse(stdout) as { readonly groups: readonly unknown[] };
    expect([exitCode, groups]).toMatchObject([
      1,
      [
        { proxies: [{ id: id.split(',')[0], presence: 'named' }] },
        { proxies: [{ id: 'sidecar~10.0.0.1~reviews-0.shop~shop.svc.corp.test' }] },
      ],
    ]);
  });

  it('says the flaws of both as analyze does; ends with 78 if resources of NEW are refused', async () => {
    const line = /^Error \[IST0106\] \(VirtualService default\/reviews bad\/rule\.yaml:6\) .*$/m;
    const worse = await diff('old', 'bad');
    expect([worse.exitCode, worse.stderr]).toEqual([78, expect.stringMatching(line)]);
    expect(worse.stderr).toMatch(
      /the comparison is not complete, because resources of NEW are refused/,
    );
    const better = await diff('bad', 'old');
    expect([better.exitCode, better.stderr]).toEqual([1, expect.stringMatching(line)]);
  });

  it.each([
    [['old', 'none'], 64, /none is not there: name files and folders$/],
    [['old'], 64, /1 paths: name OLD and NEW$/],
    [['old', 'new', 'bad'], 64, /3 paths: name OLD and NEW$/],
    [['old', 'new', '-o', 'xml'], 64, /--output: 'xml' is neither text nor json$/],
    [['empty', 'empty'], 64, /neither folder describes a proxy .*: name one by --proxy$/],
    [['old', 'new', '--proxy', 'app'], 64, /--proxy: the node id 'app' is not role~address~/],
    [['old', 'new', '--meshConfig', 'no.yaml'], 78, /--meshConfig no\.yaml: it does not exist: /],
    [['old', 'new', '--meshConfig', 'bad-mesh.yaml'], 78, /bad-mesh\.yaml:1: enableAutoMtls: /],
  ])('refuses %j with %i', async (args, code, line) => {
    const { exitCode, stdout, stderr } = await diff(...args);
    expect([exitCode, stdout]).toEqual([code, '']);
    expect(stderr).toMatch(line);
  });
});

describe('pilot-discovery diff --against', () => {
  let [xds = 0, http = 0, monitoring = 0]: number[] = [];
  const ends: (() => unknown)[] = [];
  beforeAll(async () => {
    [xds = 0, http = 0, monitoring = 0] = await freePorts(3);
    const listen = Object.entries({ grpcAddr: xds, httpAddr: http, monitoringAddr: monitoring });
    const child = execa(
      process.execPath,
      [
        ...[resolve('dist/pilot-discovery.cjs'), 'discovery', '--configDir', join(folder, 'old')],
        ...listen.flatMap(([flag, port]) => [`--${flag}`, `127.0.0.1:${port}`]),
      ],
      { buffer: false, reject: false, stdio: 'ignore' },
    );
    ends.push(() => (child.kill('SIGTERM'), child));
    await eventually(async () => (await ask(http, '/ready')).status === 200);
  });
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });
  const against = (...args: readonly string[]) => diff('--against', `127.0.0.1:${http}`, ...args);

  it('ends with 69 if no proxy is connected', async () => {
    const { exitCode, stderr } = await against('new');
    expect([exitCode, stderr]).toEqual([69, expect.stringMatching(/no proxy is connected/)]);
  });

  it('compares what the connected proxies have', async () => {
    for (const id of [
      'sidecar~10.0.0.1~reviews-0.default~default.svc.cluster.local',
      'sidecar~10.0.0.9~app.shop~shop.svc.cluster.local',
    ]) {
      const client = acceptingClient(xds, id, typeUrls.cluster);
      ends.push(() => client.close());
      await eventually(() => client.answers.length > 0);
    }
    expect(await against('old')).toMatchObject({
      exitCode: 0,
      stdout: 'Nothing changes for 2 proxies.',
      stderr: '',
    });
    const { exitCode, stdout, stderr } = await against('new');
    expect([exitCode, stderr]).toEqual([1, '']);
    expect(stdout).toBe(`app.shop, reviews-0.default: 1 route
  route  changed  80
      ~ virtual_hosts["reviews.mesh:80"].routes[0].route.timeout: "1s" → "2s"
      ~ virtual_hosts["reviews.mesh:80"].routes[0].route.max_grpc_timeout: "1s" → "2s"

Something changes for 2 of 2 proxies.`);
  });

  it('says that the MeshConfig differs', async () => {
    const { exitCode, stderr } = await against('old', '--meshConfig', 'mesh.yaml');
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(/^pilot-discovery: the MeshConfig of 127\.0\.0\.1:\d+ differs: /),
    ]);
  });

  it.each([
    [['old', 'new'], 64, /2 paths: with --against, name NEW alone$/],
    [['new', '--proxy', 'sidecar~10.0.0.1~a.b~c'], 64, /--proxy: with --against, /],
  ])('refuses %j with %i', async (args, code, line) => {
    const { exitCode, stdout, stderr } = await against(...args);
    expect([exitCode, stdout]).toEqual([code, '']);
    expect(stderr).toMatch(line);
  });

  it('says if nobody answers, or another program does', async () => {
    const [unused = 0] = await freePorts(1);
    for (const [address, code, line] of [
      [`127.0.0.1:${unused}`, 69, /does not answer at 127\.0\.0\.1:\d+: .* by --against$/],
      ['here', 64, /--against: 'here' is not host:port$/],
      [`127.0.0.1:${monitoring}`, 69, /the answer to \/debug\/proxyz \(status 404\) is not /],
    ] as const) {
      const { exitCode, stderr } = await diff('--against', address, 'new');
      expect([exitCode, stderr]).toEqual([code, expect.stringMatching(line)]);
    }
  });
});
