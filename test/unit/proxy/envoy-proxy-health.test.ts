import { readFileSync, writeFileSync } from 'node:fs';
import { lastValueFrom, VirtualTimeScheduler } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import type { Health } from '../../../src/epochs/ports.ts';
import { type Answer, fakeAdmin, type Says } from '../../support/fake-admin.ts';
import { type EnvoyStage, envoyStage, only } from '../../support/fake-envoy.ts';

let stage: EnvoyStage;
afterEach(() => stage.dispose());

const health = (epoch: number) => only(stage.proxy.health(epoch));
const publish = (epoch: number) =>
  lastValueFrom(stage.proxy.publishAdmin(epoch), { defaultValue: undefined });

/** The requests to an Envoy that is ready while its epoch was not yet seen LIVE. */
const coming = ['GET /ready', 'GET /server_info'];

describe('an epoch', () => {
  it('is LIVE when an Envoy with its base id and its restart epoch says so', async () => {
    stage = envoyStage();
    await (await stage.start({ epoch: 3, restartEpoch: 1 })).comesUp();
    expect(await health(3)).toBe('live');
  });

  it.each<[string, Partial<Says>]>([
    ['of another base id', { baseId: 1 }],
    ['of another restart epoch', { restartEpoch: 0 }],
    ['of another state', { state: 'PRE_INITIALIZING' }],
  ])('is up, and not LIVE, when an Envoy answers that is %s', async (_, says) => {
    stage = envoyStage();
    await (await stage.start({ epoch: 3, restartEpoch: 1 })).comesUp(says);
    expect(await health(3)).toBe('up');
    expect(await health(3)).toBe('up');
  });

  it.each<Answer>([
    { status: 200, body: 'garbage' },
    { status: 200, body: '' },
    { status: 200, body: '{"state":"LIVE"}' },
    { status: 404, body: 'LIVE' },
  ])('is up, and not LIVE, when somebody answers $status "$body"', async (answer) => {
    stage = envoyStage();
    const admin = await (await stage.start({})).comesUp();
    admin.behaves(answer);
    expect(await health(0)).toBe('up');
  });

  it('is up, and not LIVE, when its own word comes with 503', async () => {
    stage = envoyStage();
    const admin = await (await stage.start({})).comesUp();
    const body = JSON.stringify({
      state: 'LIVE',
      command_line_options: { base_id: String(stage.baseId), restart_epoch: 0 },
    });
    admin.behaves({ status: 503, body });
    expect(await health(0)).toBe('up');
    admin.behaves({ status: 200, body });
    expect(await health(0)).toBe('live');
  });

  it('that was seen LIVE is asked only whether it is ready', async () => {
    stage = envoyStage();
    const admin = await (await stage.start({})).comesUp({ state: 'INITIALIZING' });
    const answers: Health[] = [await health(0), await health(0)];
    admin.says({ state: 'LIVE' });
    answers.push(await health(0), await health(0));
    admin.says({ state: 'DRAINING' });
    answers.push(await health(0));
    expect(answers).toEqual(['up', 'up', 'live', 'live', 'up']);
    expect(admin.requests).toEqual([
      'GET /ready',
      'GET /ready',
      ...coming,
      'GET /ready',
      'GET /ready',
    ]);
  });

  it('is up, and not LIVE, as long as its parent answers, which was seen LIVE', async () => {
    stage = envoyStage();
    const parent = await (await stage.start({ epoch: 0 })).comesUp();
    expect(await health(0)).toBe('live');
    const child = await stage.start({ epoch: 1 });
    expect(await health(1)).toBe('up');
    expect(await health(0)).toBe('live');
    expect(parent.requests).toEqual([...coming, ...coming, 'GET /ready']);
    await child.comesUp();
    expect(await health(1)).toBe('live');
  });

  it('that nobody has started, or that has ended, is unknown, though another one answers', async () => {
    stage = envoyStage();
    const gone = await stage.start({ epoch: 0 });
    const admin = await (await stage.start({ epoch: 1 })).comesUp();
    gone.signal('SIGTERM');
    await gone.exit();
    expect([await health(2), await health(0)]).toEqual(['unknown', 'unknown']);
    expect(admin.requests).toEqual([]);
  });

  it('is unknown as long as nobody answers, nor has written down where', async () => {
    stage = envoyStage();
    await stage.start({});
    expect(await health(0)).toBe('unknown');
  });

  it('is up when somebody answers before it has written down where its admin endpoint is', async () => {
    const stranger = await fakeAdmin({});
    stage = envoyStage({ adminPort: Number(stranger.address.split(':')[1]) });
    await stage.start({});
    expect(await health(0)).toBe('up');
    stranger.close();
  });

  it('is silent when its admin endpoint is known, and hangs up', async () => {
    stage = envoyStage();
    const admin = await (await stage.start({})).comesUp();
    admin.behaves('hangs up');
    expect(await health(0)).toBe('unresponsive');
    expect(admin.requests).toEqual(['GET /ready']);
  });

  it('is silent when its admin endpoint is known, and nobody listens there', async () => {
    stage = envoyStage();
    const admin = await (await stage.start({})).comesUp();
    expect(await health(0)).toBe('live');
    admin.close();
    expect(await health(0)).toBe('unresponsive');
  });

  it.each([false, true])(
    'is silent after 500 ms without an answer (seen LIVE: %s)',
    async (isKnown) => {
      const answerScheduler = new VirtualTimeScheduler();
      stage = envoyStage({ answerScheduler });
      const admin = await (await stage.start({})).comesUp();
      if (isKnown) expect(await health(0)).toBe('live');
      admin.behaves('is silent');
      const requestsBefore = admin.requests.length;
      const answers: Health[] = [];
      const start = answerScheduler.frame;
      const life = stage.proxy.health(0).subscribe({
        next: (answer) => answers.push(answer),
        error: (error: unknown) => expect.fail(String(error)),
      });
      await expect.poll(() => admin.requests.length).toBeGreaterThan(requestsBefore);
      answerScheduler.maxFrames = start + 499;
      answerScheduler.flush();
      expect(answers).toEqual([]);
      answerScheduler.maxFrames = start + 500;
      answerScheduler.flush();
      expect(answers).toEqual(['unresponsive']);
      expect(life.closed).toBe(true);
      expect(admin.requests.slice(requestsBefore)).toEqual(['GET /ready']);
    },
  );

  it('that comes after the last of its lineage is not known by what that has written down', async () => {
    stage = envoyStage();
    writeFileSync(stage.addressFile, '127.0.0.1:1');
    await stage.start({});
    expect(await health(0)).toBe('unknown');
  });
});

