import { create } from '@bufbuild/protobuf';
import { AnySchema } from '@bufbuild/protobuf/wkt';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  emptyStore,
  reduceStore,
  type Store,
} from '../../../../../src/pilot-discovery/environment/store.ts';
import { flawsOf } from '../../../../../src/pilot-discovery/environment/store-flaws.ts';
import type { StoreEvent } from '../../../../../src/pilot-discovery/environment/store-event.ts';
import { eachResource } from '../../../../../src/pilot-discovery/environment/resources.ts';
import { mcpAt } from '../../../../support/mcp-at.ts';
import { readAnswer } from '../../../../../src/pilot-discovery/registry/mcp/read-answer.ts';
import { writeMessage } from '../../../../../src/pilot-discovery/mcp/write-message.ts';
import {
  type FakeConfigServer,
  rawResource,
  resourceAny,
  startFakeConfigServer,
} from '../../../../support/fake-config-server.ts';
import { istioObjects } from '../../../../contract/registry-objects.ts';

const [entry, , , , , policy] = istioObjects.all;
if (entry === undefined || policy === undefined) throw new Error('there are no objects');

const sidecar = (namespace: string, ...hosts: readonly string[]) => ({
  apiVersion: 'networking.istio.io/v1',
  kind: 'Sidecar',
  metadata: { namespace, name: 'default' },
  spec: { egress: [{ hosts }] },
});

