import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { files } from '../src/pilot-agent/sources/files.ts';
import { sourceSigns, type SourceSign } from '../src/streams/readings.ts';
import { idleAgents } from './idle-agents.ts';
import { median } from './median.ts';
import type { Report } from './figures.ts';

const count = 10_000;
/** The size of each file, in bytes. */
const size = 1_024;
const events = 100_000;
/** In ms. */
const minDelay = 10_000;
const idle = 60_000;

/**
 * `bench sources [ROUNDS]`: a folder of 10,000 files as a source. It measures the time from the
 * change of a file to the new hash, and the bytes that are read for it; the readings and the memory
 * that a burst of 100,000 events causes; and the CPU time while nothing changes.
 */
export async function sources(rounds = 50): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-bench-'));
  const fileAt = (n: number) => join(folder, `file-${n}`);
  for (let n = 0; n < count; n++) writeFileSync(fileAt(n), `${n}`.padEnd(size));
  const signs: { readonly sign: SourceSign<unknown>; readonly at: number }[] = [];
  const failed = (error: unknown) => {
    throw error;
  };
  const listening = sourceSigns(files([folder], { firstWithin: 60_000 }), { minDelay }).subscribe({
    next: (sign) => signs.push({ sign, at: performance.now() }),
    error: failed,
  });
  const signsOf = (type: SourceSign<unknown>['type']) =>
    signs.filter(({ sign }) => sign.type === type);
  const until = async (condition: () => boolean) => {
    while (!condition()) await sleep(2);
  };
  try {
    // This reading shows that the watch has begun.
    await until(() => signsOf('source-read').length > 0);
    await sleep(2_000);

    const [times, read]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      const [changesBefore, before, begun] = [
        signsOf('changed').length,
        bytesRead(),
        performance.now(),
      ];
      appendFileSync(fileAt(round), 'x');
      await until(() => signsOf('changed').length > changesBefore);
      times.push((signsOf('changed').at(-1)?.at ?? NaN) - begun);
      await sleep(1_500); // no event follows then
      read.push(bytesRead() - before);
    }
    await sleep(minDelay);

    const [readings, memory] = [signsOf('read').length, process.memoryUsage().rss];
    let most = memory;
    const sampling = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 20);
    const begun = performance.now();
    await burst(folder);
    const lasted = performance.now() - begun;
    await sleep(2 * minDelay - lasted);
    clearInterval(sampling);
    const after = signsOf('read').length - readings;

    const before = process.cpuUsage();
    await sleep(idle);
    const { user, system } = process.cpuUsage(before);

    const agents = await idleAgents();

    const sorted = times.toSorted((a, b) => a - b);
    const row = (what: string, value: string, goal: string) => [what, value, goal];
    return {
      columns: ['What', 'Value', 'Goal'],
      rows: [
        row(
          'one of 10,000 files changes → the new hash (p50)',
          `${median(sorted).toFixed(0)} ms`,
          '≤ 50 ms',
        ),
        row(
          '… (p99)',
          `${(sorted[Math.ceil(sorted.length * 0.99) - 1] ?? NaN).toFixed(0)} ms`,
          '–',
        ),
        row('… read for it, of 10 MB', `${(median(read) / 1_024).toFixed(1)} KB`, 'that file'),
        row(
          `${events.toLocaleString('en')} events in ${(lasted / 1_000).toFixed(1)} s → readings`,
          String(after),
          '1',
        ),
        row(
          '… memory that it takes (RSS, most)',
          `${((most - memory) / (1 << 20)).toFixed(1)} MB`,
          'bounded',
        ),
        row(
          'CPU while nothing changes, of a core',
          `${((user + system) / 10 / idle).toFixed(2)} %`,
          '≤ 0.1 %',
        ),
        row('CPU of an agent at rest without sources', `${agents.alone.toFixed(2)} %`, '–'),
        row('… with five, of all kinds', `${agents.withSources.toFixed(2)} %`, '≤ 0.1 %'),
      ],
      notes: [
        `The source is a folder of ${count.toLocaleString('en')} files of 1 KB, with \`as: restart\`. It has ${rounds} changes, each after a pause. 5 ms of each time are the window for the events of a change. The burst is ${events.toLocaleString('en')} writes to 1,000 of the files by another process, in a window of \`--minDelay\`. The source with its window runs in its own process, without Envoy. Both agents at rest are watched during the same minute.`,
      ],
    };
  } finally {
    listening.unsubscribe();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The bytes that this process has read so far, from files and everything else. */
function bytesRead(): number {
  return Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
}

/** Another process writes, and each write is an event. */
async function burst(folder: string): Promise<void> {
  const code = `const { openSync, writeSync } = require('node:fs');
const files = Array.from({ length: 1000 }, (_, n) => openSync(process.argv[1] + '/file-' + n, 'a'));
for (let n = 0; n < ${events}; n++) writeSync(files[n % files.length], 'x');`;
  await once(spawn(process.execPath, ['-e', code, folder], { stdio: 'inherit' }), 'exit');
}
