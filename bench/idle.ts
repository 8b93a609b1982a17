import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { envoyConfig } from '../demo/envoy-config.ts';
import { runtimes } from './contenders.ts';
import { collected, type Report } from './figures.ts';
import { cpuOf, memoryOf } from './process-figures.ts';
import { makeScene } from './scene.ts';

/**
 * The time from LIVE until an agent is at rest: V8 has then returned the memory of the start. In
 * ms.
 */
const settlingTime = 20_000;

/**
 * `bench idle [SECONDS]`: the memory and CPU time of each agent with an Envoy while no client sends
 * a request, and of a Node that waits.
 */
export async function idle(seconds = 40): Promise<Report> {
  const scene = await makeScene(({ ports, certDir }) =>
    envoyConfig({ adminPort: ports.admin, listenPort: ports.listen, certDir }),
  );
  const { add, figures } = collected();
  const look = (name: string, pid: number) => {
    const { rss, anonymous, pss } = memoryOf(pid);
    add('idle-rss', name, rss);
    add('idle-own', name, anonymous);
    add('idle-pss', name, pss);
  };
  try {
    for (const { name, path } of runtimes()) {
      const waiting = spawn(path, ['-e', 'setInterval(() => {}, 1e6)'], { stdio: 'ignore' });
      await sleep(1_000);
      look(`bare ${name}`, waiting.pid ?? 0);
      waiting.kill();
    }
    for (const contender of scene.contenders) {
      await scene.whileLive(contender, async ({ pid }) => {
        await sleep(settlingTime);
        const before = cpuOf(pid);
        await sleep(seconds * 1_000);
        add('idle-cpu', contender.name, (cpuOf(pid) - before) / (seconds * 10));
        look(contender.name, pid);
      });
    }
  } finally {
    scene.dispose();
  }
  return {
    figures: figures(),
    notes: [
      `One run of each, watched for ${seconds} s after ${settlingTime / 1_000} s of rest. RssAnon is the memory of a process that belongs to no file. In Pss a page that n processes share counts 1/n.`,
    ],
  };
}
