import { connect } from 'node:http2';
import { promisify } from 'node:util';
import { create, toBinary } from '@bufbuild/protobuf';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import {
  asyncScheduler,
  BehaviorSubject,
  NEVER,
  type Observable,
  type SchedulerLike,
  Subject,
  VirtualTimeScheduler,
} from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import {
  DeltaDiscoveryRequestSchema,
  DiscoveryRequestSchema,
  type DiscoveryResponse,
  type Node,
} from '../../../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import type { AdsEvent } from '../../../../src/pilot-discovery/push/ads-event.ts';
import { adsCalls } from '../../../../src/pilot-discovery/push/ads-calls.ts';
import { type AdsOptions, serveAds } from '../../../../src/pilot-discovery/push/ads-server.ts';
import { type TypedView, typeUrls, type View } from '../../../../src/pilot-discovery/push/view.ts';
import { framed, openStream } from '../../../hostile/raw-grpc.ts';
import { deltaClient, wholeClient } from '../../../support/proxy-client.ts';
import { slowReader } from '../../../support/slow-reader.ts';

const nothing: TypedView = { version: '', resources: new Map() };

function view(snapshot: number, clusters: Readonly<Record<string, string>>): View {
  const resources = Object.entries(clusters).map(
    ([name, text]) =>
      [
        name,
        { name, version: text, body: Buffer.from(text), keys: ['VirtualService/default/v'] },
      ] as const,
  );
  return {
    snapshot,
    cluster: { version: String(snapshot), resources: new Map(resources) },
    endpoint: nothing,
    listener: nothing,
    route: nothing,
  };
}

const ended: (() => void)[] = [];
afterEach(() => ended.splice(0).forEach((end) => end()));

async function served(
  viewFor$: (node: Node) => Observable<View> | string,
  throttle = 16,
  drain$: Observable<number> = NEVER,
  scheduler: SchedulerLike = asyncScheduler,
  nodeFlaw: AdsOptions['nodeFlaw'] = () => undefined,
  secretsFor$: AdsOptions['secretsFor$'] = () => NEVER,
) {
  const server = new Server();
  const events: AdsEvent[] = [];
  const serving = serveAds(adsCalls(server), {
    controlPlane: 'test',
    throttle,
    cut: (call) => call.emit('cancelled'),
    viewFor$,
    configFor$: () => NEVER,
    nodeFlaw,
    secretsFor$,
    drain$,
    scheduler,
  }).subscribe({
    next: (event) => events.push(event),
    error: (error: unknown) => {
      throw error;
    },
  });
  const port = await promisify(server.bindAsync.bind(server))(
    '127.0.0.1:0',
    ServerCredentials.createInsecure(),
  );
  ended.push(() => {
    serving.unsubscribe();
    server.forceShutdown();
  });
  return { port, events };
}

function wholeStream(port: number) {
  const client = wholeClient(port);
  ended.push(() => client.close());
  return client;
}

function deltaStream(port: number) {
  const client = deltaClient(port);
  ended.push(() => client.close());
  return client;
}

const node = { id: 'sidecar~10.0.0.1~a.b~c' };
const whole = (more: object = {}) =>
  create(DiscoveryRequestSchema, { node, typeUrl: typeUrls.cluster, ...more });

