import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { create, fromBinary } from '@bufbuild/protobuf';
import { execa } from 'execa';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { typeUrls } from '../../src/pilot-discovery/push/view.ts';
import { ClusterLoadAssignmentSchema } from '../../src/shared/proto/envoy/config/endpoint/v3/endpoint_pb.ts';
import {
  DeltaDiscoveryRequestSchema,
  type DeltaDiscoveryResponse,
} from '../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { ask } from '../support/ask.ts';
import { type Consul, hasConsul, startConsul, startConsulDatacenters } from '../support/consul.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';
import { leftOut } from '../support/left-out.ts';
import { deltaClient } from '../support/proxy-client.ts';

if (!hasConsul) leftOut('a control plane over a real Consul', 'a program');

const id = 'sidecar~127.0.0.1~app.default~default.svc.cluster.local';

describe.skipIf(!hasConsul)('a control plane over Consul', () => {
  let consul: Consul;
  let folder: string;
  let [xds = 0, http = 0, monitoring = 0]: number[] = [];
  const ends: (() => unknown)[] = [];

  interface Line {
    readonly event: string;
    readonly source?: string;
    readonly reason?: string;
    readonly resource?: string;
    readonly removals?: number;
  }

  /** Starts a control plane. Returns a function that returns the lines of its log so far. */
  function start(...more: readonly string[]): () => readonly Line[] {
    const listen = Object.entries({ grpcAddr: xds, httpAddr: http, monitoringAddr: monitoring });
    const flags = listen.flatMap(([flag, port]) => [`--${flag}`, `127.0.0.1:${port}`]);
    const where = ['--registries', 'Consul', '--consulserverURL', consul.address];
    const program = [resolve('dist/pilot-discovery.cjs'), 'discovery', ...flags, ...where];
    const child = execa(process.execPath, [...program, ...more], { buffer: false, reject: false });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => (output += piece));
    ends.push(() => (child.kill('SIGTERM'), child));
    const lines = () => output.split('\n').slice(0, -1);
    return () => lines().map((line) => JSON.parse(line) as Line);
  }
  /** Resolves to the hosts of all services. */
  async function services(): Promise<readonly string[]> {
    const { body } = await ask(http, '/debug/registryz');
    return (JSON.parse(body) as readonly { readonly host: string }[]).map(({ host }) => host);
  }
  const isReady = async () => (await ask(http, '/ready').catch(() => undefined))?.status === 200;

  /**
   * Connects a proxy that subscribes to the endpoints of clusters. Returns a function that returns
   * its newest endpoints, sorted in each cluster.
   */
  function proxy(...clusters: readonly string[]): () => readonly string[] {
    const client = deltaClient(xds);
    const newest = new Map<string, readonly string[]>();
    const typeUrl = typeUrls.endpoint;
    client.call.on('data', ({ nonce, resources, removedResources }: DeltaDiscoveryResponse) => {
      for (const name of removedResources) newest.set(name, []);
      for (const { name, resource } of resources) {
        const { endpoints } = fromBinary(
          ClusterLoadAssignmentSchema,
          resource?.value ?? new Uint8Array(),
        );
        const addresses = endpoints.flatMap(({ lbEndpoints }) =>
          lbEndpoints.map(({ hostIdentifier }) => {
            const address =
              hostIdentifier.case === 'endpoint' ? hostIdentifier.value.address : undefined;
            return address?.address.case === 'socketAddress' ? address.address.value.address : '';
          }),
        );
        newest.set(name, addresses.sort());
      }
      client.call.write(create(DeltaDiscoveryRequestSchema, { typeUrl, responseNonce: nonce }));
    });
    client.call.write(
      create(DeltaDiscoveryRequestSchema, {
        node: { id },
        typeUrl,
        resourceNamesSubscribe: [...clusters],
      }),
    );
    ends.push(() => client.close());
    return () => clusters.flatMap((cluster) => newest.get(cluster) ?? ['no answer']);
  }
  const register = (name: string, id: string, address: string, more: object = {}) =>
    consul.ask('PUT', 'agent/service/register', {
      ID: `${name}-${id}`,
      Name: name,
      Address: address,
      Port: 80,
      Meta: { protocol: 'http' },
      ...more,
    });
  const web = 'outbound|80||web.service.consul';
  const api = 'outbound|80||api.service.consul';

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-consul-'));
    [xds = 0, http = 0, monitoring = 0] = await freePorts(3);
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
    rmSync(folder, { recursive: true });
  });

  describe('that wants no tokens', () => {
    beforeEach(async () => {
      consul = await startConsul();
    });
    afterEach(() => consul.dispose());

    it('gives proxies the instances that have no critical check', async () => {
      await register('web', 'one', '10.0.0.1');
      start();
      await eventually(isReady);
      const endpoints = proxy(web);
      await expect.poll(endpoints).toEqual(['10.0.0.1']);
      const check = { CheckID: 'two', TTL: '600s', Status: 'critical' };
      await register('web', 'two', '10.0.0.2', { Check: check });
      await register('web', 'three', '10.0.0.3');
      await expect.poll(endpoints).toEqual(['10.0.0.1', '10.0.0.3']);
      await consul.ask('PUT', 'agent/check/warn/two', '');
      await expect.poll(endpoints).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3']);
      await consul.ask('PUT', 'agent/check/fail/two', '');
      await expect.poll(endpoints).toEqual(['10.0.0.1', '10.0.0.3']);
      await consul.ask('PUT', 'agent/service/deregister/web-one', '');
      await expect.poll(endpoints).toEqual(['10.0.0.3']);
      await consul.ask('PUT', 'agent/service/deregister/web-two', '');
      await consul.ask('PUT', 'agent/service/deregister/web-three', '');
      const services = async () =>
        JSON.parse((await ask(http, '/debug/registryz')).body) as unknown;
      await expect.poll(services).toEqual([]);
    });

    it('holds a service of 1,000 instances, and pushes one that is added', async () => {
      const count = 1_000;
      for (let number = 0; number < count; number += 50) {
        const ids = Array.from({ length: 50 }, (_, index) => number + index);
        await Promise.all(
          ids.map((id) => register('web', String(id), `10.0.${id >> 8}.${id & 255}`)),
        );
      }
      start();
      await eventually(isReady);
      const endpoints = proxy(web);
      await expect.poll(() => endpoints().length).toBe(count);
      await register('web', 'more', '10.1.0.1');
      await expect.poll(() => endpoints().length).toBe(count + 1);
    });

    it('keeps what it has while Consul is away, and holds what it has lost', async () => {
      await register('web', 'one', '10.0.0.1');
      await register('api', 'one', '10.0.0.2');
      const lines = start('--massRemovalHold', '1h');
      await eventually(isReady);
      const endpoints = proxy(web, api);
      await expect.poll(endpoints).toEqual(['10.0.0.1', '10.0.0.2']);
      await consul.stop();
      const lineOf = (event: string) => lines().find((line) => line.event === event);
      await expect.poll(() => lineOf('discovery.source_lost')?.reason).toMatch(consul.address);
      await consul.start(); // Consul starts without the services that it had
      await expect
        .poll(() => lineOf('discovery.removals_held'))
        .toMatchObject({
          source: 'Consul',
          removals: 4,
        });
      await expect.poll(() => lineOf('discovery.source_back')?.source).toBe('Consul');
      expect(endpoints()).toEqual(['10.0.0.1', '10.0.0.2']);
      await register('web', 'one', '10.0.0.3');
      await expect.poll(endpoints).toEqual(['10.0.0.3', '10.0.0.2']);
      const confirmed = await ask(http, '/confirm', { method: 'POST' });
      expect(confirmed.body).toContain('confirmed: 2 resources are removed');
      await expect.poll(services).toEqual(['web.service.consul']);
      await expect.poll(endpoints).toEqual(['10.0.0.3']);
    });

    it('starts without Consul, and is ready when it is there', async () => {
      await consul.stop();
      const lines = start();
      const lost = () => lines().find(({ event }) => event === 'discovery.source_lost')?.reason;
      await expect.poll(lost).toMatch(`${consul.address}/v1/catalog/services: `);
      expect(await isReady()).toBe(false);
      await consul.start();
      await eventually(isReady);
    });

    it('joins a service with a ServiceEntry of the same host, and names one that it cannot join', async () => {
      const entry = (name: string, namespace: string) => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: ${namespace} }
spec:
  hosts: [${name}.service.consul]
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }]
  endpoints: [{ address: 10.0.0.9 }]
`;
      writeFileSync(join(folder, 'web.yaml'), entry('web', 'default'));
      writeFileSync(join(folder, 'api.yaml'), entry('api', 'shop'));
      await register('web', 'one', '10.0.0.1');
      await register('api', 'one', '10.0.0.2');
      const lines = start('--configDir', folder);
      await eventually(isReady);
      await expect.poll(proxy(web)).toEqual(['10.0.0.1', '10.0.0.9']);
      await expect.poll(lines).toContainEqual(
        expect.objectContaining({
          event: 'discovery.unserved',
          resource: 'ServiceEntry/shop/api',
          reason: expect.stringContaining('not joined with ConsulService/default/api') as string,
        }),
      );
      const metrics = (await ask(monitoring, '/metrics')).body;
      expect(metrics).toContain('\npilot_conflict_registries 1\n');
    });
  });

  describe('of two datacenters', () => {
    let other: Consul;
    beforeAll(async () => {
      const [near, far] = await startConsulDatacenters(['dc1', 'dc2']);
      if (near === undefined || far === undefined) throw new Error('two servers were started');
      [consul, other] = [near, far];
    });
    afterAll(() => Promise.all([consul.dispose(), other.dispose()]));

    it('joins their services, and keeps those of one that is away', async () => {
      await register('web', 'one', '10.0.0.1');
      const instance = { ID: 'web-far', Name: 'web', Address: '10.0.0.2', Port: 80 };
      await other.ask('PUT', 'agent/service/register', { ...instance, Meta: { protocol: 'http' } });
      const lines = start('--consulDatacenters', 'dc1,dc2');
      await eventually(isReady);
      const endpoints = proxy(web);
      await expect.poll(endpoints).toEqual(['10.0.0.1', '10.0.0.2']);
      await other.stop();
      await expect
        .poll(() => lines().findLast(({ event }) => event === 'discovery.source_lost'))
        .toMatchObject({
          source: 'Consul/dc2',
          reason: expect.stringMatching(/services: it answers 500: \w/) as string,
        });
      await register('web', 'two', '10.0.0.3');
      await expect.poll(endpoints).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3']);
      await other.start();
      await expect.poll(() => lines().at(-1)?.event).toBe('discovery.source_back');
      await other.ask('PUT', 'agent/service/deregister/web-far', '');
      await expect.poll(endpoints).toEqual(['10.0.0.1', '10.0.0.3']);
    });
  });

  describe('that wants tokens', () => {
    beforeAll(async () => {
      consul = await startConsul({ acl: true });
      await register('web', 'one', '10.0.0.1');
      await register('api', 'one', '10.0.0.2');
    });
    afterAll(() => consul.dispose());

    it('names what it may not read, keeps what it has, and reads the token again', async () => {
      const all = 'service_prefix "" { policy = "read" } node_prefix "" { policy = "read" }';
      const tokens = {
        all: await consul.token(all),
        services: await consul.token('service_prefix "" { policy = "read" }'),
        web: await consul.token(all.replace('service_prefix ""', 'service "web"')),
      };
      const tokenFile = join(folder, 'token');
      writeFileSync(tokenFile, 'unknown');
      const lines = start('--consulTokenFile', tokenFile);
      const lost = () => lines().findLast(({ event }) => event === 'discovery.source_lost')?.reason;
      const catalog = `${consul.address}/v1/catalog/services`;
      await expect
        .poll(lost)
        .toBe(`${catalog}: it answers 403: the token in ${tokenFile} may not read this`);
      writeFileSync(tokenFile, tokens.services);
      await expect
        .poll(lost)
        .toBe(
          `${consul.address}/v1/health/service/api: it holds back what the token in ${tokenFile} may not read`,
        );
      expect(await isReady()).toBe(false);
      writeFileSync(tokenFile, tokens.all);
      await eventually(isReady);
      const endpoints = proxy(web, api);
      await expect.poll(endpoints).toEqual(['10.0.0.1', '10.0.0.2']);
      writeFileSync(tokenFile, tokens.web);
      await register('web', 'two', '10.0.0.3'); // makes Consul answer the query of the catalog
      await expect
        .poll(lost)
        .toBe(`${catalog}: it holds back what the token in ${tokenFile} may not read`);
      expect(endpoints()).toContain('10.0.0.2');
    });
  });
});
