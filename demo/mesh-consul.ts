import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findExecutable } from '../src/pilot-agent/envoy/find-envoy.ts';
import { exitCodes, Fatal } from '../src/shared/program/exit.ts';
import type { Command } from './mesh-agent.ts';
import { addresses, application, type MeshPorts, type TwoSidecars } from './two-sidecars.ts';

/** The ports of a Consul, for its API and for other servers. */
export interface ConsulPorts {
  readonly http: number;
  readonly server: number;
  readonly serf: number;
}

/** A Consul with the instances of the service, as a registry of the control plane. */
export interface MeshConsul {
  /** The address of its API. */
  readonly url: string;
  readonly pid: number;
  /** An instance that is not registered yet. */
  readonly spare: ConsulInstance;
  /** The command of a `pilot-discovery` that reads services from this Consul. */
  readonly discovery: Command;
  dispose(): Promise<void>;
}

/** An instance, in the form that the API of Consul accepts. */
export interface ConsulInstance {
  readonly ID: string;
  readonly Name: string;
  readonly Address: string;
  readonly Port: number;
  readonly Tags: readonly string[];
}

/** The address of the instance that is not registered yet. */
const spareAddress = '127.0.0.23';
/** How long Consul may take to become the leader of its cluster. In ms. */
const longest = 30_000;

/**
 * Returns the path of a Consul.
 *
 * @throws Fatal if there is none
 */
export function findConsul(named: string | undefined, path: string | undefined): string {
  const program =
    named === undefined
      ? findExecutable('consul', path)
      : findExecutable(basename(named), dirname(resolve(named)));
  if (program !== undefined) return program;
  const place =
    named === undefined ? 'there is no consul in PATH' : `${named} is not an executable`;
  throw new Fatal(
    `${place}: install Consul, or name its program by --consulBinary FILE`,
    exitCodes.unavailable,
  );
}

/**
 * Starts a Consul, and moves the instances of the service from the folder of YAML into it.
 *
 * @throws Fatal if it does not answer
 */
export async function meshConsul(
  program: string,
  mesh: TwoSidecars,
  { consul, inbound }: MeshPorts & { readonly consul: ConsulPorts },
): Promise<MeshConsul> {
  for (const [name, change] of Object.entries(filesFor(inbound))) {
    const file = join(mesh.configDir, name);
    writeFileSync(file, change(readFileSync(file, 'utf8')));
  }
  const url = `http://127.0.0.1:${consul.http}`;
  const child = spawn(program, consulArgs(consul), { stdio: 'ignore', detached: true });
  const spare = instance('v3', spareAddress, inbound[0]);
  const applied = await application('v3', () => undefined, {
    host: spareAddress,
    port: inbound[0],
  });
  const dispose = async (): Promise<void> => {
    applied.close().closeAllConnections();
    await ended(child);
  };
  try {
    const [version1, version2] = inbound;
    await register(
      url,
      instance('v1', addresses.echo, version1, ['security.istio.io/tlsMode|istio']),
    );
    await register(
      url,
      instance('v2', addresses.echo, version2, ['security.istio.io/tlsMode|istio']),
    );
  } catch (error) {
    await dispose();
    throw error;
  }
  const registry = ['--registries', 'Consul', '--consulserverURL', url];
  return {
    ...{ url, pid: child.pid ?? 0, spare, dispose },
    discovery: { ...mesh.discovery, args: [...mesh.discovery.args, ...registry] },
  };
}

const consulArgs = ({ http, server, serf }: ConsulPorts): readonly string[] => {
  const none = ['serf_wan', 'dns', 'grpc', 'grpc_tls'].map((name) => `${name} = -1`).join(' ');
  const ports = `ports { http = ${http} server = ${server} serf_lan = ${serf} ${none} }`;
  const loopback = ['-bind', '127.0.0.1', '-client', '127.0.0.1'];
  return ['agent', '-dev', ...loopback, '-log-level', 'error', '-hcl', ports];
};

const instance = (
  version: string,
  address: string,
  port: number,
  tags: readonly string[] = [],
): ConsulInstance => ({
  ID: `echo-${version}`,
  Name: 'echo',
  Address: address,
  Port: port,
  Tags: ['protocol|http', `version|${version}`, ...tags],
});

/** Registers an instance. Waits for a Consul that has just started. */
async function register(url: string, body: ConsulInstance): Promise<void> {
  const end = performance.now() + longest;
  for (;;) {
    const status = await fetch(`${url}/v1/agent/service/register`, {
      method: 'PUT',
      body: JSON.stringify(body),
    }).then(
      (response) => response.status,
      () => 0,
    );
    if (status === 200) return;
    if (performance.now() > end)
      throw new Fatal(`Consul does not answer at ${url}`, exitCodes.unavailable);
    await sleep(100);
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}

/**
 * How the text of each file changes if the instances are in Consul. The host `echo.mesh` stays,
 * with a port for the client's sidecar. Each version has its own port, so the route weighs ports. A
 * sidecar listens on 127.0.0.1 for each port of each service in its scope. The sidecar of echo has
 * no service in its scope.
 */
const filesFor = ([version1, version2]: readonly [number, number]): Readonly<
  Record<string, (text: string) => string>
> => ({
  '10-echo.yaml': (text) => `# The instances of echo are in Consul, as echo.service.consul.
${text.slice(text.indexOf('apiVersion'), text.indexOf('---'))}`,
  '20-sidecar.yaml': (text) => text.replace('\nspec:\n', '\nspec:\n  egress: [{ hosts: [~/*] }]\n'),
  '40-route.yaml': (text) => `${text.slice(0, text.indexOf('    - route:'))}    - route:
        - { destination: { host: echo.service.consul, port: { number: ${version1} } }, weight: 90 }
        - { destination: { host: echo.service.consul, port: { number: ${version2} } }, weight: 10 }
`,
});
