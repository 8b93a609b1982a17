import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { LogLine } from '../../../../src/shared/log/log-line.ts';
import { checkedConfig } from '../../../../src/pilot-agent/run/check-config.ts';
import { logStart } from '../../../../src/pilot-agent/run/log-start.ts';
import { resolved } from '../../../support/resolved.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'tell-start-'))));
afterEach(() => rmSync(folder, { recursive: true }));

it('at the start of an agent the log has what it is started with, and what is odd about that', async () => {
  const checked = await checkedConfig(resolved({ given: { configPath: folder } }));
  const lines: LogLine[] = [];
  logStart(checked, {
    binary: '/envoy',
    oddities: ['the folder is small'],
    passedOver: [{ path: '/mesh', reason: 'it is a directory' }],
    agentLog: { write: (line) => void lines.push(line) },
  });
  expect(lines.map(({ level, event }) => [level, event])).toEqual([
    ['info', 'agent.started'],
    ['info', 'config.given'],
    ['info', 'rotation.by_restart'],
    ['info', 'config.passed_over'],
    ['warn', 'config.warning'],
  ]);
  expect(lines[0]).toMatchObject({
    component: 'agent',
    envoy: '/envoy',
    configuration: 'generated',
  });
  expect(lines[3]).toMatchObject({ reason: 'it is a directory' });
  expect(lines[4]).toMatchObject({ warning: 'the folder is small' });
});
