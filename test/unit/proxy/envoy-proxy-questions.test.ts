import type { Drain } from '../../../src/epochs/ports.ts';
import { lastValueFrom, type Observable, toArray } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import type { FakeAdmin, Says } from '../../support/fake-admin.ts';
import { type EnvoyStage, envoyStage, only } from '../../support/fake-envoy.ts';

let stage: EnvoyStage;
afterEach(() => stage.dispose());

const done = async (drained$: Observable<never>) =>
  expect(await lastValueFrom(drained$.pipe(toArray()), { defaultValue: undefined })).toEqual([]);
/** Starts an Envoy of epoch 0 with these answers; returns the requests that `drain` sends to it. */
async function drained(
  how: Drain,
  says: Partial<Says>,
  drainsAll = false,
): Promise<readonly string[]> {
  stage = envoyStage({ drainsAll });
  const admin = await (await stage.start({})).comesUp(says);
  await done(stage.proxy.drain(0, how));
  return admin.requests;
}

const inbound = { staticListeners: [{ listener: { traffic_direction: 'INBOUND' } }] };
const outbound = { staticListeners: [{ listener: { traffic_direction: 'OUTBOUND' } }] };
const questions = [
  'GET /config_dump?resource=static_listeners&mask=listener.traffic_direction',
  'GET /config_dump?resource=dynamic_listeners',
];

describe('a graceful drain', () => {
  it.each<[string, Partial<Says>]>([
    ['a static', inbound],
    [
      'a dynamic',
      { dynamicListeners: [{ active_state: { listener: { traffic_direction: 'INBOUND' } } }] },
    ],
  ])('is of what comes from outside if %s listener is inbound', async (_, says) => {
    expect(await drained('graceful', says)).toEqual([
      ...questions,
      'POST /drain_listeners?inboundonly&graceful&skip_exit',
    ]);
  });

  it.each([
    ['marked', {}],
    ['inbound', outbound],
  ])('is of all listeners if none is %s', async (_, says) => {
    expect(await drained('graceful', says)).toEqual([
      ...questions,
      'POST /drain_listeners?graceful&skip_exit',
    ]);
  });

  it('is of all listeners of a router, whatever they are', async () => {
    expect(await drained('graceful', inbound, true)).toEqual([
      'POST /drain_listeners?graceful&skip_exit',
    ]);
  });
});

describe('another drain', () => {
  it.each([false, true])(
    'closes all listeners (of a router: %s), and asks for none',
    async (drainsAll) => {
      expect(await drained('close', inbound, drainsAll)).toEqual(['POST /drain_listeners?']);
    },
  );
});

describe('a drain', () => {
  it.each(['close', 'graceful'] as const)('(%s) completes without an answer', async (how) => {
    stage = envoyStage();
    const admin = await (await stage.start({})).comesUp();
    admin.behaves('hangs up');
    await done(stage.proxy.drain(0, how));
    expect(admin.requests.at(-1)).toBe(
      `POST /drain_listeners?${how === 'graceful' ? 'graceful&skip_exit' : ''}`,
    );
    admin.close();
    await done(stage.proxy.drain(0, how));
  });

  it('of an epoch that has ended asks nobody, whoever serves now', async () => {
    stage = envoyStage();
    const gone = await stage.start({ epoch: 0 });
    const admin = await (await stage.start({ epoch: 1 })).comesUp();
    gone.signal('SIGTERM');
    await gone.exit();
    await done(stage.proxy.drain(0, 'graceful'));
    await done(stage.proxy.drain(0, 'close'));
    expect(await only(stage.proxy.active(0))).toBe(undefined);
    expect(admin.requests).toEqual([]);
  });

  it('asks for nothing before it is subscribed to, and each time that it is', async () => {
    stage = envoyStage();
    const admin = await (await stage.start({})).comesUp();
    const drained$ = stage.proxy.drain(0, 'close');
    await only(stage.proxy.health(0));
    const before = admin.requests.length;
    expect(admin.requests.filter((request) => request.startsWith('POST'))).toEqual([]);
    await done(drained$);
    await done(drained$);
    expect(admin.requests.slice(before)).toEqual([
      'POST /drain_listeners?',
      'POST /drain_listeners?',
    ]);
  });
});

