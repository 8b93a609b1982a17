import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { concat, EMPTY, filter, firstValueFrom, lastValueFrom, map, of, take } from 'rxjs';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  type AgentSettings,
  type ContributingSource,
  type LogLine,
  type PilotAgent,
  pilotAgent,
  type PilotAgentOptions,
  type Proxy,
  renamed,
  source,
} from '../../../../src/index.ts';
import type { Drain } from '../../../../src/epochs/ports.ts';

const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-library-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A proxy whose processes fail at once. */
const failing: Proxy = {
  run: () => of({ type: 'exited', exit: { kind: 'failed', code: 5, tail: [] } }),
  health: () => of('unknown'),
  publishAdmin: () => EMPTY,
  check: () => of({ kind: 'works' }),
  drain: () => EMPTY,
  active: () => of(undefined),
};

async function failureOf(
  config: AgentSettings,
  env: NodeJS.ProcessEnv = {},
): Promise<readonly [unknown, readonly LogLine[]]> {
  const lines: LogLine[] = [];
  const agent = pilotAgent({
    config: { configPath: folder, statusPort: 0, envoyRestartPolicy: 'exit', ...config },
    env,
    proxy: failing,
    log: (line) => lines.push(line),
  });
  return [await agent.run().catch((error: unknown) => error), lines];
}

/**
 * Returns a proxy whose processes serve until they get a signal, and the drains that it has begun.
 */
function serving() {
  const drained: Drain[] = [];
  const proxy: Proxy = {
    ...failing,
    run: (_, signals$) => {
      const ended$ = signals$.pipe(
        take(1),
        map(() => ({ type: 'exited', exit: { kind: 'clean' } }) as const),
      );
      return concat(of({ type: 'spawned', pid: process.pid } as const), ended$);
    },
    health: () => of('live'),
    drain: (_, how) => {
      drained.push(how);
      return EMPTY;
    },
    active: () => of(0),
  };
  return { proxy, drained };
}

function started(options: PilotAgentOptions = {}) {
  const lines: LogLine[] = [];
  const { proxy, drained } = serving();
  const config = {
    ...options.config,
    configPath: mkdtempSync(join(folder, 'agent-')),
    statusPort: 0,
  };
  const agent = pilotAgent({
    env: { MINIMUM_DRAIN_DURATION: '0s', TERMINATION_DRAIN_DURATION_SECONDS: '1' },
    proxy,
    log: (line) => lines.push(line),
    ...options,
    config,
  });
  const readiness: string[] = [];
  agent.ready$.subscribe({
    next: (state) => readiness.push(state.type === 'ready' ? 'ready' : state.reason),
    error: (error: unknown) => readiness.push(String(error)),
    complete: () => readiness.push('complete'),
  });
  const end = new AbortController();
  onTestFinished(() => end.abort());
  return {
    agent,
    lines,
    drained,
    readiness,
    over: agent.run({ signal: end.signal }),
    end: () => end.abort(),
  };
}

const none = { defaultValue: undefined };
const ready = (agent: PilotAgent) =>
  firstValueFrom(agent.ready$.pipe(filter(({ type }) => type === 'ready')), none);

