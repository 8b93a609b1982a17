import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { create } from '@bufbuild/protobuf';
import { afterEach, describe, expect, it } from 'vitest';
import { typeUrls } from '../../src/pilot-discovery/push/view.ts';
import { DiscoveryRequestSchema } from '../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { acceptingClient, wholeClient } from '../support/proxy-client.ts';
import { ask } from '../support/ask.ts';
import { eventually } from '../support/eventually.ts';
import { slowReader } from '../support/slow-reader.ts';
import type { Running } from '../support/e2e/running.ts';
import { type TwoSidecarsRig, twoSidecarsRig } from '../support/e2e/two-sidecars-rig.ts';

const effective = { interval: 50 };
const nodeOf = (name: string) => ({
  id: `sidecar~127.0.0.1~${name}.default~default.svc.cluster.local`,
});

/** Returns `number` ServiceEntries in one text: `svc-FROM.mesh` and the next ones. */
function services(from: number, number: number, port: number, endpoint: number): string {
  return Array.from(
    { length: number },
    (_, index) => `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: svc-${from + index}, namespace: default }
spec:
  hosts: [svc-${from + index}.mesh]
  location: MESH_EXTERNAL
  resolution: STATIC
  ports: [{ number: ${port}, name: http, protocol: HTTP }]
  endpoints: [{ address: 127.0.0.1, ports: { http: ${endpoint} } }]
`,
  ).join('---\n');
}

