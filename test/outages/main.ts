import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { machineText, writePage } from '../support/write-page.ts';
import { type Consul, startConsul, startConsulServers } from '../support/consul.ts';
import { aclDenied, indexReset, leaderLost, readAll } from './consul-outages.ts';
import { startConsulStage } from './consul-stage.ts';
import { kubeOutages } from './kube-outages.ts';
import { startKubeStage } from './kube-stage.ts';
import type { Outage, OutageReport } from './outage.ts';
import { report, type Results } from './report.ts';
import { type MarkedMesh, runOutage } from './run-outages.ts';

const options = {
  /** Runs the faults whose names have this text. */
  only: { type: 'string', default: '' },
  /** Keeps the results, and writes the report. */
  write: { type: 'boolean', default: false },
} as const;
const { only, write } = parseArgs({ options }).values;

const resultsFile = 'test/outages/results.json';
const reports: OutageReport[] = [];
await overKubernetes();
await overConsul();

if (reports.some(({ violations }) => violations.length > 0)) process.exitCode = 1;

/** Runs the faults that are asked for, if there are any, over one stage. */
async function each<W extends MarkedMesh & { dispose(): Promise<void> }>(
  group: string,
  outages: readonly Outage<W>[],
  start: () => Promise<W>,
): Promise<void> {
  const wanted = outages.filter(({ name }) => name.includes(only));
  if (wanted.length === 0) return;
  const stage = await start();
  try {
    for (const outage of wanted) {
      const done = await runOutage(stage, outage);
      reports.push(done);
      console.log(done);
      if (write) await save(group, done);
    }
  } finally {
    await stage.dispose();
  }
}

function overKubernetes(): Promise<void> {
  return each('Kubernetes', kubeOutages, startKubeStage);
}

async function overConsul(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-outages-'));
  const tokenFile = join(folder, 'token');
  const servers: Consul[] = [];
  const stageOf = async (started: readonly Consul[], token?: string) => {
    servers.push(...started);
    return startConsulStage(started, token);
  };
  try {
    await each('Consul', [indexReset], async () => stageOf([await startConsul()]));
    await each('Consul', [leaderLost], async () => {
      const all = await startConsulServers(3);
      const isLeader = await Promise.all(all.map(leads));
      return stageOf(
        [...all].sort(
          (a, b) => Number(isLeader[all.indexOf(a)]) - Number(isLeader[all.indexOf(b)]),
        ),
      );
    });
    await each('Consul', [aclDenied(tokenFile)], async () => {
      const consul = await startConsul({ acl: true });
      writeFileSync(tokenFile, await consul.token(readAll));
      return stageOf([consul], tokenFile);
    });
  } finally {
    await Promise.all(servers.map((server) => server.dispose()));
    rmSync(folder, { recursive: true });
  }
}

async function leads(server: Consul): Promise<boolean> {
  const self = (await server.ask('GET', 'agent/self')) as {
    readonly Stats: { readonly consul: { readonly leader: string } };
  };
  return self.Stats.consul.leader === 'true';
}

async function save(group: string, done: OutageReport): Promise<void> {
  const results = (
    existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, 'utf8')) : {}
  ) as Results;
  const before = results[group] ?? [];
  const isNew = before.every(({ name }) => name !== done.name);
  const outages = isNew
    ? [...before, done]
    : before.map((outage) => (outage.name === done.name ? done : outage));
  const all: Results = { ...results, [group]: outages };
  writeFileSync(resultsFile, `${JSON.stringify(all, undefined, 2)}\n`);
  await writePage('test/outages/report.md', report(all, machineText()));
}
