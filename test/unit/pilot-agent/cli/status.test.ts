import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { status } from '../../../../src/pilot-agent/cli/status.ts';
import { agentReport, inTrouble } from '../../../support/agent-report.ts';
import { type FakeStatus, fakeStatus } from '../../../support/fake-status.ts';

describe('status', () => {
  let agent: FakeStatus;
  let printed: string;
  const { columns, rows, isTTY } = process.stdout;
  beforeEach(async () => {
    agent = await fakeStatus();
    printed = '';
    vi.spyOn(process.stdout, 'write').mockImplementation((text: unknown, done: unknown) => {
      printed += String(text);
      (done as () => void)();
      return true;
    });
  });
  afterEach(async () => {
    Object.assign(process.stdout, { columns, rows, isTTY });
    vi.restoreAllMocks();
    await agent.dispose();
  });
  const run = (output?: string, configPath = agent.folder) =>
    status({ configPath, ...(output !== undefined && { output }) });

  it('asks the socket of the folder, and resolves if the agent is ready', async () => {
    agent.answer('/debug/status', 200, JSON.stringify(agentReport()));
    await run();
    expect(agent.requests).toEqual(['GET /debug/status']);
    expect(printed).toMatch(/^READY {2}pilot-agent 0\.1\.0 .*\n(.*\n)+$/);
  });

  it('prints how it stands, and ends with 1 and without more words, if the agent is not ready', async () => {
    agent.answer('/debug/status', 200, JSON.stringify(inTrouble));
    await expect(run()).rejects.toMatchObject({ code: 1, message: '' });
    expect(printed).toMatch(/^NOT READY .*\n {2}reason +Envoy does not answer: \\x1b/);
  });

  it('prints what the agent has said as JSON and as YAML', async () => {
    agent.answer('/debug/status', 200, JSON.stringify(inTrouble));
    await expect(run('json')).rejects.toMatchObject({ code: 1 });
    expect(JSON.parse(printed)).toEqual(inTrouble);
    printed = '';
    agent.answer('/debug/status', 200, JSON.stringify(agentReport()));
    await run('yaml');
    expect(parse(printed)).toEqual(agentReport());
  });

  it('cuts what a terminal has no room for, and nothing elsewhere', async () => {
    agent.answer('/debug/status', 200, JSON.stringify(agentReport()));
    Object.assign(process.stdout, { columns: 40, rows: 24, isTTY: true });
    vi.stubEnv('NO_COLOR', '1');
    await run();
    expect(Math.max(...printed.split('\n').map((line) => line.length))).toBe(40);
    printed = '';
    await run('wide');
    expect(printed).toContain('2026-11-22T12:05:01.000Z');
    printed = '';
    Object.assign(process.stdout, { isTTY: false });
    await run();
    expect(printed).toContain('file /etc/certs/cert-chain.pem\n');
  });

  it.each([
    [
      'is away',
      (fake: FakeStatus): void | Promise<void> => fake.leave(),
      /^no agent answers at .*\/status: there is no socket; give --configPath the folder of the agent$/,
    ],
    [
      'is older',
      () => undefined,
      /^the agent of .* answers 404: it is of another version than this program$/,
    ],
    [
      'says something else',
      (fake: FakeStatus) => fake.answer('/debug/status', 200, '{"a":1}'),
      /answers something else than its status/,
    ],
    [
      'says no JSON',
      (fake: FakeStatus) => fake.answer('/debug/status', 200, '<html>'),
      /answers something else than its status/,
    ],
  ])('ends with 69 and one line if the agent %s', async (_, make, message) => {
    await Promise.resolve(make(agent));
    await expect(run()).rejects.toMatchObject({
      code: 69,
      message: expect.stringMatching(message) as string,
    });
    expect(printed).toBe('');
  });

  it('ends with 69 if there is no such folder', async () => {
    await expect(run(undefined, '/no/such/folder')).rejects.toMatchObject({ code: 69 });
  });

  it('finds the socket in a folder whose path is too long for one', async () => {
    const base = mkdtempSync(join(tmpdir(), 'pilot-agent-long-'));
    const short = join(base, 'short');
    const long = join(base, 'l'.repeat(120));
    mkdirSync(short);
    const other = await fakeStatus(short);
    renameSync(short, long);
    other.answer('/debug/status', 200, JSON.stringify(agentReport()));
    await run(undefined, long);
    expect(printed).toContain('READY');
    renameSync(long, short);
    await other.dispose();
    rmSync(base, { recursive: true });
  });
});