describe('a control plane with much to do', () => {
  let rig: TwoSidecarsRig;
  const ends: (() => void)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) end();
    await rig.dispose();
  });

  async function started(more?: readonly string[]): Promise<Running> {
    const discovery = rig.startDiscovery(more);
    await eventually(async () => (await ask(rig.ports.http, '/ready')).status === 200);
    return discovery;
  }

  it('has 10,000 ServiceEntries at its start, and a sidecar answers by them', async () => {
    rig = await twoSidecarsRig();
    const backend = createServer((_, response) => void response.end('here')).listen(0, '127.0.0.1');
    await once(backend, 'listening');
    ends.push(() => backend.close().closeAllConnections());
    const { port } = backend.address() as AddressInfo;
    for (let file = 0; file < 100; file += 1)
      rig.write(`50-${file}.yaml`, services(file * 100, 100, rig.ports.service, port));
    await started();
    rig.startAgents();
    const answer = (host: string) => ask(rig.ports.service, '/', { host });
    for (const host of ['svc-0.mesh', 'svc-4999.mesh', 'svc-9999.mesh'])
      await expect
        .poll(() => answer(host), { interval: 200 })
        .toEqual({ status: 200, body: 'here' });
  });

  it('holds no more for proxies that do not accept or do not read, and the others have each change', async () => {
    rig = await twoSidecarsRig();
    for (let file = 0; file < 10; file += 1)
      rig.write(`50-${file}.yaml`, services(file * 100, 100, 20_000, 20_001));
    const { pid = 0 } = await started();
    const crowd = Array.from({ length: 50 }, (_, number) =>
      acceptingClient(rig.ports.xds, nodeOf(`crowd-${number}`).id, typeUrls.cluster),
    );
    ends.push(...crowd.map((each) => () => each.close()));
    const haveAll = () => crowd.filter(({ answers }) => answers.length > 0).length;
    await expect.poll(haveAll, { interval: 100 }).toBe(50);
    const silent = Array.from({ length: 10 }, (_, number) => {
      const client = wholeClient(rig.ports.xds);
      const node = nodeOf(`silent-${number}`);
      client.call.write(create(DiscoveryRequestSchema, { node, typeUrl: typeUrls.cluster }));
      return client;
    });
    const slow = Array.from({ length: 10 }, (_, number) =>
      slowReader(rig.ports.xds, nodeOf(`slow-${number}`).id, 1024),
    );
    ends.push(...[...silent, ...slow].map((each) => () => each.close()));
    const silentAnswers = () => silent.map(({ answers }) => answers.length);
    const oneEach = silent.map(() => 1);
    await expect.poll(silentAnswers, effective).toEqual(oneEach);
    const memory = () =>
      Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
    const after: number[] = [];
    for (let change = 0; change < 60; change += 1) {
      rig.write('60-changing.yaml', services(50_000 + change, 1, 20_000, 20_001));
      const name = `outbound|20000||svc-${50_000 + change}.mesh`;
      const arrived = () =>
        crowd.filter(({ answers }) =>
          answers
            .slice(-2)
            .some(({ resources }) => resources.some((resource) => resource.name === name)),
        ).length;
      await expect.poll(arrived, { interval: 20 }).toBe(50);
      after.push(memory());
    }
    // The answers to the crowd become garbage that V8 collects later, so the lowest values of 20
    // changes are compared. Each of the 20 answers between has half a megabyte, for each of the 20
    // proxies that do not take it. A queue of these answers would have 200 MB.
    expect(Math.min(...after.slice(40)) - Math.min(...after.slice(20, 40))).toBeLessThan(120);
    expect(silentAnswers()).toEqual(oneEach);
    for (const { read, isClosed } of slow) {
      expect(isClosed()).toBe(false);
      expect(read()).toBeGreaterThan(1_024);
    }
  });

  it('ends the streams of proxies that do not read when others wait, and the proxies notice', async () => {
    rig = await twoSidecarsRig();
    for (let file = 0; file < 10; file += 1)
      rig.write(`50-${file}.yaml`, services(file * 100, 100, 20_000, 20_001));
    const { lines } = await started();
    const count = (event: string) => lines.filter((line) => line.event === event).length;
    // Each of these proxies receives half a megabyte. All first answers may have 32 MiB together.
    const stuck = Array.from({ length: 120 }, (_, number) =>
      slowReader(rig.ports.xds, nodeOf(`stuck-${number}`).id, 0),
    );
    ends.push(...stuck.map((each) => () => each.close()));
    await expect.poll(() => count('discovery.connected'), effective).toBe(120);
    const other = acceptingClient(rig.ports.xds, nodeOf('other').id, typeUrls.cluster);
    ends.push(() => other.close());
    await expect.poll(() => other.answers.length, { interval: 100 }).toBe(1);
    const closed = () => stuck.filter((each) => each.isClosed()).length;
    await expect.poll(closed, effective).toBeGreaterThan(0);
    await expect.poll(() => closed() - count('discovery.reads_nothing'), effective).toBe(0);
  });

  it('sends its proxies elsewhere one after the other when it is to end, and ends at once if it is asked again', async () => {
    rig = await twoSidecarsRig();
    const crowd = async () => {
      const clients = Array.from({ length: 200 }, (_, number) =>
        acceptingClient(rig.ports.xds, nodeOf(`p-${number}`).id, typeUrls.cluster),
      );
      ends.push(...clients.map((each) => () => each.close()));
      await expect
        .poll(() => clients.filter(({ answers }) => answers.length > 0).length, effective)
        .toBe(200);
      return () => clients.filter(({ statuses }) => statuses.length === 0).length;
    };
    const first = await started();
    const left = await crowd();
    const ended = first.end('SIGTERM');
    await expect
      .poll(() => ask(rig.ports.http, '/ready'), { interval: 10 })
      .toEqual({ status: 503, body: 'it ends\n' });
    await expect.poll(left, { interval: 10 }).toBeLessThan(150);
    expect(left()).toBeGreaterThan(0);
    await ended;
    expect(left()).toBe(0);
    expect(
      first.lines
        .map(({ event }) => event)
        .filter((event) => event !== 'discovery.disconnected')
        .slice(-2),
    ).toEqual(['discovery.draining', 'discovery.ended']);
    const second = await started(['--shutdownDuration', '1h']);
    await crowd();
    void second.end('SIGTERM');
    await expect
      .poll(() => second.lines.some(({ event }) => event === 'discovery.draining'), { interval: 5 })
      .toBe(true);
    await second.end('SIGTERM');
    expect(second.lines.at(-1)?.event).toBe('discovery.ended');
    expect(
      second.lines.filter(({ event }) => event === 'discovery.disconnected').length,
    ).toBeLessThan(150);
  });

  it('pushes once a window under 200 changes a second, and the newest at the end', async () => {
    rig = await twoSidecarsRig();
    await started();
    const client = acceptingClient(rig.ports.xds, nodeOf('client').id, typeUrls.cluster);
    ends.push(() => client.close());
    await expect.poll(() => client.answers.length, effective).toBe(1);
    const begun = performance.now();
    let change = 0;
    for (; performance.now() - begun < 15_000; change += 1) {
      rig.write(`50-${change % 10}.yaml`, services(change, 1, 20_000, 20_001));
      await sleep(Math.max(0, begun + (change + 1) * 5 - performance.now()));
    }
    expect(change).toBeGreaterThan(1_000);
    const names = () => {
      const has = new Set<string>();
      for (const { resources, removedResources } of client.answers) {
        for (const { name } of resources) has.add(name);
        for (const name of removedResources) has.delete(name);
      }
      return [...has].filter((name) => name.startsWith('outbound|20000||')).sort();
    };
    const newest = Array.from(
      { length: 10 },
      (_, index) => `outbound|20000||svc-${change - 10 + index}.mesh`,
    ).sort();
    await expect.poll(names, effective).toEqual(newest);
    // A window lasts 10 s at most; the marble tests show this. A pause of a busy machine ends one
    // early, so the count is compared with the number of changes. A change of clusters has two
    // answers: one with the new clusters, and one with the removed clusters.
    const built = (await rig.metric('pilot_push_triggers{type="config"}')) ?? 0;
    expect(built).toBeGreaterThanOrEqual(2);
    expect(built).toBeLessThanOrEqual(change / 50);
    expect(client.answers.length).toBeLessThanOrEqual(1 + 2 * built);
  });
});
