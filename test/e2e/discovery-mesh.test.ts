import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../support/ask.ts';
import { eventually } from '../support/eventually.ts';
import { type Load, startLoad } from '../support/load.ts';
import type { Line, Running } from '../support/e2e/running.ts';
import { type TwoSidecarsRig, twoSidecarsRig } from '../support/e2e/two-sidecars-rig.ts';

/** The interval, in ms, at which a test checks whether a change of a file is in effect. */
const effective = { interval: 20 };

interface Edit {
  readonly weights?: readonly [number, number];
  readonly subsets?: readonly [string, string];
  readonly more?: string;
}

/** Returns the VirtualService and the DestinationRule of `echo.mesh`. */
function route({
  weights: [v1, v2] = [100, 0],
  subsets: [first, second] = ['v1', 'v2'],
  more = '',
}: Edit): string {
  return `
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: echo, namespace: default }
spec:
  hosts: [echo.mesh]
  http:
    - route:
        - { destination: { host: echo.mesh, subset: ${first} }, weight: ${v1} }
        - { destination: { host: echo.mesh, subset: ${second} }, weight: ${v2} }
      ${more}
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: echo, namespace: default }
spec:
  host: echo.mesh
  subsets:
    - { name: ${first}, labels: { version: v1 } }
    - { name: ${second}, labels: { version: v2 } }
`;
}

/** Returns a ServiceEntry. Ports are below 10,000, so that no other test file has received them. */
const serviceEntry = (name: string, port: number, more = '') => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: default }
spec:
  hosts: [${name}.mesh]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: ${port}, name: http, protocol: HTTP }]
  endpoints: [{ address: 127.0.0.1 }]
  exportTo: [shop]
  ${more}