describe('what is in flight', () => {
  const active = (epoch: number) => only(stage.proxy.active(epoch));
  const stats = {
    'http.inbound_0.0.0.0_8080.downstream_rq_active': 2,
    'http.outbound_0.0.0.0_80.downstream_rq_active': 3,
    'listener.0.0.0.0_8080.downstream_cx_active': 50,
    'listener.0.0.0.0_8080.http.inbound_0.0.0.0_8080.downstream_rq_completed': 9,
    'listener.0.0.0.0_5432.downstream_cx_active': 7,
    'http.admin.downstream_rq_active': 1,
    'cluster.a.upstream_rq_active': 5,
  };
  const idle = Object.fromEntries(Object.keys(stats).map((name) => [name, 0]));

  it.each([
    ['12 if that is the sum of the gauges', stats, 12],
    ['0 if all gauges are 0', idle, 0],
    ['unknown if there are other gauges only', { 'cluster.a.upstream_rq_active': 5 }, undefined],
    ['unknown if there is none', {}, undefined],
  ])('is %s', async (_, gauges, expected) => {
    stage = envoyStage();
    await (await stage.start({})).comesUp({ stats: gauges });
    expect(await active(0)).toBe(expected);
  });

  it.each<[string, Parameters<FakeAdmin['behaves']>[0]]>([
    ['with 503', { status: 503, body: 'http.a.downstream_rq_active: 1\n' }],
    ['with garbage', { status: 200, body: 'no statistics' }],
    ['by hanging up', 'hangs up'],
  ])('is unknown if the admin endpoint answers %s', async (_, manner) => {
    stage = envoyStage();
    const admin = await (await stage.start({})).comesUp({ stats });
    admin.behaves(manner);
    expect(await active(0)).toBe(undefined);
    expect(admin.requests).toHaveLength(1);
  });

  it('is asked for by what it needs alone, with the unused', async () => {
    stage = envoyStage();
    const admin = await (await stage.start({})).comesUp({ stats });
    await active(0);
    expect(admin.requests).toHaveLength(1);
    const [, path, query = ''] = /^GET (\S+)\?(\S+)$/.exec(admin.requests[0] ?? '') ?? [];
    expect(path).toBe('/stats');
    expect([...new URLSearchParams(query).keys()]).toEqual(['filter']);
    const filter = new RegExp(new URLSearchParams(query).get('filter') ?? '');
    expect(Object.keys(stats).filter((name) => !filter.test(name))).toEqual([
      'cluster.a.upstream_rq_active',
    ]);
  });
});

describe('of two lines side by side', () => {
  const gauge = (active: number) => ({ stats: { 'http.a.downstream_rq_active': active } });
  let admins: readonly [FakeAdmin, FakeAdmin];
  const both = async () => {
    stage = envoyStage();
    const first = await (await stage.start({ epoch: 0 })).comesUp(gauge(10));
    const second = await (
      await stage.start({ epoch: 1, restartEpoch: 0, lineage: 1, sideBySide: true })
    ).comesUp({ ...gauge(20), ...inbound });
    admins = [first, second];
  };
  /** Returns the requests that each Envoy gets during an action, without config dumps. */
  const askedBy = async (action: () => Promise<unknown>) => {
    const before = admins.map(({ requests }) => requests.length);
    await action();
    return admins.map(({ requests }, index) =>
      requests.slice(before[index]).filter((question) => !question.includes('config_dump')),
    );
  };
  const ask = (epoch: number) => async () => {
    expect(await only(stage.proxy.active(epoch))).toBe([10, 20][epoch]);
    await done(stage.proxy.drain(epoch, 'graceful'));
  };
  const toFirst = [
    [expect.stringMatching(/^GET \/stats/), 'POST /drain_listeners?graceful&skip_exit'],
    [],
  ];
  const toSecond = [
    [],
    [expect.stringMatching(/^GET \/stats/), 'POST /drain_listeners?inboundonly&graceful&skip_exit'],
  ];

  it('each answers for itself before the second was seen LIVE', async () => {
    await both();
    expect(await askedBy(ask(0))).toEqual(toFirst);
    expect(await askedBy(ask(1))).toEqual(toSecond);
  });

  it('each answers for itself when the second was seen LIVE', async () => {
    await both();
    expect(await only(stage.proxy.health(1))).toBe('live');
    expect(await askedBy(ask(0))).toEqual(toFirst);
    expect(await askedBy(ask(1))).toEqual(toSecond);
  });

  it('neither answers for an epoch that does not run', async () => {
    await both();
    expect(await only(stage.proxy.active(7))).toBe(undefined);
    expect(await only(stage.proxy.health(1))).toBe('live');
    expect(await only(stage.proxy.active(7))).toBe(undefined);
  });
});
