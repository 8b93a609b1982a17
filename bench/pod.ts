import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Kube, kubeProgram, startKube } from '../test/support/e2e/kube.ts';
import { makePod, type MeshPod } from '../test/support/e2e/mesh-pod.ts';
import type { StartOptions } from '../test/support/e2e/rig.ts';
import { ask } from '../test/support/ask.ts';
import { connects } from '../test/support/connects.ts';
import { freePorts } from '../test/support/free-ports.ts';
import { startUpstream } from '../test/support/upstream.ts';
import { median } from './median.ts';
import { contenders as everybody, goThirty, installedEnvoy, peer } from './contenders.ts';
import type { Report } from './figures.ts';
import { memoryOf } from './process-figures.ts';

/** An agent in a pod of its own. */
interface Contender {
  readonly name: string;
  readonly pod: MeshPod;
  readonly flags: readonly string[];
  readonly options: Pick<StartOptions, 'env' | 'wrap'>;
}

/** In ms; memory in MB. */
interface Life {
  readonly ready: number;
  readonly rss: number;
  readonly anonymous: number;
  readonly pss: number;
  readonly pushes: readonly number[];
}

/** An agent counts as idle this long after it is ready. In ms. */
const settle = 3_000;
/** The number of changes in each run of an agent. */
const changes = 3;
/** In ms. */
const longest = 60_000;

/**
 * `bench pod [ROUNDS]`: an agent in a pod of a real mesh. It measures the time from exec of the
 * agent to 200 at readiness, its memory when idle, and the time from a change in the Kubernetes API
 * to the listener in Envoy. This agent with and without the xDS proxy and the Go agent 1.30 take
 * turns in one run. Figures are medians.
 */
export async function pod(rounds = 9): Promise<Report> {
  if (kubeProgram === undefined)
    throw new Error('bench pod needs the program ../shared/peers/kube beside this checkout');
  const [kube, upstream] = [await startKube(), await startUpstream()];
  const contenders: Contender[] = [];
  try {
    const ownContenders = everybody().filter(({ kind }) => kind === 'own');
    const make = async (
      name: string,
      podName: string,
      flags: readonly string[] = [],
      wrap: readonly string[] = [],
    ) => {
      contenders.push({
        name,
        pod: await makePod(kube, upstream.port, { name: podName }),
        flags,
        options: { wrap },
      });
    };
    for (const [index, { name, command }] of ownContenders.entries())
      await make(name, `proxied-${index}`, [], runs(command[0] ?? '', 3 - command.length));
    await make('`--xdsProxy=false`', 'direct', ['--xdsProxy=false']);
    contenders.push(await goAgent(kube, upstream.port));

    const lives = new Map<string, Life[]>(contenders.map(({ name }) => [name, []]));
    for (let round = 0; round < rounds; round++)
      for (const contender of contenders) lives.get(contender.name)?.push(await live(contender));
    return report(
      contenders.map(({ name }) => [name, lives.get(name) ?? []]),
      rounds,
    );
  } finally {
    await Promise.all(contenders.map((contender) => contender.pod.dispose()));
    await Promise.all([kube.dispose(), upstream.close()]);
  }
}

function report(
  all: readonly (readonly [name: string, lives: readonly Life[]])[],
  rounds: number,
): Report {
  const row = (
    what: string,
    unit: string,
    digits: number,
    figuresOf: (life: Life) => readonly number[],
  ) => {
    const values = all.map(([, lives]) => median(lives.flatMap(figuresOf)));
    const ratio = (values[0] ?? Number.NaN) / (values.at(-1) ?? Number.NaN);
    return [
      what,
      ...values.map((value) => `${value.toFixed(digits)} ${unit}`),
      `${ratio.toFixed(2)} × Go`,
    ];
  };
  const figure = (figureOf: (life: Life) => number) =>
    Object.fromEntries(all.map(([name, lives]) => [name, median(lives.map(figureOf))]));
  return {
    figures: {
      'pod-ready': figure(({ ready }) => ready),
      'pod-rss': figure(({ rss }) => rss),
      'pod-own': figure(({ anonymous }) => anonymous),
      'pod-pss': figure(({ pss }) => pss),
    },
    columns: ['What', ...all.map(([name]) => name), 'Ratio'],
    rows: [
      row('exec → 200 at readiness', 'ms', 0, ({ ready }) => [ready]),
      row('memory when idle (RSS)', 'MB', 1, ({ rss }) => [rss]),
      row('of that its own (RssAnon)', 'MB', 1, ({ anonymous }) => [anonymous]),
      row('change in the API → listener', 'ms', 0, ({ pushes }) => pushes),
    ],
    notes: [
      `Medians of ${rounds} starts each, and of ${rounds * changes} changes. The Kubernetes API, istiod and its certificate authority are real, and on the same machine. istiod waits 100 ms for further changes before a push; that is part of each figure.`,
    ],
  };
}

