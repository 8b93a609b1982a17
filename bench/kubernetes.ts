import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DeltaDiscoveryResponse } from '../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { typeUrls } from '../src/pilot-discovery/push/view.ts';
import {
  endKubeProgram,
  kubeProgram,
  type KubeServer,
  portsInARow,
  startKubeProgram,
  startKubeServer,
} from '../test/support/e2e/kube-server.ts';
import { acceptingClient } from '../test/support/proxy-client.ts';
import { type Contender, istiodOf, startPilotDiscovery, unlimited } from './control-planes.ts';
import { type Figures, collected, type Report } from './figures.ts';
import { fleetProgram, runFleet } from './fleet.ts';
import { changePod, fillKube, kubeCounts } from './kube-services.ts';
import { cpuOf, memoryOf } from './process-figures.ts';
import { columnsBesideIstiod, rowBesideIstiod } from './row-beside-istiod.ts';

const [proxies, namespaces, changesPerStart] = [100, 10, 15];

/**
 * `bench kubernetes [STARTS]`: pilot-discovery and a real istiod in turns, over one Kubernetes API.
 * It measures the time from the start until a proxy has all clusters, and from a Pod that becomes
 * ready until the last proxy has it.
 */
export async function kubernetes(starts = 3): Promise<Report> {
  if (kubeProgram === undefined || !existsSync(fleetProgram))
    throw new Error('bench kubernetes needs the programs of ../shared/peers beside this checkout');
  const kube = await startKubeServer();
  try {
    await fillKube(kube);
    const { add, figures } = collected();
    for (let start = 0; start < starts; start += 1)
      for (const who of ['ours', 'istiod'] as const)
        for (const [what, value] of Object.entries(await measured(kube, who)))
          add(what, who, value);
    return report(figures(), starts);
  } finally {
    await kube.dispose();
  }
}

function report(figures: Figures, starts: number): Report {
  const { services, pods } = kubeCounts;
  const row = (
    what: string,
    keys: readonly string[],
    units: readonly string[],
    goals: readonly number[] = [],
  ): string[] => {
    const valuesOf = (who: Contender) => keys.map((key) => figures[key]?.[who] ?? NaN);
    const scene = `${services} × ${proxies}`;
    return rowBesideIstiod({
      scene,
      what,
      units,
      goals,
      ours: valuesOf('ours'),
      istiod: valuesOf('istiod'),
    });
  };
  return {
    columns: columnsBesideIstiod,
    rows: [
      row('start → a proxy has all clusters', ['start', 'startCpu'], ['ms', 'ms CPU']),
      row('all connect', ['connect'], ['ms']),
      row('a Pod becomes ready → the last proxy', ['pod', 'podCpu'], ['ms', 'ms CPU'], [0.5, 0.5]),
      row('memory after the changes', ['rss'], ['MB']),
      row('memory at most', ['peak'], ['MB'], [0.6]),
    ],
    notes: [
      `The source is a real Kubernetes API with ${services} Services, their EndpointSlices, and ${pods} Pods. The proxies are in ${namespaces} namespaces and use incremental xDS. ` +
        `A Pod becomes ready when its status is written and then its EndpointSlice; the time includes both writes. Medians of ${starts} starts in turns, with ${changesPerStart} Pods each. ` +
        'istiod runs without its limit of requests.',
      'Both programs send one answer per proxy for a Pod. Most of the CPU time of a Pod is the cost of JavaScript per answer, and the last proxy waits for it.',
    ],
  };
}

/** Starts a control plane over the API, loads it with proxies, and ends it. */
async function measured(
  kube: KubeServer,
  who: Contender,
): Promise<Readonly<Record<string, number>>> {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-bench-'));
  const port = await portsInARow(4);
  const child = who === 'ours' ? startOurs(kube, folder, port) : startIstiod(kube, port);
  const changes = watch(folder, (_, name) => {
    const [, address] =
      /address: ([\d.]+)/.exec(readFileSync(join(folder, name ?? ''), 'utf8')) ?? [];
    if (address !== undefined) void changePod(kube, address);
  });
  try {
    const pid = who === 'ours' ? (child.pid ?? 0) : await istiodOf(child.pid ?? 0);
    const begun = performance.now();
    await firstClusters(port);
    const start = performance.now() - begun;
    const startCpu = cpuOf(pid);
    const fleet = { folder, port, pid, proxies, namespaces, delta: true, rounds: changesPerStart };
    const {
      connect,
      peak,
      changes: { eds },
    } = await runFleet({ ...fleet, changes: ['eds'] });
    return {
      start,
      startCpu,
      connect,
      peak,
      pod: eds.last,
      podCpu: eds.cpu,
      rss: memoryOf(pid).rss,
    };
  } finally {
    changes.close();
    if (who === 'istiod') await endKubeProgram(child);
    else {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    rmSync(folder, { recursive: true, force: true });
  }
}

const startOurs = ({ kubeconfig }: KubeServer, folder: string, port: number): ChildProcess =>
  startPilotDiscovery(['--registries', 'Kubernetes', '--kubeconfig', kubeconfig], {
    ...{ port, cwd: folder },
    servers: ['grpcAddr', 'httpAddr', 'secureGRPCAddr', 'monitoringAddr'],
  });

const startIstiod = ({ folder }: KubeServer, port: number): ChildProcess =>
  startKubeProgram('istiod', folder, port, unlimited);

/** Resolves when a proxy has a cluster for each service. It asks until it gets an answer. */
async function firstClusters(port: number): Promise<void> {
  for (;;) {
    const client = acceptingClient(
      port,
      'sidecar~10.9.0.1~first.ns0~ns0.svc.cluster.local',
      typeUrls.cluster,
    );
    while (client.answers.length === 0 && client.statuses.length === 0) await sleep(2);
    client.close();
    if (clustersIn(client.answers) >= kubeCounts.services) return;
    await sleep(20);
  }
}

const clustersIn = (answers: readonly DeltaDiscoveryResponse[]): number =>
  answers.flatMap(({ resources }) => resources).filter(({ name }) => name.startsWith('outbound|'))
    .length;
