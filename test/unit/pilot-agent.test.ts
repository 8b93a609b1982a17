import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EMPTY, of } from 'rxjs';
import { afterAll, describe, expect, it } from 'vitest';
import { type AgentSettings, type LogLine, pilotAgent, type Proxy } from '../../src/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-library-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Its processes fail at once. */
const failing: Proxy = {
  run: () => of({ type: 'exited', exit: { kind: 'failed', code: 5, tail: [] } }),
  health: () => of('unknown'),
  publishAdmin: () => EMPTY,
  check: () => of({ ok: true }),
  drain: () => EMPTY,
  active: () => of(undefined),
};

async function failureOf(config: AgentSettings, env: NodeJS.ProcessEnv = {}): Promise<readonly [unknown, readonly LogLine[]]> {
  const lines: LogLine[] = [];
  const agent = pilotAgent({
    config: { configPath: folder, statusPort: 0, envoyRestartPolicy: 'exit', ...config },
    env,
    proxy: failing,
    log: (line) => lines.push(line),
  });
  return [await agent.run().catch((error: unknown) => error), lines];
}

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
    const [failure] = await failureOf({ statusPort: 70_000, xdsProxy: false, log_as_json: true, concurrency: -1 });
    expect(failure).toMatchObject({ code: 64, reason: expect.stringMatching(/--statusPort.*--concurrency/) as string });
  });

  it('takes one value, or several, of a flag that may be repeated', async () => {
    for (const watch of ['/one', ['/one', '/two']]) {
      const [failure] = await failureOf({ watch });
      expect(failure).toMatchObject({ reason: expect.stringContaining('Envoy ended with 5') as string });
    }
  });

  it('has the role, and the variables that it is given', async () => {
    const [, lines] = await failureOf({ role: 'router' }, { POD_NAME: 'mine', POD_NAMESPACE: 'here' });
    expect(lines[0]).toMatchObject({ event: 'agent.started', role: 'router', id: 'mine.here' });
  });

  it('says what is no flag', async () => {
    const [failure] = await failureOf({ statusPrt: 0 } as AgentSettings);
    expect(failure).toMatchObject({ code: 64, reason: expect.stringContaining('--statusPort') as string });
    const [, lines] = await failureOf({ somethingElse: 0 } as AgentSettings);
    expect(lines.map(({ warning }) => warning)).toContain('unknown flag --somethingElse is ignored');
  });

  it('runs once, and does nothing where it is ended before', async () => {
    const agent = pilotAgent({ config: { configPath: folder, binaryPath: '/no/envoy' } });
    await agent.run({ signal: AbortSignal.abort() });
    await expect(agent.run()).rejects.toMatchObject({ code: 64, reason: expect.stringContaining('has been run') as string });
  });
});
