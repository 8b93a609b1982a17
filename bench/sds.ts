import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { certificateFiles, type Issued, writeKubernetesVolume } from '../demo/certificates.ts';
import { servedSerial } from '../demo/served-serial.ts';
import { makeRig, type Rig } from '../test/support/e2e/rig.ts';
import { runtimes } from './contenders.ts';
import type { Report } from './figures.ts';
import { median } from './median.ts';

/** A way in which a new certificate reaches clients. */
interface Way {
  readonly name: string;
  /** The contender of the summary table that gets this figure. */
  readonly contender?: string;
  readonly options: Parameters<typeof makeRig>[0];
  /** The number of rotations of this way, as a share of those of the fastest way. */
  readonly share: number;
  /** Starts the programs that serve the certificates. Returns a function that ends them. */
  readonly start: (rig: Rig) => () => Promise<unknown>;
  /** Resolves when the next rotation may come. */
  readonly awaitRest: (rig: Rig) => Promise<unknown>;
}

const agent = (rig: Rig, ...flags: readonly string[]) => {
  const running = rig.start(['--minDelay', '0s', ...flags]);
  return () => {
    running.kill('SIGTERM');
    return running.exit;
  };
};
const ways: readonly Way[] = [
  {
    name: 'Pushed by the agent',
    contender: runtimes()[0]?.name ?? '',
    options: { secret: 'default' },
    share: 1,
    start: (rig) => agent(rig),
    awaitRest: () => sleep(50),
  },
  {
    name: 'Envoy watches the folder, no agent',
    contender: 'Envoy alone',
    options: { secret: 'default' },
    share: 1,
    start: ownWatch,
    awaitRest: () => sleep(50),
  },
  {
    name: 'Hot restart, with `--minDelay 0s`',
    options: {},
    share: 0.2,
    start: (rig) => agent(rig),
    awaitRest: alone,
  },
];

/** In ms. */
const longest = 60_000;

/**
 * `bench sds [ROUNDS]`: the time (p50 and p99) from the change of the files, as Kubernetes replaces
 * them, until the first client gets the new certificate: by a push, by a hot restart, and by an
 * Envoy that watches the folder itself.
 */
export async function sds(rounds = 100): Promise<Report> {
  const rows: string[][] = [];
  const figures: Record<string, number> = {};
  for (const way of ways) {
    const sorted = (await measure(way, Math.max(2, Math.round(rounds * way.share)))).toSorted(
      (a, b) => a - b,
    );
    const p99 = sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN;
    if (way.contender !== undefined) figures[way.contender] = median(sorted);
    rows.push([
      way.name,
      `${median(sorted).toFixed(0)} ms`,
      `${p99.toFixed(0)} ms`,
      String(sorted.length),
    ]);
  }
  return {
    figures: { pushed: figures },
    columns: ['Way', 'p50', 'p99', 'Rotations'],
    rows,
    notes: [
      'The files are replaced as Kubernetes replaces them. 20 ms of a push are its window; then the agent checks the files. Files that Envoy itself reads are not checked. By default `--minDelay` adds 10 s to a hot restart, and nothing to a push.',
    ],
  };
}

async function measure(
  { options, start, awaitRest }: Way,
  rounds: number,
): Promise<readonly number[]> {
  const rig = await makeRig(options);
  try {
    rmSync(rig.certDir, { recursive: true });
    writeKubernetesVolume(rig.certDir, certificateFiles(rig.issued));
    const end = start(rig);
    await served(rig, rig.issued);
    const took: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const issued = await rig.ca.issue();
      await awaitRest(rig);
      const begun = performance.now();
      writeKubernetesVolume(rig.certDir, certificateFiles(issued));
      await served(rig, issued);
      took.push(performance.now() - begun);
    }
    await end();
    return took;
  } finally {
    await rig.dispose();
  }
}

async function served(rig: Rig, { serial }: Issued): Promise<void> {
  const begun = performance.now();
  while ((await servedSerial(rig.ports.listen, rig.ca.rootCert)) !== serial) {
    if (performance.now() - begun > longest)
      throw new Error(`the new certificate is not served after ${longest / 1000} s`);
    await sleep(1);
  }
}

/** Resolves when no older epoch drains, because a rotation would wait for that. */
async function alone(rig: Rig): Promise<void> {
  while (rig.envoys().length !== 1) await sleep(50);
}

/**
 * Starts an Envoy without an agent. Its secret is in a file, which names the files of the pair.
 * Envoy watches their folder.
 */
function ownWatch(rig: Rig): () => Promise<unknown> {
  const secret = join(rig.folder, 'secret.json');
  const pair = {
    certificate_chain: { filename: join(rig.certDir, 'cert-chain.pem') },
    private_key: { filename: join(rig.certDir, 'key.pem') },
    watched_directory: { path: rig.certDir },
  };
  const type = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret';
  writeFileSync(
    secret,
    JSON.stringify({ resources: [{ '@type': type, name: 'default', tls_certificate: pair }] }),
  );
  const fromFile = [
    {
      name: 'default',
      sds_config: { resource_api_version: 'V3', path_config_source: { path: secret } },
    },
  ];
  const config = JSON.parse(readFileSync(rig.config, 'utf8'), (key, value: unknown) =>
    key === 'tls_certificate_sds_secret_configs' ? fromFile : value,
  ) as unknown;
  writeFileSync(rig.config, JSON.stringify(config));
  const binary = spawnSync(process.execPath, [resolve('dist/pilot-agent.cjs'), 'envoy', 'path'], {
    encoding: 'utf8',
  }).stdout.trim();
  const args = [
    '-c',
    rig.config,
    '--use-dynamic-base-id',
    '--service-node',
    'node',
    '--service-cluster',
    'cluster',
    '-l',
    'error',
  ];
  const envoy = spawn(binary, args, { stdio: 'ignore' });
  return async () => {
    const ended = once(envoy, 'exit');
    envoy.kill('SIGTERM');
    await ended;
  };
}
