import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server as TcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { create } from '@bufbuild/protobuf';
import { Server, ServerCredentials, type ServerDuplexStream, status } from '@grpc/grpc-js';
import { EMPTY, NEVER, type Observable, of, type Subscription, VirtualTimeScheduler } from 'rxjs';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { certificateAuthority, type Issued } from '../../../../demo/certificates.ts';
import { grpcDefinition } from '../../../../src/shared/grpc/grpc-definition.ts';
import { AggregatedDiscoveryService } from '../../../../src/shared/proto/envoy/service/discovery/v3/ads_pb.ts';
import {
  type DeltaDiscoveryRequest,
  DeltaDiscoveryResponseSchema,
  type DiscoveryRequest,
  DiscoveryResponseSchema,
  NodeSchema,
} from '../../../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import {
  controlPlane,
  type ControlPlaneAddress,
  type LinkEvent,
  type Question,
} from '../../../../src/pilot-agent/xds-proxy/control-plane.ts';
import type { Ask, Variant } from '../../../../src/shared/xds/messages.ts';
import { typeUrls } from '../../../../src/shared/xds/resources.ts';
import { nameFlaw, troubleOf } from '../../../../src/shared/grpc/trouble.ts';

const ca = await certificateAuthority();
const other = await certificateAuthority('another');

type Call = ServerDuplexStream<DiscoveryRequest | DeltaDiscoveryRequest, object>;
type Tls = NonNullable<ControlPlaneAddress['tls']>;

const ask: Ask = {
  ...{ typeUrl: typeUrls.clusters, nonce: '', version: '', refusal: undefined },
  ...{ names: new Set(['a', 'b']), add: ['a', 'b'], remove: ['c'], versions: { a: '1' } },
};
const question = { ask, node: create(NodeSchema, { id: 'me' }) };