async function live({ pod, flags, options }: Contender): Promise<Life> {
  rmSync(pod.proxyConfig.configPath, { recursive: true, force: true });
  const started = performance.now();
  const agent = pod.start(flags, options);
  try {
    while ((await pod.ready()).status !== 200) {
      if (performance.now() - started > longest)
        throw new Error(
          `${flags.join(' ')}: not ready: ${(await pod.ready()).body}\n${agent.output()}${agent.errors()}`,
        );
      await sleep(2);
    }
    const ready = performance.now() - started;
    await sleep(settle);
    const pushes: number[] = [];
    for (const port of await freePorts(changes)) {
      await pod.serve(port, 'moved');
      const changed = performance.now();
      while (!(await connects(port))) await sleep(1);
      pushes.push(performance.now() - changed);
    }
    return { ready, ...memoryOf(agent.pid), pushes };
  } finally {
    agent.kill('SIGKILL');
    await agent.exit;
    for (const pid of pod.processes()) spawnSync('kill', ['-KILL', String(pid)]);
    while (pod.processes().length > 0) await sleep(5);
  }
}

/**
 * The Go agent 1.30. Its bootstrap template is the bootstrap of this agent, with the socket names
 * of the Go agent.
 */
async function goAgent(kube: Kube, target: number): Promise<Contender> {
  const [go = '', envoy] = [peer('pilot-agent-1.30'), installedEnvoy()];
  const pod = await makePod(kube, target, { name: 'go' });
  const agent = pod.start();
  while ((await ask(pod.ports.admin, '/ready')).status === 0) await sleep(20);
  agent.kill('SIGKILL');
  const { configPath } = pod.proxyConfig;
  const bootstrap = JSON.parse(readFileSync(join(configPath, 'envoy-rev0.json'), 'utf8')) as {
    static_resources: { clusters: { name: string }[] };
  };
  const sockets = {
    'xds-grpc': join(configPath, 'XDS'),
    'sds-grpc': './var/run/secrets/workload-spiffe-uds/socket',
  };
  const clusters = Object.entries(sockets).map(([name, path]) => ({
    name,
    type: 'STATIC',
    connect_timeout: '1s',
    http2_protocol_options: {},
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: { pipe: { path } } } }] }],
    },
  }));
  const others = bootstrap.static_resources.clusters.filter(({ name }) => !(name in sockets));
  const template = join(pod.folder, 'bootstrap.json');
  writeFileSync(
    template,
    JSON.stringify({
      ...bootstrap,
      static_resources: { ...bootstrap.static_resources, clusters: [...others, ...clusters] },
    }),
  );
  const proxyConfig = {
    ...pod.proxyConfig,
    binaryPath: envoy,
    proxyBootstrapTemplatePath: template,
  };
  return {
    name: goThirty,
    pod,
    flags: [],
    options: { wrap: runs(go, 2), env: { PROXY_CONFIG: JSON.stringify(proxyConfig) } },
  };
}

/**
 * A command that runs a program instead of its first `instead` arguments (Node, or Node and this
 * agent).
 */
function runs(path: string, instead = 1): readonly string[] {
  return ['sh', '-c', `shift ${instead} && exec "$0" "$@"`, path];
}
