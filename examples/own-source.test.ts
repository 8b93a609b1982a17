import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { sourceContract, type SourceStage } from 'pilot-agent/testing';
import { switches } from './own-source.ts';

/** Each test gets a new folder with a file of switches, and a source that reads it. */
function stage(): SourceStage {
  const folder = mkdtempSync(join(tmpdir(), 'switches-'));
  const path = join(folder, 'switches.json');
  writeFileSync(path, '{ "fast": true }');
  return {
    source: switches(path, 50),
    change: () => writeFileSync(path, '{ "fast": false }'),
    outage: {
      begin: () => renameSync(path, `${path}.away`),
      end: () => renameSync(`${path}.away`, path),
    },
    end: () => rmSync(folder, { recursive: true }),
  };
}

for (const { name, check } of sourceContract(stage)) void test(name, check);
