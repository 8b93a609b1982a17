import { create } from '@bufbuild/protobuf';
import { AnySchema } from '@bufbuild/protobuf/wkt';
import type { Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  emptyStore,
  flawsOf,
  reduceStore,
  type Store,
} from '../../../../../src/pilot-discovery/environment/store.ts';
import type { StoreEvent } from '../../../../../src/pilot-discovery/environment/store-event.ts';
import { eachResource } from '../../../../../src/pilot-discovery/environment/resources.ts';
import { mcpSource } from '../../../../../src/pilot-discovery/registry/mcp/mcp-source.ts';
import { readAnswer } from '../../../../../src/pilot-discovery/registry/mcp/read-answer.ts';
import { writeBody } from '../../../../support/write-body.ts';
import {
  type FakeConfigServer,
  rawResource,
  resourceAny,
  startFakeConfigServer,
} from '../../../../support/fake-config-server.ts';
import { istioObjects } from '../../../../contract/registry-objects.ts';

const [entry, , , , , policy] = istioObjects.all;
if (entry === undefined || policy === undefined) throw new Error('there are no objects');

describe('mcpSource', () => {
  let server: FakeConfigServer;
  let listening: Subscription;
  let store: Store;
  let events: StoreEvent[];

  const listen = (namespaces: readonly string[] = []) => {
    listening = mcpSource({
      server: { address: server.address, namespaces, tokenFile: '', tls: undefined },
      name: 'xds',
      self: { name: 'istiod', namespace: 'istio-system' },
    }).subscribe({
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
      id: 'sidecar~127.0.0.1~istiod.istio-system~istio-system.svc.cluster.local',
      metadata: { GENERATOR: 'api', NAMESPACE: 'istio-system', CONFIG_NAMESPACES: 'shop,bank' },
    });
    expect(others.every(({ node }) => node === undefined)).toBe(true);
    expect(server.requests.map(({ typeUrl }) => typeUrl)).toContain(
      'networking.istio.io/v1/VirtualService',
    );
    const acks = () => server.requests.filter(({ responseNonce }) => responseNonce !== '');
    await expect.poll(() => acks().length).toBe(11);
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
        "its answer about ServiceEntry is refused: 'a/b' is no resource of Istio (istio.mcp.v1alpha1)",
      );
    const nack = () => server.requests.find(({ errorDetail }) => errorDetail !== undefined);
    await expect.poll(() => nack()?.errorDetail?.message).toContain("'a/b' is no resource");
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
    const { typeUrl } = writeBody('AuthorizationPolicy', policy['spec']);
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
        expect.stringMatching(/bytes, and 1048576 are the limit$/),
      ]),
    );
    expect(lost()).toBeUndefined();
  });

  it('keeps the last good version of a policy that can no longer be read', async () => {
    server.put(policy);
    listen();
    await synced();
    const { typeUrl } = writeBody('AuthorizationPolicy', policy['spec']);
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
    const place = { source: 'xds', path: '', namespaces: new Set<string>() };
    const reading = readAnswer('ServiceEntry', { resources }, new Map(), place);
    expect(() => reading.next()).toThrow('it sends 100001 of them, and 100000 are read at most');
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
});
