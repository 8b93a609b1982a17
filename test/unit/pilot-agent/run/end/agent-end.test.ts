import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type AgentEnd,
  agentEnd,
  endIn,
  forgetEnd,
  type GoodEnd,
  keepEnd,
} from '../../../../../src/pilot-agent/run/end/agent-end.ts';
import { Fatal } from '../../../../../src/shared/program/exit.ts';

const lived = {
  pid: 7,
  version: '1.2.3',
  startedAt: Date.UTC(2026, 0, 1),
  at: Date.UTC(2026, 0, 2),
};
const commonFields = {
  at: '2026-01-02T00:00:00.000Z',
  startedAt: '2026-01-01T00:00:00.000Z',
  pid: 7,
  version: '1.2.3',
};
const end = agentEnd(lived, new Fatal('no', 78));

describe('agentEnd', () => {
  it.each<[what: string, end: GoodEnd | Fatal, code: number, reason: string, fix?: string]>([
    ['a signal', { askedBy: 'SIGTERM', leaves: false }, 0, 'it was asked to stop (SIGTERM)'],
    [
      'a request',
      { askedBy: '/quitquitquit', leaves: false },
      0,
      'it was asked to stop (/quitquitquit)',
    ],
    [
      '--keepEnvoy',
      { askedBy: 'SIGTERM', leaves: true },
      0,
      'it was asked to stop (SIGTERM), and its Envoy goes on',
    ],
    [
      'an Envoy that ends cleanly',
      { askedBy: undefined, leaves: false },
      0,
      'its last Envoy ended cleanly, and nobody asked it to',
    ],
    [
      'a configuration',
      new Fatal('no such field', 78),
      78,
      'no such field',
      'correct the configuration that is named; see docs/troubleshooting.md#exit-78',
    ],
    [
      'a code of Envoy',
      new Fatal('Envoy ended with 3', 3),
      3,
      'Envoy ended with 3',
      "look for the last lines of Envoy's log; see docs/troubleshooting.md#exit-other",
    ],
    [
      'a bug',
      new Fatal('this is a bug: x', 70),
      70,
      'this is a bug: x',
      'report this bug with the log, which has the stack; see docs/troubleshooting.md#exit-70',
    ],
  ])('tells why, after %s', (_, how, code, reason, fix) => {
    expect(agentEnd(lived, how)).toStrictEqual({
      ...commonFields,
      code,
      reason,
      ...(fix !== undefined && { fix }),
    });
  });

  it('cuts a long reason', () => {
    expect(agentEnd(lived, new Fatal('x'.repeat(5_000), 78)).reason).toBe(`${'x'.repeat(2_000)}…`);
  });
});

describe('the end in a folder', () => {
  let folder: string;
  const path = () => join(folder, 'ended.json');
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'agent-end-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is what was kept, in one file that its owner alone may read, until it is forgotten', () => {
    expect(endIn(folder)).toBeUndefined();
    keepEnd(folder, end);
    expect(endIn(folder)).toStrictEqual(end);
    expect(readdirSync(folder)).toEqual(['ended.json']);
    expect(statSync(path()).mode & 0o777).toBe(0o600);
    forgetEnd(folder);
    expect(readdirSync(folder)).toEqual([]);
    forgetEnd(folder);
  });

  it('is that of the last agent', () => {
    keepEnd(folder, end);
    const next: AgentEnd = agentEnd(lived, { askedBy: 'SIGINT', leaves: false });
    keepEnd(folder, next);
    expect(endIn(folder)).toStrictEqual(next);
  });

  it('is read whatever was in the reason', () => {
    const odd = agentEnd(lived, new Fatal('\u0000\ud83d'.repeat(2_000), 78));
    keepEnd(folder, odd);
    expect(endIn(folder)?.reason).toHaveLength(2_001);
  });

  it('follows no link that somebody has put there', () => {
    const other = join(folder, 'other');
    writeFileSync(other, 'mine');
    symlinkSync(other, path());
    keepEnd(folder, end);
    expect(endIn(folder)).toStrictEqual(end);
    expect(statSync(other).size).toBe(4);
  });

  it.each([
    ['no JSON', '{"at":'],
    ['something else', '[]'],
    ['no time', JSON.stringify({ ...end, at: 'yesterday\u001b[2J' })],
    ['no code', JSON.stringify({ ...end, code: '78' })],
    ['more than an end has', JSON.stringify({ ...end, reason: 'x'.repeat(20_000) })],
  ])('is not told if the file has %s', (_, text) => {
    writeFileSync(path(), text);
    expect(endIn(folder)).toBeUndefined();
  });

  it('holds nothing up if the folder is gone, or has a folder in its place', () => {
    mkdirSync(path());
    keepEnd(folder, end);
    forgetEnd(folder);
    expect(endIn(folder)).toBeUndefined();
    keepEnd(join(folder, 'gone'), end);
    expect(readdirSync(folder)).toEqual(['ended.json']);
  });
});