`;

describe('two sidecars that live from pilot-discovery', () => {
  let rig: TwoSidecarsRig;
  let discovery: Running;
  let load: Load;

  beforeAll(async () => {
    rig = await twoSidecarsRig();
    discovery = rig.startDiscovery();
    rig.startAgents();
    await eventually(async () => (await rig.ask()).status === 200);
    load = startLoad({
      port: rig.ports.service,
      host: 'echo.mesh',
      mode: 'keep-alive',
      clients: 4,
      pause: 5,
      maxDuration: 300_000,
    });
  });
  afterAll(async () => {
    await load.stop();
    await rig.dispose();
  });

  /** Checks that no request has failed so far. */
  const flawless = () =>
    expect({ failed: load.counts.failed, errors: Object.fromEntries(load.counts.errors) }).toEqual({
      failed: 0,
      errors: {},
    });
  const linesOf = (event: string, since = 0): readonly Line[] =>
    discovery.lines.slice(since).filter((line) => line.event === event);
  const rejected = () => linesOf('discovery.rejected');

  it('answers by both versions, as the weights are', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => rig.ask()));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const second = answers.filter(({ body }) => body.startsWith('v2')).length;
    expect(second).toBeGreaterThan(0);
    expect(second).toBeLessThan(30);
  });

  it('tells what a proxy has as Envoy itself tells it', async () => {
    type Dump = {
      readonly configs: readonly {
        readonly dynamic_active_clusters?: readonly {
          readonly cluster: { readonly name: string };
        }[];
      }[];
    };
    const namesOf = ({ configs }: Dump) =>
      configs
        .flatMap((each) => (each.dynamic_active_clusters ?? []).map(({ cluster }) => cluster.name))
        .sort();
    const { body } = await ask(rig.ports.client.admin, '/config_dump');
    expect(namesOf(await rig.debug<Dump>('config_dump?proxyID=client-0.shop'))).toEqual(
      namesOf(JSON.parse(body) as Dump),
    );
    expect(await rig.debug('edsz?proxyID=client-0.shop')).toHaveLength(3);
    expect(await rig.debug('sidecarz?proxyID=echo-0.default')).toMatchObject({
      kind: 'Sidecar',
      name: 'echo',
    });
    expect(await rig.debug('config_dump?proxyID=nobody')).toEqual({
      error: 'no proxy nobody is connected',
      connected: expect.arrayContaining(['client-0.shop', 'echo-0.default']) as unknown,
    });
  });

  it('answers nobody without a certificate of the mesh', async () => {
    expect(await rig.askPlain()).toEqual({
      status: 0,
      body: expect.stringMatching(/ECONNRESET|socket hang up/) as string,
    });
  });

  it('has an edit in effect', async () => {
    rig.write('40-route.yaml', route({ weights: [0, 100] }));
    await expect.poll(() => rig.ask(), effective).toMatchObject({ status: 200, body: 'v2\n' });
    rig.write(
      '40-route.yaml',
      route({ more: 'headers: { response: { set: { x-edited: "yes" } } }' }),
    );
    await expect.poll(() => rig.ask(), effective).toMatchObject({ status: 200, body: 'v1\n' });
    flawless();
  });

  it('follows 200 edits under load, and no request fails', async () => {
    const before = load.counts.ok;
    for (let edit = 0; edit < 200; edit += 1) {
      const share = (edit * 7) % 101;
      const kinds = [
        () => rig.write('40-route.yaml', route({ weights: [100 - share, share] })),
        () => rig.write('40-route.yaml', route({ more: `timeout: ${1 + (edit % 9)}s` })),
        () => rig.write('40-route.yaml', route({ more: 'retries: { attempts: 3, retryOn: 5xx }' })),
        () =>
          rig.write(`50-more-${edit % 10}.yaml`, serviceEntry(`more-${edit % 10}`, 5_000 + edit)),
        () => rmSync(join(rig.configDir, `50-more-${(edit + 5) % 10}.yaml`), { force: true }),
      ];
      kinds[edit % kinds.length]?.();
      await sleep(60);
    }
    rig.write('40-route.yaml', route({ weights: [0, 100] }));
    await expect.poll(() => rig.ask(), effective).toMatchObject({ status: 200, body: 'v2\n' });
    expect(load.counts.ok - before).toBeGreaterThan(1_000);
    flawless();
    expect(rejected()).toEqual([]);
  });

  it('renames subsets 10 times under load, and no request fails', async () => {
    for (let time = 0; time < 10; time += 1) {
      const subsets = [`first-${time}`, `second-${time}`] as const;
      rig.write('40-route.yaml', route({ subsets, weights: time % 2 === 0 ? [100, 0] : [0, 100] }));
      await expect
        .poll(() => rig.ask(), effective)
        .toMatchObject({ status: 200, body: time % 2 === 0 ? 'v1\n' : 'v2\n' });
      flawless();
    }
    expect(rejected()).toEqual([]);
  });

  it('takes 50 good changes among bad ones, and names each of those', async () => {
    const since = discovery.lines.length;
    const bad: Readonly<Record<string, string>> = {
      '60-yaml.yaml': 'kind: [ServiceEntry',
      '61-field.yaml': serviceEntry('field', 5_300).replace('MESH_INTERNAL', 'MESH_INSIDE'),
      '62-regex.yaml': route({})
        .replace('- route:', '- match: [{ uri: { regex: "(" } }]\n      route:')
        .replaceAll('name: echo,', 'name: regex,')
        .replace('host: echo.mesh\n', 'host: regex.mesh\n'),
      '63-format.yaml': route({ more: 'headers: { response: { set: { x: "%BAD%" } } }' })
        .replaceAll('name: echo,', 'name: format,')
        .replaceAll('echo.mesh', 'format.mesh'),
    };
    for (let change = 0; change < 50; change += 1) {
      rig.write(`70-good-${change}.yaml`, serviceEntry(`good-${change}`, 5_400 + change));
      const [name = '', text = ''] = Object.entries(bad)[change] ?? [];
      if (name !== '') rig.write(name, text);
    }
    const hosts = async () =>
      (await rig.debug<readonly { readonly host: string }[]>('registryz')).filter(({ host }) =>
        host.startsWith('good-'),
      ).length;
    await expect.poll(hosts, effective).toBe(50);
    const refused = () =>
      linesOf('discovery.refused', since).map(
        ({ path, field, reason }) =>
          `${String(path).replace(/.*\//, '')} ${typeof field === 'string' ? field : ''} ${String(reason)}`,
      );
    await expect.poll(refused, effective).toHaveLength(4);
    expect(refused().sort()).toEqual([
      expect.stringMatching(/^60-yaml\.yaml:\d+ {2}it is not YAML/),
      expect.stringMatching(/^61-field\.yaml:\d+ spec\.location /),
      expect.stringMatching(/^62-regex\.yaml:\d+ spec\.http\[0\]\.match\[0\]\.uri\.regex /),
      expect.stringMatching(
        /^63-format\.yaml:\d+ spec\.http\[0\]\.headers\.response\.set\.x .*%BAD%/,
      ),
    ]);
    for (const name of Object.keys(bad)) rmSync(join(rig.configDir, name));
    await expect.poll(() => linesOf('discovery.mended', since), effective).toHaveLength(4);
    await expect.poll(() => rig.ask(), effective).toMatchObject({ status: 200 });
    flawless();
    expect(rejected()).toEqual([]);
  });

  it('is killed and comes back, no request fails, and nothing is sent that the proxies have', async () => {
    type Synced = {
      readonly proxy: string;
      readonly resources: Readonly<
        Record<string, { readonly status: string; readonly sentResources?: number }>
      >;
    };
    const synced = () => rig.debug<readonly Synced[]>('syncz');
    // An answer without an ACK is sent again after the kill, so the test waits until all have one.
    const rest = async () => {
      const proxies = await synced();
      const all = proxies.flatMap(({ resources }) => Object.values(resources));
      const isSent = all.some(({ status }) => status === 'SENT' || status === 'STALE');
      return isSent ? undefined : JSON.stringify(proxies);
    };
    await eventually(async () => {
      const before = await rest();
      return before !== undefined && before === (await sleep(1_000, rest).then((later) => later()));
    });
    await discovery.end('SIGKILL');
    const before = load.counts.ok;
    await expect.poll(() => load.counts.ok - before).toBeGreaterThan(100);
    discovery = rig.startDiscovery();
    await expect.poll(() => linesOf('discovery.connected')).toHaveLength(2);
    const client = async () =>
      Object.values(
        (await synced()).find(({ proxy }) => proxy === 'client-0.shop')?.resources ?? {},
      );
    await expect.poll(async () => (await client()).map(({ status }) => status)).toContain('SYNCED');
    await sleep(2_000);
    expect((await client()).map(({ sentResources }) => sentResources ?? 0)).toEqual([0, 0, 0, 0]);
    rig.write('40-route.yaml', route({ weights: [0, 100] }));
    await expect.poll(() => rig.ask(), effective).toMatchObject({ status: 200, body: 'v2\n' });
    flawless();
  });
});
