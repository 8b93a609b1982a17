import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ended, endedSilently, goneFrom } from '../../../../src/pilot-agent/cli/last-agent.ts';
import { agentEnd, keepEnd } from '../../../../src/pilot-agent/run/end/agent-end.ts';
import { Fatal } from '../../../../src/shared/program/exit.ts';
import { lockFolder } from '../../../../src/pilot-agent/run/start/folder-lock.ts';

const startedAt = Date.UTC(2026, 0, 1);
const endedAt = startedAt + 192_000;
const now = new Date(endedAt + 12_000).toISOString();
const lived = { pid: 7, version: '1', startedAt, at: endedAt };
const here = {
  pid: 7,
  version: '1',
  configPath: '/run',
  statusPort: 1,
  proxyAdminPort: 2,
  healthPort: 3,
};

describe('an agent that is gone', () => {
  it('is told of with code, time and reason, and with what to do', () => {
    expect(ended('/run', agentEnd(lived, new Fatal('no such field', 78)), now)).toStrictEqual({
      message:
        'the agent of /run has ended with exit code 78, 12 s ago (2026-01-01T00:03:12.000Z, after 3m 12s): no such field',
      advice:
        'what to do: correct the configuration that is named; see docs/troubleshooting.md#exit-78',
      end: {
        folder: '/run',
        at: '2026-01-01T00:03:12.000Z',
        startedAt: '2026-01-01T00:00:00.000Z',
        pid: 7,
        version: '1',
        code: 78,
        reason: 'no such field',
        fix: 'correct the configuration that is named; see docs/troubleshooting.md#exit-78',
      },
    });
  });

  it('needs no advice if it was asked to', () => {
    const end = agentEnd(lived, { askedBy: 'SIGTERM', leaves: false });
    expect(ended('/run', end, now)).toStrictEqual({
      message:
        'the agent of /run has ended with exit code 0, 12 s ago (2026-01-01T00:03:12.000Z, after 3m 12s): it was asked to stop (SIGTERM)',
      end: { folder: '/run', ...end },
    });
  });

  it('is told of by what it has left, if it has said nothing', () => {
    const traces = { startedAt: '2026-01-01T00:00:00.000Z', changedAt: '2026-01-01T00:03:12.000Z' };
    const { message, advice, end } = endedSilently('/run', traces, now);
    expect(end).toEqual({ folder: '/run', ...traces });
    expect(message).toBe(
      'the agent of /run has ended without a word: it was killed, or has crashed. It was started 3m 24s ago (2026-01-01T00:00:00.000Z), ' +
        'and its folder changed for the last time 12 s ago (2026-01-01T00:03:12.000Z)',
    );
    expect(advice).toContain('docs/troubleshooting.md#exit-other');
  });
});

describe('goneFrom', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'last-agent-'))));
  afterEach(() => rmSync(folder, { recursive: true }));
  const gone = async (code?: string) =>
    (await firstValueFrom(goneFrom(folder, code, endedAt + 12_000), { defaultValue: undefined }))
      ?.message;

  /** Leaves a socket that nothing listens on, dated to the start of the agent. */
  async function killed(): Promise<void> {
    const code = `require('node:net').createServer().listen(${JSON.stringify(join(folder, 'status'))}, () => console.log(''))`;
    const child: ChildProcess = spawn(process.execPath, ['-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (child.stdout !== null) await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    utimesSync(join(folder, 'status'), startedAt / 1_000, startedAt / 1_000);
    utimesSync(folder, endedAt / 1_000, endedAt / 1_000);
  }

  it.each(['ENOENT', 'ECONNREFUSED'])('tells the end that was kept, after %s', async (code) => {
    keepEnd(folder, agentEnd(lived, new Fatal('no such field', 78)));
    expect(await gone(code)).toContain('has ended with exit code 78, 12 s ago');
  });

  it('tells of one that was killed when it was started, and when the folder changed', async () => {
    await killed();
    expect(await gone('ECONNREFUSED')).toMatch(
      /without a word.* started 3m 24s ago .* for the last time 12 s ago /,
    );
  });

  it.each([
    ['the folder is empty', 'ENOENT'],
    ['the folder has no socket', 'ECONNREFUSED'],
  ])('knows nothing if %s', async (_, code) => {
    expect(await gone(code)).toBeUndefined();
  });

  it.each([['EACCES'], [undefined]])('knows nothing if the socket has said %s', async (code) => {
    keepEnd(folder, agentEnd(lived, new Fatal('no', 78)));
    expect(await gone(code)).toBeUndefined();
  });

  it('does not take an agent for gone that has the folder', async () => {
    await killed();
    const lock = await lockFolder(folder, '1', { agent: here });
    expect(await gone('ECONNREFUSED')).toBeUndefined();
    if (lock.ok) lock.release();
    expect(await gone('ECONNREFUSED')).toBeDefined();
  });
});
