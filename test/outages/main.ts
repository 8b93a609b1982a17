import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { machineText, writePage } from '../support/write-page.ts';
import { type Consul, startConsul, startConsulServers } from '../support/consul.ts';
import { pluggedAuthority, testIssuer } from '../support/plugged-authority.ts';
import { issuerOutages } from './ca-issuer-outages.ts';
import { keyOutages } from './ca-key-outages.ts';
import { caOutages } from './ca-outages.ts';
import { places, twoRoots } from './ca-root-outages.ts';
import { type CaStage, startCaStage } from './ca-stage.ts';
import { aclDenied, indexReset, leaderLost, readAll } from './consul-outages.ts';
import { startConsulStage } from './consul-stage.ts';
import { kubeOutages } from './kube-outages.ts';
import { startKubeStage } from './kube-stage.ts';
import type { Outage, OutageReport } from './outage.ts';
import { groups, report, type Results } from './report.ts';
import { type CaOutage, runCaOutage } from './run-ca-outage.ts';
import { type MarkedMesh, runOutage } from './run-outages.ts';

const options = {
  /** Runs the faults whose names have one of these texts. */
  only: { type: 'string', multiple: true, default: [''] as string[] },
  /** Keeps the results, and writes the report. */
  write: { type: 'boolean', default: false },
} as const;
const { only, write } = parseArgs({ options }).values;

const resultsFile = 'test/outages/results.json';
const reports: OutageReport[] = [];
await overKubernetes();
await overConsul();
await overAuthority();

if (reports.some(({ violations }) => violations.length > 0)) process.exitCode = 1;

interface Stage {
  dispose(): Promise<void>;
}

/** Runs the wanted faults, if there are any, over one stage. */
async function each<W extends Stage, O extends { readonly name: string }>(
  group: string,
  outages: readonly O[],
  start: () => Promise<W>,
  runOne: (stage: W, outage: O, index: number) => Promise<OutageReport>,
): Promise<void> {
  const wanted = outages.filter(({ name }) => only.some((text) => name.includes(text)));
  if (wanted.length === 0) return;
  const stage = await start();
  try {
    for (const [index, outage] of wanted.entries()) {
      const done = await runOne(stage, outage, index);
      reports.push(done);
      console.log(done);
      if (write) await save(group, done);
    }
  } finally {
    await stage.dispose();
  }
}

function overMesh<W extends MarkedMesh & Stage>(
  group: string,
  outages: readonly Outage<W>[],
  start: () => Promise<W>,
): Promise<void> {
  return each(group, outages, start, runOutage);
}

function overKubernetes(): Promise<void> {
  return overMesh('Kubernetes', kubeOutages, startKubeStage);
}

async function overAuthority(): Promise<void> {
  const over = (outages: readonly CaOutage[], start: () => Promise<CaStage>) =>
    each(groups.authority, outages, start, (stage, outage, index) =>
      runCaOutage(stage, outage, `rule ${index}`),
    );
  const root = await testIssuer();
  const plugged = await pluggedAuthority({}, root);
  await over([...keyOutages(plugged, root), ...issuerOutages, ...caOutages], () =>
    startCaStage(plugged),
  );
  for (const place of ['one file', 'a Secret'] as const) {
    const launch = { env: places[place] };
    await over([twoRoots(place)], () => startCaStage(undefined, [launch, launch]));
  }
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
    await overMesh('Consul', [indexReset], async () => stageOf([await startConsul()]));
    await overMesh('Consul', [leaderLost], async () => {
      const all = await startConsulServers(3);
      const isLeader = await Promise.all(all.map(leads));
      return stageOf(
        [...all].sort(
          (a, b) => Number(isLeader[all.indexOf(a)]) - Number(isLeader[all.indexOf(b)]),
        ),
      );
    });
    await overMesh('Consul', [aclDenied(tokenFile)], async () => {
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
