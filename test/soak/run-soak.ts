import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeCertificates } from '../../demo/certificates.ts';
import type { LogEvent } from '../../src/shared/log/log-event.ts';
import { makeRig } from '../support/e2e/rig.ts';
import { eventually } from '../support/eventually.ts';

/** The resources that an agent holds while nothing happens. */
export interface Needs {
  readonly rotations: number;
  /** In bytes, after a garbage collection. */
  readonly heap: number;
  readonly resident: number;
  readonly files: number;
  /**
   * The number of handles that keep Node's event loop alive, by kind: timers, sockets, processes,
   * watchers.
   */
  readonly resources: Readonly<Record<string, number>>;
}

interface Report {
  readonly report: number;
  readonly heap: number;
  readonly resources: Readonly<Record<string, number>>;
}

/**
 * Rotates certificates as fast as drains of a whole second allow. Resolves to the needs of the
 * agent after `first` rotations and after all.
 */
export async function runSoak(
  first: number,
  rotations: number,
  onRotation: (rotation: number) => void = () => undefined,
): Promise<readonly [Needs, Needs]> {
  const rig = await makeRig();
  const file = join(rig.folder, 'needs.json');
  try {
    const agent = rig.start(
      ['--minDelay', '0s', '--drainDuration', '0s', '--parentShutdownDuration', '1s'],
      {
        env: {
          NODE_OPTIONS: `--require ${resolve('test/soak/report-needs.cjs')}`,
          SOAK_REPORT: file,
        },
      },
    );
    const has = (event: LogEvent, epoch: number) =>
      agent.output().includes(`"event":"${event}","epoch":${epoch},`);
    const awaitEvent = (event: LogEvent, epoch: number) =>
      eventually(() => has(event, epoch), { within: 20_000 }).catch((error: unknown) => {
        throw new Error(
          `${event} (epoch ${epoch}): ${String(error)}\n${agent.output().slice(-4_000)}`,
        );
      });
    let reports = 0;
    const needs = async (done: number): Promise<Needs> => {
      await sleep(3_000); // pending work has ended by then, and kept connections too
      reports++;
      agent.kill('SIGUSR2');
      const { heap, resources } = await eventually(
        () => read(file)?.report === reports && read(file),
        { within: 10_000 },
      );
      const status = readFileSync(`/proc/${agent.pid}/status`, 'utf8');
      return {
        rotations: done,
        heap,
        resident: 1_024 * Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]),
        files: readdirSync(`/proc/${agent.pid}/fd`).length,
        resources,
      };
    };
    await agent.said('epoch.live', 0);
    let before: Needs | undefined;
    for (let rotation = 1; rotation <= rotations; rotation++) {
      writeCertificates(rig.certDir, await rig.ca.issue());
      await awaitEvent('epoch.live', rotation);
      await awaitEvent('epoch.ended', rotation - 1);
      onRotation(rotation);
      if (rotation === first) before = await needs(rotation);
    }
    if (before === undefined) throw new Error(`there are no ${first} rotations`);
    return [before, await needs(rotations)];
  } finally {
    await rig.dispose();
  }
}

function read(file: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report;
  } catch {
    return undefined;
  }
}