describe('mcpSource', () => {
  let server: FakeConfigServer;
  let listening: Subscription;
  let store: Store;
  let events: StoreEvent[];

  const listen = (namespaces: readonly string[] = []) => {
    listening = mcpAt(server.address, { namespaces }).subscribe({
      next(event) {
        events.push(event);
        [store] = reduceStore(store, event);
      },
      error: (error: unknown) => expect.unreachable(String(error)),
    });
  };
  const keys = () => [...eachResource(store.resources)].map(([key]) => key);
  const lost = () => store.sources.get('xds')?.lost;
  const synced = () => expect.poll(() => store.sources.get('xds')?.isSynced).toBe(true);

  beforeEach(async () => {
    server = await startFakeConfigServer();
    store = emptyStore(['xds']);
    events = [];
  });
  afterEach(async () => {
    listening.unsubscribe();
    await server.stop();
  });

  it('asks for each kind, as the node of another control plane, and ACKs each answer', async () => {
    server.put(entry);
    listen(['shop', 'bank']);
    await synced();
    const [first, ...others] = server.requests;
    expect(first?.node).toMatchObject({
      id: 'waypoint~127.0.0.1~istiod.istio-system~istio-system.svc.cluster.local',
      metadata: { GENERATOR: 'api', NAMESPACE: 'istio-system', CONFIG_NAMESPACES: 'shop,bank' },
    });
    expect(others.every(({ node }) => node === undefined)).toBe(true);
    expect(server.requests.map(({ typeUrl }) => typeUrl)).toContain(
      'networking.istio.io/v1/VirtualService',
    );
    const acks = () => server.requests.filter(({ responseNonce }) => responseNonce !== '');
    await expect.poll(() => acks().length).toBe(12);
    expect(acks().every(({ errorDetail }) => errorDetail === undefined)).toBe(true);
  });

  it('uses resources of its namespaces only', async () => {
    server.put(entry);
    server.put({ ...policy, metadata: { namespace: 'bank', name: 'policy' } });
    listen(['bank']);
    await synced();
    expect(keys()).toEqual(['AuthorizationPolicy/bank/policy']);
  });

  it('NACKs an answer that is not about resources, keeps what it has, and recovers', async () => {
    server.put(entry);
    listen();
    await synced();
    server.send('ServiceEntry', [
      create(AnySchema, { typeUrl: 'a/b', value: new Uint8Array([8]) }),
    ]);
    await expect
      .poll(lost)
      .toBe(
        "its answer about ServiceEntry is refused: 'a/b' is not a resource of Istio (istio.mcp.v1alpha1)",
      );
    const nack = () => server.requests.find(({ errorDetail }) => errorDetail !== undefined);
    await expect.poll(() => nack()?.errorDetail?.message).toContain("'a/b' is not a resource");
    expect(nack()?.versionInfo).not.toBe('');
    expect(keys()).toEqual(['ServiceEntry/shop/a']);
    server.send('ServiceEntry', []);
    await expect.poll(lost).toBeUndefined();
    expect(keys()).toEqual([]);
    expect(server.streams()).toBe(1);
  });

  it('closes for a policy that cannot be read, and never had a good version', async () => {
    listen();
    await synced();
    const { typeUrl } = writeMessage('AuthorizationPolicy', policy['spec']);
    server.send('AuthorizationPolicy', [
      rawResource('shop/bad', typeUrl, Buffer.from([0xff])),
      rawResource('shop/other', 'type.googleapis.com/a.B', new Uint8Array()),
      rawResource('__proto__', typeUrl, new Uint8Array()),
      rawResource('shop/giant', typeUrl, new Uint8Array(2 << 20)),
    ]);
    await expect.poll(() => keys().length).toBe(3);
    expect([...eachResource(store.resources)].every(([, { closes }]) => closes !== undefined)).toBe(
      true,
    );
    const reasons = flawsOf(store).map(({ reason }) => reason);
    expect(reasons).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^its body cannot be decoded/),
        "its body is 'a.B', and not istio.security.v1beta1.AuthorizationPolicy",
        "its name is '__proto__', and not NAMESPACE/NAME",
        expect.stringMatching(/bytes, and the limit is 1048576$/),
      ]),
    );
    expect(lost()).toBeUndefined();
  });

  it('keeps the last good version of a policy that can no longer be read', async () => {
    server.put(policy);
    listen();
    await synced();
    const { typeUrl } = writeMessage('AuthorizationPolicy', policy['spec']);
    server.send('AuthorizationPolicy', [
      rawResource('shop/refusals', typeUrl, Buffer.from([0xff])),
    ]);
    await expect.poll(() => flawsOf(store).length).toBe(1);
    const [[, resource] = []] = eachResource(store.resources);
    expect(resource).toMatchObject({ name: 'refusals' });
    expect(resource?.closes).toBeUndefined();
  });

  it('does not use the ServiceEntry of a Service without endpoints, and says why', async () => {
    const spec = { ...(entry['spec'] as object), workloadSelector: undefined };
    server.put({ ...entry, metadata: { namespace: 'shop', name: 'synthetic-a' }, spec });
    listen();
    await expect.poll(() => flawsOf(store)).toHaveLength(1);
    expect(flawsOf(store)[0]?.reason).toMatch(/^it stands for a Service of Kubernetes/);
    expect(keys()).toEqual([]);
  });

  it('refuses more than 100,000 resources of a kind', () => {
    const any = resourceAny(entry);
    const resources = Array.from({ length: 100_001 }, () => any);
    const place = {
      source: 'xds',
      path: '',
      namespaces: new Set<string>(),
      bodies: 'dropped',
    } as const;
    const reading = readAnswer('ServiceEntry', { resources }, new Map(), place);
    expect(() => reading.next()).toThrow('it has 100001 resources, and 100000 are read at most');
  });

  it('waits for a server that is away, and says so once', async () => {
    await server.stop();
    listen();
    await expect.poll(lost).toBe('connection refused');
    await server.start();
    await synced();
    expect(lost()).toBeUndefined();
    expect(events.filter(({ type }) => type === 'lost')).toHaveLength(1);
  });

  it('asks for the namespaces that the Sidecars of its own name, and for more when they do', async () => {
    const policyIn = (namespace: string) => ({
      ...policy,
      metadata: { namespace, name: 'policy' },
    });
    const nodes = () =>
      server.requests.flatMap(({ node }) => node?.metadata?.['CONFIG_NAMESPACES'] ?? []);
    for (const namespace of ['bank', 'shop', 'far']) server.put(policyIn(namespace));
    server.put(sidecar('bank', './*', '~/*', 'shop/*', 'bank/a.mesh'));
    server.put(sidecar('shop', 'far/*'));
    listen(['bank']);
    await synced();
    const policies = () => keys().filter((key) => key.startsWith('Authorization'));
    expect(policies()).toEqual([
      'AuthorizationPolicy/bank/policy',
      'AuthorizationPolicy/shop/policy',
    ]);
    expect(nodes()).toEqual(['bank', 'bank,shop']);
    expect(events.filter(({ type }) => type === 'synced')).toHaveLength(1);

    server.put(sidecar('bank', 'shop/*', 'far/*'));
    await expect.poll(() => policies().length).toBe(3);
    server.put(sidecar('bank', './*'));
    await expect.poll(policies).toEqual(['AuthorizationPolicy/bank/policy']);
    server.put(sidecar('bank', '*/*'));
    await expect.poll(() => policies().length).toBe(3);
    expect(nodes()).toEqual(['bank', 'bank,shop', 'bank,far,shop', 'bank']);
    expect(server.streams()).toBe(5);
    expect(events.some(({ type }) => type === 'lost')).toBe(false);
  });

  it('connects once a second at most if Sidecars go on naming other namespaces', async () => {
    server.put(sidecar('bank', 'shop/*'));
    listen(['bank']);
    await synced();
    expect(server.streams()).toBe(2);
    for (const time of Array(40).keys()) {
      server.put(sidecar('bank', time % 2 === 0 ? 'far/*' : 'shop/*'));
      await sleep(20);
    }
    expect(server.streams()).toBeLessThanOrEqual(4);
  });

  it('does not have what a proxy needs before all namespaces have come', async () => {
    server.put(sidecar('bank', 'shop/*'));
    server.put(entry);
    const atStart: (readonly string[])[] = [];
    listening = mcpAt(server.address, { namespaces: ['bank'] }).subscribe({
      next(event) {
        [store] = reduceStore(store, event);
        if (event.type === 'synced') atStart.push(keys());
      },
      error: (error: unknown) => expect.unreachable(String(error)),
    });
    await expect.poll(() => atStart.length).toBe(1);
    expect(atStart[0]).toContain('ServiceEntry/shop/a');
    const first = server.requests.filter(({ node }) => node !== undefined);
    expect(first.map(({ typeUrl }) => typeUrl)).toEqual([
      'networking.istio.io/v1/Sidecar',
      'networking.istio.io/v1/Sidecar',
    ]);
  });

  it('says the versions that it has when it comes back, and reads what is equal only once', async () => {
    server.put(entry);
    listen();
    await synced();
    const before = [...eachResource(store.resources)].map(([, resource]) => resource);
    await server.stop();
    await expect.poll(lost).toBeDefined();
    const { length } = server.requests;
    await server.start();
    await expect.poll(lost).toBeUndefined();
    const [first] = server.requests.slice(length);
    expect(first?.versionInfo).not.toBe('');
    expect(first?.responseNonce).toBe('');
    expect([...eachResource(store.resources)].map(([, resource]) => resource)).toEqual(before);
    expect(store.resources.get('ServiceEntry')?.get('shop')?.get('a')).toBe(before[0]);
  });

  it('keeps bodies as they were sent, for others that read them from this one', async () => {
    server.put(entry);
    listening = mcpAt(server.address, { bodies: 'kept' }).subscribe({
      next: (event) => ([store] = reduceStore(store, event)),
      error: (error: unknown) => expect.unreachable(String(error)),
    });
    await synced();
    const [[, resource] = []] = eachResource(store.resources);
    expect(resource?.body).toEqual(writeMessage('ServiceEntry', entry['spec']));
  });
});