describe('of two lineages side by side', () => {
  /** Starts a first epoch that is seen LIVE, and another one beside it that is not. */
  const both = async () => {
    stage = envoyStage();
    const [first, firstAdmin] = await up({ epoch: 0 });
    expect(await health(0)).toBe('live');
    const [second, secondAdmin] = await up({
      epoch: 1,
      restartEpoch: 0,
      lineage: 1,
      sideBySide: true,
    });
    return { first, firstAdmin, second, secondAdmin };
  };
  const up = async (launch: Parameters<EnvoyStage['start']>[0]) => {
    const envoy = await stage.start(launch);
    return [envoy, await envoy.comesUp()] as const;
  };
  const written = (suffix = '') => {
    try {
      return readFileSync(`${stage.addressFile}${suffix}`, 'utf8');
    } catch {
      return undefined;
    }
  };

  it('each has an admin endpoint, and is asked there', async () => {
    const { firstAdmin, secondAdmin } = await both();
    expect(await health(1)).toBe('live');
    expect(await health(0)).toBe('live');
    expect(await health(1)).toBe('live');
    expect(firstAdmin.requests.filter((request) => !request.includes('config_dump'))).toEqual([
      ...coming,
      'GET /ready',
    ]);
    expect(secondAdmin.requests).toEqual([...coming, 'GET /ready']);
  });

  it('the second is where both were looked for from the moment that it is published, and not before', async () => {
    const { firstAdmin, secondAdmin } = await both();
    expect(await health(1)).toBe('live');
    expect([written(), written('-1'), written('-former')]).toEqual([
      firstAdmin.address,
      secondAdmin.address,
      undefined,
    ]);
    await publish(1);
    expect([written(), written('-1'), written('-former')]).toEqual([
      secondAdmin.address,
      undefined,
      firstAdmin.address,
    ]);
  });

  it('the second is not LIVE by the word of the first', async () => {
    const { second, firstAdmin } = await both();
    writeFileSync(second.option('--admin-address-path'), firstAdmin.address);
    expect(await health(1)).toBe('up');
  });

  it('the first is still asked where it is when the second is published, and is known no more when it has ended', async () => {
    const { first, firstAdmin, secondAdmin } = await both();
    await publish(1);
    firstAdmin.behaves('hangs up');
    expect([await health(0), await health(1)]).toEqual(['unresponsive', 'live']);
    first.signal('SIGTERM');
    await first.exit();
    expect([written(), written('-former')]).toEqual([secondAdmin.address, undefined]);
    expect(await health(1)).toBe('live');
  });

  it('the first keeps its place when the second has ended before it was published', async () => {
    const { firstAdmin, second } = await both();
    second.signal('SIGKILL');
    await second.exit();
    expect([written(), written('-1')]).toEqual([firstAdmin.address, undefined]);
    expect(await health(0)).toBe('live');
  });

  it('the first has its place again when it is published after the second has ended', async () => {
    const { firstAdmin, second } = await both();
    await publish(1);
    expect([written(), written('-former')]).not.toContain(undefined);
    second.signal('SIGKILL');
    await second.exit();
    expect([written(), written('-former')]).toEqual([undefined, firstAdmin.address]);
    await publish(0);
    expect([written(), written('-former')]).toEqual([firstAdmin.address, undefined]);
  });

  it('one that is not the newest takes nobody’s place', async () => {
    stage = envoyStage();
    const [, firstAdmin] = await up({ epoch: 0 });
    expect(await health(0)).toBe('live');
    const [, secondAdmin] = await up({ epoch: 1, restartEpoch: 0, lineage: 1, sideBySide: true });
    await up({ epoch: 2, restartEpoch: 0, lineage: 2, sideBySide: true });
    await publish(1);
    expect([written(), written('-1')]).toEqual([firstAdmin.address, secondAdmin.address]);
    await publish(2);
    expect(written('-former')).toBe(firstAdmin.address);
  });

  it('a child of the second is asked where that is, and then that where its child is', async () => {
    const { firstAdmin, secondAdmin } = await both();
    expect(await health(1)).toBe('live');
    await publish(1);
    const before = firstAdmin.requests.length;
    const child = await stage.start({ epoch: 2, restartEpoch: 1, lineage: 1 });
    expect(child.option('--admin-address-path')).toBe(stage.addressFile);
    expect(await health(2)).toBe('up');
    expect(secondAdmin.requests.at(-1)).toBe('GET /server_info');
    const childAdmin = await child.comesUp();
    expect([await health(2), await health(1)]).toEqual(['live', 'live']);
    expect(childAdmin.requests).toEqual([...coming, 'GET /ready']);
    expect(firstAdmin.requests).toHaveLength(before);
  });

  it('the second is asked at the port that it was given until it has written down where it is', async () => {
    stage = envoyStage();
    const [, firstAdmin] = await up({ epoch: 0 });
    const second = await stage.start({ epoch: 1, restartEpoch: 0, lineage: 1, sideBySide: true });
    const given = JSON.parse(second.option('--config-yaml')) as {
      admin: { address: { socket_address: { port_value: number } } };
    };
    const requestsBefore = firstAdmin.requests.length;
    expect(await health(1)).toBe('unknown');
    const itself = { baseId: Number(second.option('--base-id')), restartEpoch: 0 };
    const admin = await fakeAdmin(itself, given.admin.address.socket_address.port_value);
    expect(await health(1)).toBe('live');
    expect(firstAdmin.requests).toHaveLength(requestsBefore);
    admin.close();
  });
});