describe('serveAds', () => {
  it('answers both variants, and says who asks and what becomes of it', async () => {
    const { port, events } = await served(() => new BehaviorSubject(view(1, { a: 'A' })));
    const [sotw, delta] = [wholeStream(port), deltaStream(port)];
    sotw.call.write(whole());
    delta.call.write(create(DeltaDiscoveryRequestSchema, { node, typeUrl: typeUrls.cluster }));
    await expect.poll(() => [sotw.answers.length, delta.answers.length]).toEqual([1, 1]);
    expect(sotw.answers[0]).toMatchObject({
      versionInfo: '1',
      typeUrl: typeUrls.cluster,
      controlPlane: { identifier: 'test' },
    });
    expect(Buffer.from(sotw.answers[0]?.resources[0]?.value ?? []).toString()).toBe('A');
    expect(delta.answers[0]).toMatchObject({
      systemVersionInfo: '1',
      resources: [{ name: 'a', version: 'A' }],
      removedResources: [],
    });
    sotw.call.write(whole({ versionInfo: '1', responseNonce: sotw.answers[0]?.nonce }));
    delta.call.write(
      create(DeltaDiscoveryRequestSchema, {
        typeUrl: typeUrls.cluster,
        responseNonce: delta.answers[0]?.nonce ?? '',
        errorDetail: { code: 3, message: 'a: no' },
      }),
    );
    await expect
      .poll(() => events.map(({ type }) => type).sort())
      .toEqual([
        'accepted',
        'answered',
        'answered',
        'asked',
        'asked',
        'connected',
        'connected',
        'rejected',
        'unsent',
        'written',
        'written',
      ]);
    expect(events.find(({ type }) => type === 'unsent')).toMatchObject({ waitsFor: 'NACKed' });
    expect(events.find(({ type }) => type === 'rejected')).toMatchObject({
      names: ['a'],
      keys: ['VirtualService/default/v'],
      reason: 'a: no',
    });
  });

  it('ends the streams one after the other when it is drained, and takes no new one', async () => {
    const drain$ = new Subject<number>();
    const clock = new VirtualTimeScheduler();
    const view$ = () => new BehaviorSubject(view(1, {}));
    const { port, events } = await served(view$, 16, drain$, clock);
    const clients = [wholeStream(port), wholeStream(port), wholeStream(port)];
    const polled = <T>(ms: number, value: () => T) =>
      expect.poll(() => {
        clock.maxFrames = ms;
        clock.flush();
        return value();
      });
    for (const { call } of clients) call.write(whole());
    await polled(0, () => clients.filter(({ answers }) => answers.length === 1)).toHaveLength(3);
    drain$.next(600);
    const left = () => clients.filter(({ statuses }) => statuses.length === 0).length;
    await polled(0, left).toBe(2);
    await polled(199, left).toBe(2);
    await polled(200, left).toBe(1);
    await polled(400, left).toBe(0);
    expect(clients.map(({ statuses }) => statuses[0]?.code)).toEqual([14, 14, 14]);
    expect(events.filter(({ type }) => type === 'disconnected')).toHaveLength(3);
    const late = wholeStream(port);
    late.call.write(whole());
    await polled(400, () => late.statuses).toMatchObject([
      { code: 14, details: 'the control plane ends' },
    ]);
  });

  it('says when a proxy has gone', async () => {
    const { port, events } = await served(() => new BehaviorSubject(view(1, {})));
    const { call, answers } = wholeStream(port);
    call.write(whole());
    await expect.poll(() => answers).toHaveLength(1);
    call.cancel();
    await expect.poll(() => events.at(-1)?.type).toBe('disconnected');
  });

  it.each([
    ['without a node id', () => NEVER, { node: { id: '' } }, 3, 'the first request has no node id'],
    [
      'that goes beyond a limit',
      () => NEVER,
      { node: { id: 'x'.repeat(5_000) } },
      8,
      'its type or node id has 5000 characters, and the limit is 4096',
    ],
    ['of a node that nobody can read', () => 'no such role', {}, 3, 'no such role'],
    [
      'about which something throws',
      () => {
        throw new Error('broken');
      },
      {},
      13,
      'this is a bug: Error: broken',
    ],
  ])('ends a stream %s, and no other one', async (_, viewFor$, more, code, details) => {
    const good$ = new BehaviorSubject(view(1, { a: 'A' }));
    const { port, events } = await served(({ id }) =>
      id === 'sidecar~good~a.b~c' ? good$ : viewFor$(),
    );
    const [bad, other] = [wholeStream(port), wholeStream(port)];
    other.call.write(whole({ node: { id: 'sidecar~good~a.b~c' } }));
    await expect.poll(() => other.answers).toHaveLength(1);
    bad.call.write(whole(more));
    await expect.poll(() => bad.statuses).toMatchObject([{ code, details }]);
    expect(events.some(({ type }) => type === 'stream-refused')).toBe(code !== 13);
    other.call.write(whole({ responseNonce: other.answers[0]?.nonce ?? '' }));
    good$.next(view(2, { a: 'B' }));
    await expect.poll(() => other.answers).toHaveLength(2);
  });

  it('has a proxy ask elsewhere if nothing is known for 5 s', async () => {
    const { port } = await served(() => NEVER);
    const { call, statuses } = wholeStream(port);
    call.write(whole());
    await expect
      .poll(() => statuses)
      .toMatchObject([{ code: 14, details: 'not all sources are read yet, or they are empty' }]);
  });

  it('keeps one answer for a proxy that never reads, whatever changes, and all others have the newest', async () => {
    const large = (text: string) => view(Number(text), { a: text.padEnd(1 << 20, '.') });
    const view$ = new BehaviorSubject(large('0'));
    const { port, events } = await served(() => view$, 1);
    const [stuck, other] = [wholeStream(port), wholeStream(port)];
    stuck.call.pause();
    stuck.call.write(whole());
    await expect.poll(() => events.filter(({ type }) => type === 'answered')).toHaveLength(1);
    other.call.on('data', ({ nonce }: DiscoveryResponse) =>
      other.call.write(whole({ responseNonce: nonce })),
    );
    other.call.write(whole());
    await expect.poll(() => other.answers).toHaveLength(1);
    for (let number = 1; number <= 30; number += 1) view$.next(large(String(number)));
    await expect.poll(() => other.answers.at(-1)?.versionInfo).toBe('30');
    expect(
      events.filter((event) => event.type === 'answered' && event.connection === 1),
    ).toHaveLength(1);
  });

  it('ends a proxy that ACKs an answer that it has not read', async () => {
    const view$ = new BehaviorSubject(view(0, { a: '0'.repeat(3 << 20) }));
    const { port, events } = await served(() => view$);
    const session = connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 0 } }).on(
      'error',
      () => undefined,
    );
    ended.push(() => session.destroy());
    const liar = openStream(session);
    const say = (more: object) => liar.write(framed(toBinary(DiscoveryRequestSchema, whole(more))));
    const nonces = () =>
      events.flatMap((event) => (event.type === 'answered' ? [event.nonce] : []));
    const reasons = () =>
      events.flatMap((event) => (event.type === 'stream-refused' ? [event.reason] : []));
    say({});
    for (let number = 1; number < 20 && reasons().length === 0; number += 1) {
      await expect.poll(() => nonces().length >= number || reasons().length > 0).toBe(true);
      say({ responseNonce: nonces().at(-1) ?? '' });
      view$.next(view(number, { a: String(number % 10).repeat(3 << 20) }));
    }
    expect(reasons()).toEqual(['it ACKs answers that it has not read: 5 are unread']);
    await expect.poll(() => events.at(-1)?.type).toBe('disconnected');
  });

  it('gives the place of a proxy that does not read to another one at once', async () => {
    const clock = new VirtualTimeScheduler(undefined, 4);
    const { port, events } = await served(
      () => new BehaviorSubject(view(1, { a: '.'.repeat(1 << 20) })),
      1,
      NEVER,
      clock,
    );
    const answered = () => {
      clock.flush();
      return events.filter(({ type }) => type === 'answered');
    };
    const stuck = slowReader(port, 'sidecar~10.0.0.2~stuck.b~c', 0);
    ended.push(stuck.close);
    await expect.poll(answered).toHaveLength(1);
    const other = wholeStream(port);
    other.call.write(whole());
    await expect.poll(answered).toHaveLength(2);
    expect(other.answers).toEqual([]);
    clock.maxFrames = 5;
    clock.flush();
    await expect
      .poll(() => events.filter(({ type }) => type === 'written'))
      .toMatchObject([
        { connection: 1, queuedMs: 0, writingMs: 5 },
        { connection: 2, queuedMs: 5, writingMs: 0 },
      ]);
    await expect.poll(() => other.answers).toHaveLength(1);
  });

  it('ends a proxy that takes nothing for 5 minutes, and says so', async () => {
    const clock = new VirtualTimeScheduler(undefined, 4);
    const view$ = new BehaviorSubject(view(1, { a: '.'.repeat(1 << 20) }));
    const { port, events } = await served(() => view$, 1, NEVER, clock);
    const stuck = slowReader(port, 'sidecar~10.0.0.2~stuck.b~c', 0);
    ended.push(stuck.close);
    await expect
      .poll(() => {
        clock.flush();
        return events.filter(({ type }) => type === 'answered');
      })
      .toHaveLength(1);
    clock.maxFrames = 299_999;
    clock.flush();
    expect(events.filter(({ type }) => type === 'reads-nothing')).toEqual([]);
    clock.maxFrames = 300_000;
    clock.flush();
    expect(events.filter(({ type }) => type === 'reads-nothing')).toMatchObject([
      { connection: 1, reason: 'it has read nothing for 300 s' },
    ]);
    await expect.poll(() => events.at(-1)?.type).toBe('disconnected');
  });

  it('lets an answer wait for room, and ends the proxy that is late when one waits', async () => {
    const clock = new VirtualTimeScheduler(undefined, 4);
    const view$ = new BehaviorSubject(view(1, { a: '.'.repeat(33 << 20) }));
    const { port, events } = await served(() => view$, 16, NEVER, clock);
    const until = async (type: AdsEvent['type'], count: number) =>
      expect
        .poll(() => {
          clock.flush();
          return events.filter((event) => event.type === type);
        })
        .toHaveLength(count);
    for (const number of [1, 2]) {
      ended.push(slowReader(port, `sidecar~10.0.0.2~s-${number}.b~c`, 0).close);
      await until('answered', number);
    }
    clock.maxFrames = 4_999;
    await until('written', 1);
    expect(events.filter(({ type }) => type === 'reads-nothing')).toEqual([]);
    clock.maxFrames = 5_010;
    await until('written', 2);
    expect(events.filter(({ type }) => type === 'reads-nothing')).toMatchObject([
      { connection: 1, reason: 'it has not read an answer for 5 s, and others wait' },
    ]);
  });

  it('lets 300 proxies that do not read hold up nobody', async () => {
    const view$ = new BehaviorSubject(view(1, { a: '.'.repeat(100_000) }));
    const clock = new VirtualTimeScheduler(undefined, 0);
    const { port, events } = await served(() => view$, 4, NEVER, clock);
    const answered = () => {
      clock.flush();
      return events.filter(({ type }) => type === 'answered').length;
    };
    for (let number = 0; number < 300; number += 1)
      ended.push(slowReader(port, `sidecar~10.0.0.2~s-${number}.b~c`, 0).close);
    await expect.poll(answered).toBe(300);
    const other = wholeStream(port);
    other.call.write(whole());
    await expect.poll(answered).toBe(301);
    clock.maxFrames = (300 / 4) * 5;
    clock.flush();
    await expect.poll(() => other.answers).toHaveLength(1);
  });

  it('ends a stream that asks for nothing within 10 s', async () => {
    const clock = new VirtualTimeScheduler();
    const server = new Server();
    const events: AdsEvent[] = [];
    const serving = serveAds(adsCalls(server), {
      controlPlane: 'test',
      throttle: 1,
      cut: () => undefined,
      viewFor$: () => NEVER,
      configFor$: () => NEVER,
      nodeFlaw: () => undefined,
      secretsFor$: () => NEVER,
      drain$: NEVER,
      scheduler: clock,
    }).subscribe({
      next: (event) => events.push(event),
      error: (error: unknown) => expect.unreachable(String(error)),
    });
    const port = await promisify(server.bindAsync.bind(server))(
      '127.0.0.1:0',
      ServerCredentials.createInsecure(),
    );
    ended.push(() => {
      serving.unsubscribe();
      server.forceShutdown();
    });
    const silent = wholeStream(port);
    await expect.poll(() => clock.actions.length).toBeGreaterThan(0);
    clock.flush();
    await expect
      .poll(() => silent.statuses)
      .toMatchObject([{ code: 8, details: 'it has asked for nothing within 10 s' }]);
    expect(events).toMatchObject([{ type: 'stream-refused' }]);
    expect(clock.now()).toBe(10_000);
  });
});
