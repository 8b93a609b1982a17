import { syncBuiltinESMExports } from 'node:module';
import { createServer } from 'node:net';
import { join } from 'node:path';
import v8 from 'node:v8';
import { concat, EMPTY, filter, firstValueFrom, lastValueFrom, map, of, take } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type AgentSettings,
  type LogLine,
  type PilotAgent,
  pilotAgent,
  type PilotAgentOptions,
  type Proxy,
  source,
} from '../../src/index.ts';
import { ask } from '../support/ask.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

let rig: Rig;
const more: Rig[] = [];
const ends: AbortController[] = [];
beforeEach(async () => {
  rig = await makeRig({ plain: true });
});
afterEach(async () => {
  for (const end of ends.splice(0)) end.abort();
  for (const usedRig of [rig, ...more.splice(0)]) await usedRig.dispose();
});

const quick = { minDelay: '300ms', drainDuration: '1s', parentShutdownDuration: '2s' } as const;

function settings({ config, folder, ports }: Rig): AgentSettings {
  const places = {
    configPath: join(folder, 'run'),
    proxyAdminPort: ports.admin,
    statusPort: ports.status,
  };
  return { ...quick, customConfigFile: config, ...places };
}

function start(agentRig: Rig, options: PilotAgentOptions = {}) {
  const lines: LogLine[] = [];
  const agent = pilotAgent({
    config: settings(agentRig),
    env: { ...process.env, MINIMUM_DRAIN_DURATION: '0s' },
    log: (line) => lines.push(line),
    ...options,
  });
  const end = new AbortController();
  ends.push(end);
  const over = agent.run({ signal: end.signal });
  over.catch(() => undefined);
  return { agent, lines, over, abort: () => end.abort() };
}

/** Resolves to the first epoch that is LIVE; undefined if the agent ends without one. */
function live({ state$ }: PilotAgent): Promise<number | undefined> {
  return firstValueFrom(
    state$.pipe(
      map(({ epochs }) => [...epochs].find(([, { stage }]) => stage === 'live')?.[0]),
      filter((epoch) => epoch !== undefined),
    ),
    { defaultValue: undefined },
  );
}

const listeners = () =>
  ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1', 'uncaughtException', 'exit'].map((name) =>
    process.listenerCount(name),
  );

