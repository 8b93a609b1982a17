import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { envoyConfig } from '../demo/envoy-config.ts';
import { runtimes } from './contenders.ts';
import { collected, type Report } from './figures.ts';
import { makeScene } from './scene.ts';

/**
 * `bench start [ROUNDS]`: the time from exec of each agent to the start of Envoy's process, and to
 * LIVE; and the time of a Node that does nothing, for each version. All take turns in one run.
 */
export async function start(rounds = 15): Promise<Report> {
  const scene = await makeScene(({ ports, certDir }) =>
    envoyConfig({ adminPort: ports.admin, listenPort: ports.listen, certDir }),
  );
  const { add, figures } = collected();
  try {
    for (let round = 0; round < rounds; round++) {
      for (const { name, path } of runtimes()) {
        const begun = performance.now();
        spawnSync(path, ['-e', '0']);
        add('spawned', `bare ${name}`, performance.now() - begun);
      }
      for (const contender of scene.contenders) {
        await scene.whileLive(contender, ({ started }) => {
          add('live', contender.name, performance.timeOrigin + performance.now() - started);
          add('spawned', contender.name, statSync(scene.stamp).mtimeMs - started);
          return Promise.resolve();
        });
      }
    }
  } finally {
    scene.dispose();
  }
  return {
    figures: figures(),
    notes: [
      `Medians of ${rounds} starts each. The bundle has the code cache of the Node that built it; other Nodes refuse that cache. Bare Node is \`node -e 0\`, from exec to its end.`,
    ],
  };
}
