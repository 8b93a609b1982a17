import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { kubeProgram, startKubeServer } from '../test/support/e2e/kube-server.ts';
import { makeRig } from '../test/support/e2e/rig.ts';
import { hasConsul, startConsul } from '../test/support/consul.ts';
import { cpuOf } from './process-figures.ts';

/** The time until a started agent is at rest, and the time for which it is then watched. In ms. */
const settlingTime = 10_000;
const watched = 60_000;

/**
 * Resolves to the CPU time, in percent of a core, of an agent with an Envoy while nothing changes:
 * without sources, and with a source of each kind. Both agents run in the same minute.
 */
export async function idleAgents(): Promise<{
  readonly alone: number;
  readonly withSources: number;
}> {
  if (kubeProgram === undefined || !hasConsul)
    throw new Error('bench sources needs the programs of ../shared/peers beside this checkout');
  const [kube, consul] = await Promise.all([startKubeServer(), startConsul()]);
  const [alone, other] = [await makeRig(), await makeRig()];
  const web = createServer(({ headers }, response) => {
    const isKnown = headers['if-none-match'] === '"1"';
    response.writeHead(isKnown ? 304 : 200, { etag: '"1"' }).end(isKnown ? undefined : '{}');
  }).listen(0, '127.0.0.1');
  try {
    const folder = join(other.folder, 'watched');
    mkdirSync(folder);
    writeFileSync(join(folder, 'file'), '1');
    const target = { kind: 'kube', namespace: 'default', kubeconfig: kube.kubeconfig };
    const metadata = { namespace: 'default', name: 'settings' };
    await kube.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: '1' } });
    await kube.apply({ apiVersion: 'v1', kind: 'Secret', metadata, data: {} });
    await consul.ask('PUT', 'kv/settings', 'runtime: {}');
    const file = join(other.folder, 'agent.json');
    const sources = [
      { kind: 'files', name: 'files', paths: [folder] },
      {
        kind: 'http',
        name: 'http',
        as: 'restart',
        url: `http://127.0.0.1:${(web.address() as AddressInfo).port}/`,
      },
      { ...target, name: 'map', resource: 'ConfigMap', object: 'settings' },
      { ...target, name: 'secret', resource: 'Secret', object: 'settings' },
      {
        kind: 'consul',
        name: 'consul',
        address: consul.address,
        prefix: 'settings',
        as: 'runtime',
      },
    ];
    writeFileSync(file, JSON.stringify({ sources }));
    const agents = [alone.start(), other.start(['--config', file])];
    for (const agent of agents) await agent.said('epoch.live', 0);
    await sleep(settlingTime);
    const before = agents.map(({ pid }) => cpuOf(pid));
    await sleep(watched);
    const [first = NaN, second = NaN] = agents.map(
      ({ pid }, place) => ((cpuOf(pid) - (before[place] ?? NaN)) / watched) * 100,
    );
    return { alone: first, withSources: second };
  } finally {
    web.close();
    await Promise.all([alone.dispose(), other.dispose(), kube.dispose(), consul.dispose()]);
  }
}