describe('an agent as a part of a program', () => {
  it('serves until its signal, drains then, and leaves nothing of itself', async () => {
    const before = listeners();
    const { agent, lines, over, abort } = start(rig);
    expect(await live(agent)).toBe(0);
    expect((await ask(rig.ports.listen, '/')).status).toBeGreaterThan(0);
    expect(listeners().slice(0, 5)).toEqual(before.slice(0, 5));
    abort();
    await over;
    expect(await lastValueFrom(agent.state$, { defaultValue: undefined })).toMatchObject({
      phase: 'stopped',
      outcome: { kind: 'asked' },
    });
    expect(lines.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['agent.started', 'epoch.live']),
    );
    expect(rig.envoys()).toEqual([]);
    expect(listeners()).toEqual(before);
    const again = start(rig); // the folder and the ports are free
    expect(await live(again.agent)).toBe(0);
    again.abort();
    await again.over;
  });

  it('says when it is ready, starts a new Envoy by restart(), and drains by drain()', async () => {
    const { agent, lines, over, abort } = start(rig);
    const nextReadiness = (type: 'ready' | 'unready') =>
      firstValueFrom(agent.ready$.pipe(filter((readiness) => readiness.type === type)), {
        defaultValue: undefined,
      });
    expect(await nextReadiness('unready')).toEqual({
      type: 'unready',
      reason: 'it has not been started yet',
    });
    await nextReadiness('ready');
    expect((await ask(rig.ports.status, '/healthz/ready')).status).toBe(200);
    agent.restart();
    await firstValueFrom(
      agent.state$.pipe(filter(({ epochs }) => epochs.get(1)?.stage === 'live')),
      { defaultValue: undefined },
    );
    expect(lines.find(({ by }) => by !== undefined)).toMatchObject({
      event: 'restart.requested',
      by: 'restart()',
    });
    expect((await ask(rig.ports.admin, '/server_info')).body).toContain('"restart_epoch": 1');
    await nextReadiness('ready');
    agent.drain();
    expect(await nextReadiness('unready')).toEqual({ type: 'unready', reason: 'draining' });
    expect((await ask(rig.ports.status, '/healthz/ready')).body).toContain('draining');
    expect((await ask(rig.ports.listen, '/')).status).toBeGreaterThan(0);
    abort();
    await over;
    expect(await nextReadiness('unready')).toEqual({ type: 'unready', reason: 'it has ended' });
  });

  it('refuses sources of one name that it cannot know before it reads them', async () => {
    const mine = () => ({ ...source('mine', () => of('a')), names: [] });
    const { over } = start(rig, { sources: [mine(), mine()] });
    await expect(over).rejects.toMatchObject({
      code: 78,
      reason: expect.stringContaining("two sources have the name 'mine'") as string,
    });
  });

  it('is beside another one of the same process, which does not feel its end', async () => {
    const other = await makeRig({ plain: true });
    more.push(other);
    const [first, second] = [start(rig), start(other)];
    expect(await Promise.all([live(first.agent), live(second.agent)])).toEqual([0, 0]);
    first.abort();
    await first.over;
    expect(rig.envoys()).toEqual([]);
    expect((await ask(other.ports.status, '/healthz/ready')).status).toBe(200);
    second.abort();
    await second.over;
  });

  it('leaves the flags of V8 to the program, also if it is scraped', async () => {
    const set: string[] = [];
    const before = v8.setFlagsFromString;
    v8.setFlagsFromString = (flag) => void set.push(flag);
    syncBuiltinESMExports();
    try {
      const { agent, over, abort } = start(rig);
      expect(await live(agent)).toBe(0);
      expect((await ask(rig.ports.status, '/stats/prometheus')).body).toContain('istio_agent_');
      abort();
      await over;
    } finally {
      v8.setFlagsFromString = before;
      syncBuiltinESMExports();
    }
    expect(set).toEqual([]);
  });

  it('does not take the folder of another one', async () => {
    const { agent, over, abort } = start(rig);
    expect(await live(agent)).toBe(0);
    const second = start(rig, { config: { ...settings(rig), statusPort: 0 } });
    await expect(second.over).rejects.toMatchObject({
      code: 69,
      reason: expect.stringContaining(`belongs to another agent (process ${process.pid}`) as string,
      fix: 'free the port or file that is named, or give another one, and start the agent again; see docs/troubleshooting.md#exit-69',
    });
    expect((await ask(rig.ports.status, '/healthz/ready')).status).toBe(200);
    abort();
    await over;
  });

  it.each<[string, PilotAgentOptions, object]>([
    [
      'a wrong value',
      { config: { drainDuration: 'soon' } as object },
      { code: 64, reason: /^--drainDuration: 'soon' is not a duration/ },
    ],
    [
      'a flag that is nearly one',
      { config: { statusPrt: 1 } as AgentSettings },
      { code: 64, reason: /--statusPrt.*--statusPort/ },
    ],
    [
      'no Envoy',
      { config: { binaryPath: '/no/envoy' } },
      { code: 69, reason: /^--binaryPath \/no\/envoy does not exist/ },
    ],
    [
      'a file that is not there',
      { config: { customConfigFile: '/no/envoy.json' } },
      { code: 78, reason: /cannot be read/ },
    ],
  ])(
    'rejects with what is wrong and what to do: %s',
    async (_, { config }, { code, reason }: { code?: number; reason?: RegExp }) => {
      const { over } = start(rig, { config: { ...settings(rig), ...config } });
      const failure: unknown = await over.catch((error: unknown) => error);
      expect(failure).toMatchObject({
        code,
        fix: expect.stringMatching(`^correct|^free`) as string,
      });
      expect((failure as { reason: string }).reason).toMatch(reason ?? '');
    },
  );

  it('rejects if its port is taken, with Envoy never started', async () => {
    const neighbour = createServer();
    await new Promise<void>((listening) => neighbour.listen(rig.ports.status, listening));
    const { over } = start(rig);
    await expect(over).rejects.toMatchObject({
      code: 69,
      reason: expect.stringContaining('--statusPort') as string,
    });
    neighbour.close();
    expect(rig.envoys()).toEqual([]);
  });

  it('runs over a proxy that is not an Envoy', async () => {
    const started: number[] = [];
    const proxy: Proxy = {
      run: ({ epoch }, signals$) => {
        started.push(epoch);
        const exit = { type: 'exited', exit: { kind: 'clean' } } as const;
        return concat(
          of({ type: 'spawned', pid: process.pid } as const),
          signals$.pipe(
            map(() => exit),
            take(1),
          ),
        );
      },
      health: () => of('live'),
      publishAdmin: () => EMPTY,
      check: () => of({ kind: 'works' }),
      drain: () => EMPTY,
      active: () => of(0),
    };
    const { agent, over, abort } = start(rig, { proxy });
    expect(await live(agent)).toBe(0);
    abort();
    await over;
    expect(started).toEqual([0]);
  });
});
