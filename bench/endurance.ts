import { setTimeout as sleep } from 'node:timers/promises';
import type { Contender } from './contenders.ts';
import type { Report } from './figures.ts';
import { type Memory, memoryOf } from './process-figures.ts';
import { rotate, rotationScene } from './rotations.ts';
import { fullLoad, merging, statusScene } from './status.ts';

/** V8 returns unused memory after some seconds. In ms. */
const settlingTime = 30_000;
/** Memory is read after these fractions of the rotations and of the minutes. */
const parts = [1 / 60, 1 / 12, 1 / 4, 1 / 2, 1];

/**
 * `bench endurance [MINUTES]`: the memory of an agent after an hour of full load on the status
 * port, and of another agent after an hour with 5 rotations a minute. Both run at once, each over
 * its own Envoy.
 */
export async function endurance(minutes = 60): Promise<Report> {
  const [loaded, rotated] = await Promise.all([load(minutes), turn(minutes * 5)]);
  return {
    columns: ['What', 'Own (RssAnon), MB', 'RSS, MB'],
    rows: [...loaded, ...rotated],
    notes: [
      `The agent is the single executable. Full load is readiness probes and scrapes of merged metrics (10 KB), in turns of 4 s. 8 clients ask again as soon as they get an answer. Memory is read ${settlingTime / 1_000} s after the load. Each rotation is for a new certificate, with \`--minDelay 0s\`.`,
    ],
  };
}

const inMinutes = (count: number | string): string =>
  `${count} ${Number(count) === 1 ? 'minute' : 'minutes'}`;

async function load(minutes: number): Promise<readonly (readonly string[])[]> {
  const scene = await statusScene(10);
  const rows: (readonly string[])[] = [];
  try {
    const life = scene.start(chosen(scene.contenders), merging(scene));
    await life.ready();
    await sleep(settlingTime);
    rows.push(row('at rest, before the load', memoryOf(life.pid)));
    let done = 0;
    for (const part of parts) {
      const failed = await fullLoad(scene, (part - done) * minutes);
      done = part;
      await sleep(settlingTime);
      rows.push(
        row(
          `after ${inMinutes(round(part * minutes))} of full load, ${failed} requests failed`,
          memoryOf(life.pid),
        ),
      );
    }
    await life.end();
    return rows;
  } finally {
    scene.dispose();
  }
}

async function turn(number: number): Promise<readonly (readonly string[])[]> {
  const scene = await rotationScene();
  const rows: (readonly string[])[] = [];
  try {
    await scene.whileLive(
      chosen(scene.contenders),
      async ({ pid }) => {
        await sleep(settlingTime);
        rows.push(row('at rest, before the rotations', memoryOf(pid)));
        let done = 0;
        for (const part of parts) {
          await rotate(scene, done + 1, Math.round(part * number));
          done = Math.round(part * number);
          rows.push(row(`after ${done} rotations`, memoryOf(pid)));
        }
      },
      { flags: ['--minDelay', '0s'] },
    );
    return rows;
  } finally {
    scene.dispose();
  }
}

function chosen(contenders: readonly Contender[]): Contender {
  const executable = contenders.find(({ name }) => name === 'Executable');
  if (executable === undefined)
    throw new Error('there is no executable: run `npm run package` first');
  return executable;
}

function row(what: string, { anonymous, rss }: Memory): readonly string[] {
  return [what, anonymous.toFixed(1), rss.toFixed(1)];
}

function round(minutes: number): string {
  return String(Number(minutes.toPrecision(2)));
}
