import { setTimeout as sleep } from 'node:timers/promises';
import { readFileSync } from 'node:fs';
import { writeCertificates } from '../demo/certificates.ts';
import { envoyConfig } from '../demo/envoy-config.ts';
import { ask } from '../test/support/ask.ts';
import { processesOf } from '../test/support/e2e/rig.ts';
import { collected, type Report } from './figures.ts';
import { memoryOf } from './process-figures.ts';
import { type Life, makeScene, type Scene } from './scene.ts';

/** The default wait of all agents after a change. Go 1.5 has no flag that changes it. In ms. */
const minDelay = 10_000;
/** The number of rotations of each contender whose time is measured. */
const timed = 3;
const longest = 60_000;

/**
 * `bench rotations [NUMBER]`: the time from the change of a certificate until the next Envoy is
 * LIVE, without the window in which changes are gathered; and how much more memory an agent uses
 * after NUMBER rotations (default: 30).
 */
export async function rotations(number = 30): Promise<Report> {
  const scene = await rotationScene();
  const { add, figures } = collected();
  try {
    for (const contender of scene.contenders) {
      const { name, kind } = contender;
      if (kind === 'go-1.30') continue; // it has no hot restart
      await scene.whileLive(contender, () =>
        rotate(scene, 1, timed, (ms) => add('rotated', name, ms - minDelay)),
      );
      if (kind === 'go-1.5') continue; // each rotation takes 10 s
      const gains = async ({ pid }: Life) => {
        const before = memoryOf(pid);
        await rotate(scene, 1, number);
        add('rotated-more', name, memoryOf(pid).rss - before.rss);
      };
      await scene.whileLive(contender, gains, { flags: ['--minDelay', '0s'] });
    }
  } finally {
    scene.dispose();
  }
  return {
    figures: figures(),
    notes: [
      `The time is from the change to LIVE, without the window of 10 s: medians of ${timed} rotations each. In the window this agent lets Envoy check the change. Memory is after ${number} rotations; \`npm run bench -- rotations 300\` makes more.`,
    ],
  };
}

/** The scene of all rotations: an Envoy with a certificate. */
export function rotationScene(): Promise<Scene> {
  return makeScene(({ ports, certDir }) =>
    envoyConfig({ adminPort: ports.admin, listenPort: ports.listen, certDir }),
  );
}

/**
 * Changes the certificate once for each epoch from the first to the last, each time after the last
 * parent has ended. Resolves to the ms from each change until the Envoy of that epoch is LIVE.
 */
export async function rotate(
  scene: Scene,
  first: number,
  last: number,
  took: (ms: number) => void = () => undefined,
): Promise<void> {
  await sleep(3_000);
  for (let epoch = first; epoch <= last; epoch++) {
    took(await rotated(scene, epoch));
    while (envoys(scene.folder) > 1) await sleep(20);
  }
}

async function rotated({ certDir, ca, ports }: Scene, epoch: number): Promise<number> {
  const issued = await ca.issue();
  const begun = performance.now();
  writeCertificates(certDir, issued);
  for (;;) {
    const { body } = await ask(ports.admin, '/server_info');
    const took = performance.now() - begun;
    if (
      body.includes('"state": "LIVE"') &&
      Number(/"restart_epoch": (\d+)/.exec(body)?.[1]) === epoch
    )
      return took;
    if (took > longest) throw new Error(`epoch ${epoch} is not LIVE after ${longest / 1_000} s`);
    await sleep(2);
  }
}

function envoys(folder: string): number {
  return processesOf(folder).filter((pid) => commandOf(pid).includes('--restart-epoch')).length;
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // it has ended
  }
}