describe('a running agent', () => {
  it('says whether it is ready, from before its start to its end', async () => {
    const { agent, readiness, over, end } = started();
    await ready(agent);
    end();
    await over;
    expect(readiness[0]).toBe('it has not been started yet');
    expect(readiness).toContain('ready');
    expect(readiness.slice(-2)).toEqual(['it has ended', 'complete']);
    expect(await lastValueFrom(agent.ready$, none)).toEqual({
      type: 'unready',
      reason: 'it has ended',
    });
  });

  it('starts a new epoch by restart(), and says who has ordered it', async () => {
    const { agent, lines, over, end } = started();
    await ready(agent);
    agent.restart();
    await firstValueFrom(agent.state$.pipe(filter(({ lastEpoch }) => lastEpoch === 1)), none);
    expect(
      lines.find(({ event, by }) => event === 'restart.requested' || by === 'restart()'),
    ).toMatchObject({ by: 'restart()' });
    end();
    await over;
  });

  it('drains by drain(), is not ready then, and runs until it is told to end', async () => {
    const { agent, drained, over, end } = started();
    await ready(agent);
    agent.drain();
    expect(drained).toHaveLength(1);
    expect(
      await firstValueFrom(agent.ready$.pipe(filter(({ type }) => type === 'unready')), none),
    ).toMatchObject({ reason: 'draining' });
    expect(await firstValueFrom(agent.state$, none)).toMatchObject({ phase: 'draining' });
    end();
    await over;
  });

  it('is told neither before it runs nor after its end', async () => {
    const { agent, over, end } = started();
    for (const order of [() => pilotAgent().restart(), () => pilotAgent().drain()]) {
      expect(order).toThrow(
        expect.objectContaining({
          code: 64,
          reason: 'the agent does not run yet: call run() first',
        }) as Error,
      );
    }
    expect(() => agent.restart()).toThrow('the agent does not run: ready$ says when it does');
    await ready(agent);
    end();
    await over;
    expect(() => agent.drain()).toThrow('the agent does not run: ready$ says when it does');
  });
});

describe('two sources of one name', () => {
  const firstSource = source('mine', () => of('a'));
  const nameless = ({ changes$, reading$ }: ContributingSource): ContributingSource => ({
    changes$,
    reading$,
  });
  it.each<[string, PilotAgentOptions]>([
    ['that say so', { sources: [firstSource, source('mine', () => of('b'))] }],
    [
      'of which one is of a flag',
      { sources: [renamed(firstSource, 'watch')], config: { watch: '/no/file' } },
    ],
    [
      'written by hand',
      { sources: [nameless(firstSource), nameless(source('mine', () => of('b')))] },
    ],
  ])('are refused: %s', async (_, options) => {
    const { over } = started(options);
    await expect(over).rejects.toMatchObject({
      code: 78,
      reason: expect.stringMatching(
        /two sources have the name '(mine|watch)': give one another name/,
      ) as string,
      fix: expect.stringContaining('correct the configuration') as string,
    });
  });
});

describe('pilotAgent', () => {
  it('rejects with code, reason and fix', async () => {
    const [failure] = await failureOf({});
    expect(failure).toMatchObject({
      code: 5,
      reason: 'Envoy ended with 5',
      fix: "look for the last lines of Envoy's log; see docs/troubleshooting.md#exit-other",
    });
  });

  it('takes flags as a command line does, numbers and booleans as their text', async () => {
    const [failure] = await failureOf({
      statusPort: 70_000,
      xdsProxy: false,
      log_as_json: true,
      concurrency: -1,
    });
    expect(failure).toMatchObject({
      code: 64,
      reason: expect.stringMatching(/--statusPort.*--concurrency/) as string,
    });
  });

  it('takes one value, or several, of a flag that may be repeated', async () => {
    for (const watch of ['/one', ['/one', '/two']]) {
      const [failure] = await failureOf({ watch });
      expect(failure).toMatchObject({
        reason: expect.stringContaining('Envoy ended with 5') as string,
      });
    }
  });

  it('has the role, and the variables that it is given', async () => {
    const [, lines] = await failureOf(
      { role: 'router' },
      { POD_NAME: 'mine', POD_NAMESPACE: 'here' },
    );
    expect(lines[0]).toMatchObject({ event: 'agent.started', role: 'router', id: 'mine.here' });
  });

  it('says what is not a flag', async () => {
    const [failure] = await failureOf({ statusPrt: 0 } as AgentSettings);
    expect(failure).toMatchObject({
      code: 64,
      reason: expect.stringContaining('--statusPort') as string,
    });
    const [, lines] = await failureOf({ somethingElse: 0 } as AgentSettings);
    expect(lines.map(({ warning }) => warning)).toContain(
      'unknown flag --somethingElse is ignored',
    );
  });

  it('runs once, and does nothing if it is ended before', async () => {
    const agent = pilotAgent({ config: { configPath: folder, binaryPath: '/no/envoy' } });
    await agent.run({ signal: AbortSignal.abort() });
    await expect(agent.run()).rejects.toMatchObject({
      code: 64,
      reason: expect.stringContaining('has been run') as string,
    });
  });
});
