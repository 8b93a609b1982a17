import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { typeUrls } from '../../src/pilot-discovery/push/view.ts';
import { ask } from '../support/ask.ts';
import { freePorts } from '../support/free-ports.ts';
import { limits } from '../support/limits.ts';
import { type AdsClient, acceptingClient } from '../support/proxy-client.ts';

/** The duration of something in ms: by the clock, and in CPU time of the control plane. */
export interface Taken {
  readonly clock: number;
  readonly own: number;
}

/** The facts that an attacker knows about a control plane. */
export interface Target {
  readonly folder: string;
  readonly meshConfig: string;
  readonly ports: { readonly xds: number; readonly http: number; readonly monitoring: number };
}

/** A `pilot-discovery` over a folder of its own, with one proxy that behaves. */
export interface AttackedControlPlane {
  readonly target: Target;
  /** The lines of its log. */
  readonly lines: readonly { readonly event: string; readonly [field: string]: unknown }[];
  write(name: string, text: string): void;
  /** Changes a service, and waits until the proxy has it; rejects after 10 s. */
  change(): Promise<Taken>;
  /** Returns its CPU time so far, in ms. */
  used(): number;
  /** Returns its resident memory, in MiB. */
  memory(): number;
  /** Resolves to the memory in use after a garbage collection, in MiB. */
  inUse(): Promise<number>;
  /** Returns its exit code; undefined while it runs. */
  exitCode(): number | undefined;
  dispose(): Promise<void>;
}

/** Returns a ServiceEntry with the host `NAME.mesh`. */
function serviceEntry(
  name: string,
  spec = 'ports: [{ number: 80, name: http, protocol: HTTP }]',
): string {
  return `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: default }
spec:
  hosts: [${name}.mesh]
  resolution: DNS
  ${spec}
`;
}

export interface AttackedOptions {
  readonly flags?: readonly string[];
  /** The files in the folder before the start, by name. */
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

export async function attackedControlPlane({
  flags = [],
  files = {},
  env = {},
}: AttackedOptions = {}): Promise<AttackedControlPlane> {
  const root = mkdtempSync(join(tmpdir(), 'pilot-hostile-'));
  const [folder, meshConfig] = [join(root, 'config'), join(root, 'mesh')];
  mkdirSync(folder);
  writeFileSync(meshConfig, '{}\n');
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, `.${name}`), text);
    renameSync(join(folder, `.${name}`), join(folder, name));
  };
  for (const [name, text] of Object.entries({ 'first.yaml': serviceEntry('first'), ...files }))
    write(name, text);
  const [xds = 0, http = 0, monitoring = 0] = await freePorts(3);
  const listen = Object.entries({
    grpcAddr: xds,
    httpAddr: http,
    monitoringAddr: monitoring,
  }).flatMap(([flag, port]) => [`--${flag}`, `127.0.0.1:${port}`]);
  const args = [
    'discovery',
    '--configDir',
    folder,
    '--meshConfig',
    meshConfig,
    ...listen,
    ...flags,
  ];
  const child = execa(
    process.execPath,
    [
      '--expose-gc',
      '--require',
      resolve('test/hostile/report-memory.cjs'),
      resolve('dist/pilot-discovery.cjs'),
      ...args,
    ],
    {
      stdin: 'ignore',
      reject: false,
      buffer: false,
      env,
    },
  );
  const lines: { readonly event: string }[] = [];
  let left = '';
  let ended: number | undefined;
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    const texts = (left + piece).split('\n');
    left = texts.pop() ?? '';
    for (const text of texts)
      if (text.startsWith('{')) lines.push(JSON.parse(text) as (typeof lines)[number]);
  });
  const reports: number[] = [];
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    const bytes = /^in use: (\d+)/m.exec(piece)?.[1];
    if (bytes === undefined) process.stderr.write(piece);
    else reports.push(Number(bytes) / 2 ** 20);
  });
  void once(child, 'exit').then(
    ([code, signal]) => (ended = code === null ? 1_000 + String(signal).length : Number(code)),
  );
  for (
    let tries = 0;
    (await ask(http, '/ready').catch(() => undefined))?.status !== 200;
    tries += 1
  ) {
    if (ended !== undefined || tries > limits.expect.poll.timeout / 50)
      throw new Error(
        `pilot-discovery is not ready (${ended ?? 'it runs'}): ${JSON.stringify(lines.slice(-5))}`,
      );
    await sleep(50);
  }
  const proxy: AdsClient<unknown> & { readonly names: Set<string> } = Object.assign(
    acceptingClient(
      xds,
      'sidecar~10.0.0.1~healthy.default~default.svc.cluster.local',
      typeUrls.cluster,
    ),
    { names: new Set<string>() },
  );
  proxy.call.on('data', (answer) => {
    for (const { name } of (answer as { readonly resources: readonly { readonly name: string }[] })
      .resources)
      proxy.names.add(name);
  });
  let changes = 0;
  return {
    target: { folder, meshConfig, ports: { xds, http, monitoring } },
    lines,
    write,
    async change() {
      const name = `changed-${(changes += 1)}`;
      const [begun, ownBegun] = [performance.now(), processorTime(child.pid)];
      write('changing.yaml', serviceEntry(name));
      while (![...proxy.names].some((clusterName) => clusterName.includes(`${name}.mesh`))) {
        if (performance.now() - begun > 10_000)
          throw new Error('the healthy proxy has no change after 10 s');
        await sleep(5);
      }
      return { clock: performance.now() - begun, own: processorTime(child.pid) - ownBegun };
    },
    used: () => processorTime(child.pid),
    memory: () =>
      Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid ?? 0}/status`, 'utf8'))?.[1]) /
      1024,
    async inUse() {
      const before = reports.length;
      child.kill('SIGUSR2');
      for (let tries = 0; reports.length === before; tries += 1) {
        if (tries > 1_000) throw new Error('it does not say what memory is in use');
        await sleep(10);
      }
      return reports.at(-1) ?? 0;
    },
    exitCode: () => ended,
    async dispose() {
      proxy.close();
      child.kill('SIGTERM');
      setTimeout(() => child.kill('SIGKILL'), 3_000).unref();
      await child;
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** Returns the CPU time of a process, in ms. The system counts in steps of 10 ms. */
function processorTime(pid = 0): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
