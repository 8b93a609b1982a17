import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { certificateAuthority, writeCertificates } from '../demo/certificates.ts';
import { certificateEnv } from '../test/e2e/support/rig.ts';
import { freePorts } from '../test/support/free-ports.ts';
import { hammer, type Impact } from './hammer.ts';
import { median } from './median.ts';
import type { Report } from './page.ts';

interface Contender {
  readonly name: string;
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly merges: boolean;
}

interface Row {
  readonly ready: Impact;
  readonly scrape: Impact | undefined;
  /** In MB: when idle, and after all that was asked. */
  readonly idle: number;
  readonly after: number;
}

const connections = 8;
/** In ms. */
const duration = 5_000;
const timeoutMs = 20_000;

/**
 * `bench status [ROUNDS]`: readiness probes and scrapes of merged metrics a second, their p99, and
 * the agent's memory before and after, for this agent and, where they are to be had, the Go agents
 * 1.5 and 1.30; in turns, in one run, over the same Envoy with the same application; medians. The
 * Go agent 1.5 merges nothing.
 */
export async function status(rounds = 5): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-bench-'));
  const certDir = join(folder, 'certs');
  const [admin = 0, listen = 0, port = 0] = await freePorts(3);
  mkdirSync(certDir);
  writeCertificates(certDir, await (await certificateAuthority()).issue());
  const program = resolve('dist/pilot-agent.cjs');
  const envoy = spawnSync(process.execPath, [program, 'envoy', 'path'], { encoding: 'utf8' }).stdout.trim();
  const bootstrap = join(folder, 'envoy.json');
  writeFileSync(bootstrap, JSON.stringify(envoyConfig(folder, admin, listen)));

  const target = JSON.stringify({ scrape: 'true', port: String(listen), path: '/metrics' });
  const common = { ...process.env, ...certificateEnv(certDir), POD_NAME: 'pod', POD_NAMESPACE: 'ns', INSTANCE_IP: '127.0.0.1', TERMINATION_DRAIN_DURATION_SECONDS: '1', MINIMUM_DRAIN_DURATION: '0s', ISTIO_PROMETHEUS_ANNOTATIONS: target }; // prettier-ignore
  const flags = ['proxy', 'sidecar', '--binaryPath', filtered(folder, envoy), '--configPath', join(folder, 'run'), '--customConfigFile', bootstrap, '--proxyAdminPort', String(admin), '--statusPort', String(port)]; // prettier-ignore
  const contenders: Contender[] = [{ name: 'pilot-agent', command: [process.execPath, program, ...flags], env: common, merges: true }];
  const [old, recent] = [peer('pilot-agent-1.5'), peer('pilot-agent-1.30')];
  if (old !== undefined) {
    const env = { ...common, JWT_POLICY: 'none', SDS_ENABLED: 'false' };
    contenders.push({ name: 'Go agent 1.5', command: [old, ...flags, '--controlPlaneBootstrap=false', '--serviceregistry', 'Mock'], env, merges: false }); // prettier-ignore
  }
  if (recent !== undefined) {
    const proxyConfig = JSON.stringify({ binaryPath: filtered(folder, envoy), configPath: join(folder, 'run'), proxyBootstrapTemplatePath: bootstrap, proxyAdminPort: admin, statusPort: port, discoveryAddress: '127.0.0.1:1' }); // prettier-ignore
    const env = { ...common, PROXY_CONFIG: proxyConfig, FILE_MOUNTED_CERTS: 'true', XDS_ROOT_CA: join(certDir, 'root-cert.pem'), ENVOY_PROMETHEUS_PORT: String(admin) }; // prettier-ignore
    contenders.push({ name: 'Go agent 1.30', command: [recent, 'proxy', 'sidecar'], env, merges: true });
  }

  const rows = new Map<string, Row[]>(contenders.map(({ name }) => [name, []]));
  try {
    for (let round = 0; round < rounds; round++) {
      for (const contender of contenders) rows.get(contender.name)?.push(await measure(contender, port, admin, folder));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const [own, five, thirty] = ['pilot-agent', 'Go agent 1.5', 'Go agent 1.30'].map((name) => {
    const all = rows.get(name);
    return (pick: (row: Row) => number | undefined) => {
      const values = (all ?? []).flatMap((row) => pick(row) ?? []);
      return values.length === 0 ? undefined : median(values);
    };
  });
  const row = (what: string, pick: (row: Row) => number | undefined, unit: string, digits: number) => {
    const values = [own, five, thirty].map((of) => of?.(pick));
    const ratios = [['1.5', values[1]], ['1.30', values[2]]].flatMap(([name, value]) => (values[0] === undefined || typeof value !== 'number' ? [] : [`${(values[0] / value).toFixed(1)} × Go ${name}`])); // prettier-ignore
    return [what, ...values.map((value) => (value === undefined ? '–' : `${value.toFixed(digits)}${unit}`)), ratios.join(', ')];
  };
  const failed = [...rows.values()].flat().reduce((sum, { ready, scrape }) => sum + ready.failed + (scrape?.failed ?? 0), 0);
  return {
    columns: ['What', 'pilot-agent', 'Go agent 1.5', 'Go agent 1.30', 'Ratio'],
    rows: [
      row('readiness probes', ({ ready }) => ready.perSecond, '/s', 0),
      row('… 99 % within', ({ ready }) => ready.p99, ' ms', 1),
      row('scrapes of merged metrics', ({ scrape }) => scrape?.perSecond, '/s', 0),
      row('… 99 % within', ({ scrape }) => scrape?.p99, ' ms', 1),
      row('memory when idle (RSS)', ({ idle }) => idle, ' MB', 1),
      row('memory after all of it', ({ after }) => after, ' MB', 1),
    ],
    notes: [
      `Medians of ${rounds} rounds of ${duration / 1000} s, ${connections} connections that ask again as soon as they are answered, over the same Envoy, with an application that has 10 KB of metrics. Envoy and the client share the cores. ${failed} requests failed.`, // prettier-ignore
      'The goals are 3 × (probes) and 2 × (scrapes) Go. Go 1.5 asks Envoy for each probe and merges nothing; Go 1.30 remembers that Envoy was ready once. Scrapes that begin within 100 ms share an answer here. Memory grows within the first seconds of full load, and then stays: V8 keeps room for garbage.', // prettier-ignore
      ...(contenders.length < 3 ? ['A Go agent is not beside this checkout: left out.'] : []),
    ],
  };
}

async function measure({ command, env, merges }: Contender, port: number, admin: number, folder: string): Promise<Row> {
  const [file = '', ...args] = command;
  const child = spawn(file, args, { env, stdio: 'ignore', cwd: folder });
  const ended = new Promise((done) => child.once('exit', done));
  const rss = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid ?? 0}/status`, 'utf8'))?.[1]) / 1024;
  try {
    const deadline = performance.now() + timeoutMs;
    while (!(await isReady(port))) {
      if (performance.now() > deadline) throw new Error(`${command.join(' ')} does not become ready`);
      await sleep(50);
    }
    await sleep(2_000);
    const idle = rss();
    const ready = await hammer({ port, path: '/healthz/ready', connections, duration });
    const scrape = merges ? await hammer({ port, path: '/stats/prometheus', connections, duration }) : undefined;
    return { ready, scrape, idle, after: rss() };
  } finally {
    child.kill('SIGTERM');
    await Promise.race([ended, sleep(timeoutMs)]);
    child.kill('SIGKILL');
    await ended;
    while (await isReady(admin, '/ready')) await sleep(50);
  }
}

function peer(name: string): string | undefined {
  const { status: code, stdout } = spawnSync(resolve('../shared/peers/get'), [name], { encoding: 'utf8' });
  return code === 0 ? stdout.trim() : undefined;
}

/** An Envoy that leaves out the flag of the Go agent 1.5 that Envoy no longer knows. */
function filtered(folder: string, real: string): string {
  const path = join(folder, 'envoy');
  const lines = ['#!/bin/sh', 'for arg do', '  shift', '  if [ "$skip" = yes ]; then skip=no; elif [ "$arg" = --max-obj-name-len ]; then skip=yes; else set -- "$@" "$arg"; fi', 'done', `exec ${real} "$@"`, '']; // prettier-ignore
  writeFileSync(path, lines.join('\n'), { mode: 0o755 });
  return path;
}

/**
 * Ready by the rules of all: clusters and listeners have come, from files. The application is a
 * listener with 10 KB of metrics; of Envoy's own a few are left.
 */
function envoyConfig(folder: string, admin: number, listen: number): Record<string, unknown> {
  const metrics = Array.from({ length: 10 }, (_, family) => [`# TYPE app_requests_${family}_total counter`, ...Array.from({ length: 12 }, (_, row) => `app_requests_${family}_total{method="GET",path="/things/${row}/of/some/length",code="200"} ${row}`)].join('\n')).join('\n'); // prettier-ignore
  const address = (port: number) => ({ socket_address: { address: '127.0.0.1', port_value: port } });
  const type = (name: string) => `type.googleapis.com/envoy.extensions.filters.${name}`;
  const listener = {
    '@type': 'type.googleapis.com/envoy.config.listener.v3.Listener',
    name: 'app',
    address: address(listen),
    filter_chains: [{ filters: [{ name: 'hcm', typed_config: { '@type': type('network.http_connection_manager.v3.HttpConnectionManager'), stat_prefix: 'app', route_config: { max_direct_response_body_size_bytes: 65_536, virtual_hosts: [{ name: 'all', domains: ['*'], routes: [{ match: { prefix: '/' }, direct_response: { status: 200, body: { inline_string: `${metrics}\n` } } }] }] }, http_filters: [{ name: 'router', typed_config: { '@type': type('http.router.v3.Router') } }] } }] }], // prettier-ignore
  };
  const [cds, lds] = ['cds', 'lds'].map((name) => join(folder, `${name}.json`));
  writeFileSync(cds ?? '', JSON.stringify({ version_info: '1', resources: [] }));
  writeFileSync(lds ?? '', JSON.stringify({ version_info: '1', resources: [listener] }));
  const from = (path: string | undefined) => ({ resource_api_version: 'V3', path_config_source: { path } });
  return {
    node: { id: 'id', cluster: 'cluster' },
    admin: { address: address(admin) },
    dynamic_resources: { cds_config: from(cds), lds_config: from(lds) },
    stats_config: { stats_matcher: { inclusion_list: { patterns: [{ prefix: 'cluster_manager' }, { prefix: 'listener_manager' }, { prefix: 'server' }] } } }, // prettier-ignore
  };
}

function isReady(port: number, path = '/healthz/ready'): Promise<boolean> {
  return new Promise((done) => {
    get({ host: '127.0.0.1', port, path, agent: false, timeout: 2_000 }, (response) => {
      response.resume();
      done(response.statusCode === 200);
    }).on('error', () => done(false));
  });
}
