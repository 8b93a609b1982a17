import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { removeFifos } from '../../../../../src/pilot-agent/run/start/take-over.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'pilot-agent-fifos-'))));
afterEach(() => rmSync(folder, { recursive: true }));

it('the FIFOs of a killed agent are removed, and nothing else', () => {
  const others = ['SDS', 'envoy-rev12.json', 'envoy.log', 'my.stderr'];
  for (const name of others) writeFileSync(join(folder, name), '');
  for (const name of [
    'envoy-rev0.stderr',
    'envoy-rev12.stderr',
    'envoy-check.stderr',
    'envoy-ahead.stderr',
  ])
    execFileSync('mkfifo', [join(folder, name)]);
  removeFifos(folder);
  expect(readdirSync(folder).toSorted()).toEqual(others);
});