describe('controlPlane', () => {
  let issued: Issued;
  let expired: Issued;
  let folder: string;
  let servers: { close(): void }[];
  let links: Subscription[];
  beforeAll(async () => {
    issued = await ca.issue();
    expired = await ca.issue({ notBefore: new Date(0), notAfter: new Date(1_000) });
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'control-plane-'));
    put('root', ca.rootCert);
    put('other', other.rootCert);
    put('chain', issued.certChain);
    put('key', issued.key);
    put('token', 'a.b.c\n');
    servers = [];
    links = [];
  });
  afterEach(() => {
    for (const link of links) link.unsubscribe();
    for (const server of servers) server.close();
    rmSync(folder, { recursive: true });
  });

  const pathOf = (name: string) => join(folder, name);
  const put = (name: string, text: string) => writeFileSync(pathOf(name), text);
  const pair = () => ({ chain: pathOf('chain'), key: pathOf('key') });
  const tls = (fields: Partial<Tls> = {}): Tls => ({
    roots: pathOf('root'),
    names: ['DNS:localhost'],
    pair: undefined,
    token: undefined,
    ...fields,
  });

  /** Starts a control plane that handles each stream by `answer`; returns its address. */
  const serve = async (
    answer: (call: Call) => void = () => undefined,
    serverTls?: { readonly pair?: Issued; readonly asks?: boolean },
  ) => {
    const server = new Server();
    server.addService(grpcDefinition(AggregatedDiscoveryService), {
      streamAggregatedResources: answer,
      deltaAggregatedResources: answer,
    });
    const { pair: shown = issued, asks = false } = serverTls ?? {};
    const keys = [
      { cert_chain: Buffer.from(shown.certChain), private_key: Buffer.from(shown.key) },
    ];
    const credentials =
      serverTls === undefined
        ? ServerCredentials.createInsecure()
        : ServerCredentials.createSsl(Buffer.from(ca.rootCert), keys, asks);
    servers.push({ close: () => server.forceShutdown() });
    return `127.0.0.1:${await promisify(server.bindAsync.bind(server))('127.0.0.1:0', credentials)}`;
  };
  /** Starts a server that does not speak gRPC; returns its address. */
  const listen = async (answer: (socket: Socket) => void): Promise<string> => {
    const server: TcpServer = createServer((socket) =>
      answer(socket.on('error', () => undefined)),
    ).listen(0, '127.0.0.1');
    servers.push({ close: () => server.close() });
    await once(server, 'listening');
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  /** Connects, and sends one request; returns the events, and adds to `ended` how they end. */
  const link = (
    target: Partial<ControlPlaneAddress>,
    {
      variant = 'state-of-the-world',
      question$ = of(question),
      scheduler,
      ended = [],
    }: {
      readonly variant?: Variant;
      readonly question$?: Observable<Question>;
      readonly scheduler?: VirtualTimeScheduler;
      readonly ended?: string[];
    } = {},
  ): LinkEvent[] => {
    const events: LinkEvent[] = [];
    const whole = { address: '', tls: undefined, clusterId: '', ...target };
    const link$ = controlPlane(
      whole,
      variant,
      question$,
      ...(scheduler === undefined ? [] : [scheduler]),
    );
    links.push(
      link$.subscribe({
        next: (event) => events.push(event),
        complete: () => ended.push('complete'),
        error: () => ended.push('error'),
      }),
    );
    return events;
  };
  const has = (events: readonly LinkEvent[], type: LinkEvent['type']) =>
    expect.poll(() => events.map((event) => event.type)).toContain(type);
  /** Returns the reason of a loss. The stream then completes, and emits nothing more. */
  const lost = async (...[target, options = {}]: Parameters<typeof link>): Promise<string> => {
    const ended: string[] = [];
    const events = link(target, { ...options, ended });
    await has(events, 'lost');
    const last = events.at(-1);
    expect(ended).toEqual(['complete']);
    return last?.type === 'lost' ? last.reason : 'another event follows';
  };
  const refuse = (code: number, details: string) => (call: Call) =>
    void call.emit('error', { code, details });

  it('sends the question, and emits what is answered, in state of the world', async () => {
    const heard: unknown[] = [];
    const address = await serve((call) => {
      call.on('data', (request: unknown) => {
        heard.push(request);
        call.write(
          create(DiscoveryResponseSchema, {
            typeUrl: typeUrls.routes,
            versionInfo: '5',
            nonce: 'n',
            controlPlane: { identifier: 'istiod-1' },
          }),
        );
      });
    });
    const events = link({ address });
    await has(events, 'updated');
    expect(heard).toMatchObject([
      { node: { id: 'me' }, typeUrl: typeUrls.clusters, resourceNames: ['a', 'b'] },
    ]);
    const update = {
      typeUrl: typeUrls.routes,
      version: '5',
      nonce: 'n',
      resources: [],
      isWhole: false,
      controlPlane: 'istiod-1',
    };
    expect(events[0]).toEqual({ type: 'opened' });
    expect(events[1]).toEqual({ type: 'connected' });
    expect(events.at(-1)).toMatchObject({ type: 'updated', update });
  });

  it('does so in the delta variant', async () => {
    const heard: unknown[] = [];
    const address = await serve((call) => {
      call.on('data', (request: unknown) => {
        heard.push(request);
        call.write(
          create(DeltaDiscoveryResponseSchema, {
            typeUrl: typeUrls.clusters,
            nonce: 'n',
            removedResources: ['c'],
          }),
        );
      });
    });
    const events = link({ address }, { variant: 'delta' });
    await has(events, 'updated');
    expect(heard).toMatchObject([
      {
        resourceNamesSubscribe: ['a', 'b'],
        resourceNamesUnsubscribe: ['c'],
        initialResourceVersions: { a: '1' },
      },
    ]);
    expect(events.at(-1)).toMatchObject({
      update: { typeUrl: typeUrls.clusters, removed: ['c'], isWhole: false },
    });
  });

  it('shows its certificate, which says more than a token, and the cluster', async () => {
    const shown: string[] = [];
    const address = await serve(
      (call) => {
        const { sslPeerCertificate } = call.getAuthContext();
        shown.push(
          ...['authorization', 'ClusterID'].map((name) => String(call.metadata.get(name)[0] ?? '')),
          String(sslPeerCertificate?.subject.CN ?? ''),
        );
        call.end();
      },
      { asks: true },
    );
    await lost({ address, tls: tls({ token: pathOf('token'), pair: pair() }), clusterId: 'c1' });
    await lost({ address, tls: tls({ pair: pair() }) });
    expect(shown).toEqual(['', 'c1', 'localhost', '', '', 'localhost']);
  });

  it('shows the token of that moment if it has no certificate that works', async () => {
    const shown: string[] = [];
    const address = await serve((call) => {
      shown.push(String(call.metadata.get('authorization')[0] ?? ''));
      call.end();
    }, {});
    await lost({ address, tls: tls({ token: pathOf('token') }) });
    put('token', 'd.e.f');
    await lost({ address, tls: tls({ token: pathOf('token') }) });
    put('key', 'garbage');
    await lost({ address, tls: tls({ token: pathOf('token'), pair: pair() }) });
    rmSync(pathOf('chain'));
    await lost({ address, tls: tls({ token: pathOf('token'), pair: pair() }) });
    expect(shown).toEqual(['Bearer a.b.c', 'Bearer d.e.f', 'Bearer d.e.f', 'Bearer d.e.f']);
  });

  describe('tells in few words why the connection is lost', () => {
    it.each<[string, Variant]>([
      ['state of the world', 'state-of-the-world'],
      ['delta', 'delta'],
    ])('nobody listens (%s)', async (_, variant) => {
      expect(await lost({ address: 'localhost:1' }, { variant })).toBe('connection refused');
      expect(await lost({ address: '127.0.0.1:1', tls: tls() }, { variant })).toBe(
        'connection refused',
      );
    });

    it('its name does not resolve', async () => {
      expect(await lost({ address: 'nosuch.invalid:15012', tls: tls() })).toBe(
        'its name does not resolve',
      );
    });

    it('its certificate is of another authority, has expired, or is for other names', async () => {
      const address = await serve(undefined, {});
      expect(await lost({ address, tls: tls({ roots: pathOf('other') }) })).toMatch(
        /^TLS: (self-signed certificate in|unable to)/,
      );
      expect(await lost({ address: await serve(undefined, { pair: expired }), tls: tls() })).toBe(
        'TLS: certificate has expired',
      );
      expect(await lost({ address, tls: tls({ names: ['DNS:istiod', 'URI:spiffe://a'] }) })).toBe(
        'TLS: its certificate is for DNS:localhost, IP Address:127.0.0.1, and not for DNS:istiod or URI:spiffe://a',
      );
    });

    it('it wants a certificate, and is shown none', async () => {
      const address = await serve(undefined, { asks: true });
      expect(await lost({ address, tls: tls() })).toBe(
        'TLS: it refuses the connection: certificate required',
      );
    });

    it('it speaks another protocol than was expected, or closes the connection', async () => {
      expect(await lost({ address: await serve(), tls: tls() })).toBe('TLS: it does not speak TLS');
      expect(await lost({ address: await serve(undefined, {}) })).toBe('it closes the connection');
      const closing = await listen((socket) => socket.destroy());
      expect(await lost({ address: closing })).toBe('it closes the connection');
      expect(await lost({ address: closing, tls: tls() })).toMatch(
        /^(TLS: it closes the connection|the connection broke)$/,
      );
      const http1 = await listen((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
      expect(await lost({ address: http1 })).toBe('it does not speak HTTP/2');
    });

    it('it refuses what it is shown', async () => {
      const address = await serve(refuse(status.UNAUTHENTICATED, 'the token has expired'), {});
      expect(await lost({ address, tls: tls({ token: pathOf('token') }) })).toBe(
        'it refuses the token: the token has expired',
      );
      expect(await lost({ address, tls: tls({ pair: pair() }) })).toBe(
        'it refuses the certificate of the agent: the token has expired',
      );
      const denying = await serve(refuse(status.PERMISSION_DENIED, 'not you'));
      expect(await lost({ address: denying })).toBe('it refuses the agent: not you');
    });

    it('it says so itself, or ends the stream', async () => {
      expect(await lost({ address: await serve(refuse(status.UNAVAILABLE, 'draining')) })).toBe(
        'draining',
      );
      expect(await lost({ address: await serve(refuse(status.INTERNAL, 'panic')) })).toBe('panic');
      expect(await lost({ address: await serve((call) => call.end()) })).toBe(
        'it has ended the stream',
      );
    });

    it.each([
      ['root', 'the root that vouches for it', () => ({ token: pathOf('token') })],
      ['token', 'the token', () => ({ token: pathOf('token') })],
      ['chain', 'the certificate of the agent', () => ({ pair: pair() })],
      ['key', 'the key of the agent', () => ({ pair: pair() })],
    ])('the file of the %s is missing', async (name, what, makeFields) => {
      rmSync(pathOf(name));
      const address = await serve(undefined, {});
      expect(await lost({ address, tls: tls(makeFields()) })).toBe(
        `${what} cannot be read: ${pathOf(name)}: ENOENT: no such file or directory`,
      );
    });

    it('the file of the token or of the certificate has something else in it', async () => {
      const address = await serve(undefined, {});
      for (const text of ['\n', 'a token\nof two lines', '\u0000\u00e9']) {
        put('token', text);
        expect(await lost({ address, tls: tls({ token: pathOf('token') }) })).toBe(
          `the token is not one word of ASCII: ${pathOf('token')}`,
        );
      }
      put('chain', 'none');
      const unusable = `${pathOf('chain')}, ${pathOf('key')}: the certificate does not parse`;
      expect(await lost({ address, tls: tls({ pair: pair() }) })).toBe(unusable);
      rmSync(pathOf('token'));
      expect(await lost({ address, tls: tls({ pair: pair(), token: pathOf('token') }) })).toBe(
        `${unusable}; the token cannot be read: ${pathOf('token')}: ENOENT: no such file or directory`,
      );
    });

    it('its answer cannot be read', async () => {
      const unreadable = { typeUrl: typeUrls.clusters, value: Buffer.from([0x0a, 0x7f, 0x61]) };
      const address = await serve(
        (call) => void call.write(create(DiscoveryResponseSchema, { resources: [unreadable] })),
      );
      expect(await lost({ address })).toMatch(/^its answer cannot be read: /);
    });
  });

  describe('while it is silent', () => {
    it.each([
      ['accepts the connection', () => serve(), 'it does not answer', 'connected'],
      [
        'does not even do that',
        () => listen(() => undefined),
        'no connection is established',
        'opened',
      ],
    ] as const)(
      'tells so after 4 s, and gives it up after 30 s: it %s',
      async (_, start, reason, type) => {
        const scheduler = new VirtualTimeScheduler(undefined, 3_999);
        const ended: string[] = [];
        const events = link({ address: await start() }, { scheduler, ended });
        await has(events, type);
        const silence = () => events.filter((event) => 'reason' in event);
        scheduler.flush();
        expect(silence()).toEqual([]);
        scheduler.maxFrames = 29_999;
        scheduler.flush();
        expect(silence()).toEqual([{ type: 'unanswered', reason }]);
        expect(ended).toEqual([]);
        scheduler.maxFrames = 30_000;
        scheduler.flush();
        expect(silence()).toEqual([
          { type: 'unanswered', reason },
          { type: 'lost', reason },
        ]);
        expect(ended).toEqual(['complete']);
      },
    );

    it('is not told of once it has answered', async () => {
      const scheduler = new VirtualTimeScheduler(undefined, 60_000);
      const address = await serve(
        (call) => void call.write(create(DiscoveryResponseSchema, { typeUrl: typeUrls.clusters })),
      );
      const events = link({ address }, { scheduler });
      await has(events, 'updated');
      scheduler.flush();
      expect(events.filter((event) => 'reason' in event)).toEqual([]);
    });
  });

  it('disconnects when it is unsubscribed, and not when there is nothing more to ask', async () => {
    const events: string[] = [];
    const address = await serve((call) => {
      events.push('called');
      call.on('cancelled', () => events.push('cancelled'));
      call.on('end', () => events.push('end'));
    });
    link({ address }, { question$: EMPTY });
    await expect.poll(() => events).toEqual(['called']);
    link({ address }, { question$: NEVER });
    await expect.poll(() => events).toEqual(['called', 'called']);
    links.at(-1)?.unsubscribe();
    await expect.poll(() => events).toContain('cancelled');
    expect(events.filter((what) => what === 'cancelled')).toHaveLength(1);
  });
});

describe('troubleOf', () => {
  const unavailable = (details: string) =>
    troubleOf({ code: status.UNAVAILABLE, details }, 'nothing');
  const wrapped = (error: string) =>
    unavailable(`No connection established. Last error: ${error}. Resolution note: `);

  it.each([
    ['connect ETIMEDOUT 10.0.0.1:15012', 'the connection timed out'],
    ['connect EHOSTUNREACH 10.0.0.1:15012', 'there is no route to it'],
    ['connect ENETUNREACH 10.0.0.1:15012 - Local (0.0.0.0:0)', 'there is no route to it'],
    ['unable to verify the first certificate', 'TLS: unable to verify the first certificate'],
    [
      '80AA:error:0A000086:SSL routines::certificate verify failed:../deps/x.c:2',
      'TLS: certificate verify failed',
    ],
    [
      '80BB:error:0A000418:SSL routines:ssl3_read_bytes:tlsv1 alert unknown ca:../x.c:1:SSL alert number 48\n',
      'TLS: it refuses the connection: unknown ca',
    ],
    ['something else', 'something else'],
  ])('of %s is the same in each form', (error, reason) => {
    expect([
      unavailable(error),
      wrapped(`Error: ${error}`),
      wrapped(`${error} (2026-11-22T09:18:15.938Z)`),
    ]).toEqual([reason, reason, reason]);
  });

  it.each([
    ['Connection dropped', 'the connection broke'],
    ['read ECONNRESET', 'the connection broke'],
  ])('of a connection that ends (%s)', (details, reason) => {
    expect(unavailable(details)).toBe(reason);
  });

  it('of a server that is shut down is that it has ended the stream', () => {
    expect(troubleOf({ code: status.CANCELLED, details: 'Call cancelled' }, 'token')).toBe(
      'it has ended the stream',
    );
  });
});

describe('nameFlaw', () => {
  it('is none if one of the names is there', () => {
    expect(nameFlaw('DNS:a, URI:spiffe://b', ['DNS:c', 'URI:spiffe://b'])).toBeUndefined();
    expect(nameFlaw('DNS:ab', ['DNS:a'])?.message).toBe(
      'its certificate is for DNS:ab, and not for DNS:a',
    );
    expect(nameFlaw(undefined, ['DNS:a'])?.message).toBe(
      'its certificate is for no name, and not for DNS:a',
    );
  });
});
