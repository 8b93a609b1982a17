import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Around } from '../../../../src/pilot-agent/check/around.ts';
import { checkAgent } from '../../../../src/pilot-agent/check/running-agent.ts';

/** Returns the findings about an agent that answers a probe with `answer`. */
async function findingsOf(answer: unknown) {
  const configPath = mkdtempSync(join(tmpdir(), 'check-agent-'));
  const server = createServer((_, response) => response.end(JSON.stringify(answer)));
  onTestFinished(() => {
    server.close();
    rmSync(configPath, { recursive: true });
  });
  await new Promise<void>((listening) => server.listen(join(configPath, 'status'), listening));
  return checkAgent({ agent: { configPath } } as Around);
}

it('each reason and each note leads to what to do about it', async () => {
  const pending = [{ name: 'envoy-hangs', reason: 'Envoy hangs' }];
  const notes = [
    'Envoy has crashed once in the last 10 min: SIGSEGV',
    'control plane istiod:15012: connection refused, since now',
  ];
  const findings = await findingsOf({ pending, notes });
  expect(findings.map(({ level, what, see }) => [level, what, see])).toEqual([
    ['fail', 'it is not ready: Envoy hangs', 'docs/troubleshooting.md#envoy-hangs'],
    ['warn', notes[0], 'docs/troubleshooting.md#epoch-failed'],
    ['warn', notes[1], 'docs/troubleshooting.md#xds-unavailable'],
  ]);
});

it.each([null, 'not found', { pending: [] }])(
  'an agent of another version is a finding, and not a bug: %j',
  async (answer) => {
    expect(await findingsOf(answer)).toMatchObject([
      { level: 'fail', what: expect.stringContaining('it answers 200') as string },
    ]);
  },
);

it('an agent that is ready, with nothing to note, is in order', async () => {
  expect(await findingsOf({ pending: [], notes: [] })).toMatchObject([
    { level: 'ok', what: 'it is ready' },
  ]);
});
