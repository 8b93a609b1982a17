import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

/** An agent that is measured. */
export interface Contender {
  readonly name: string;
  readonly kind: 'own' | 'go-1.5' | 'go-1.30';
  readonly command: readonly string[];
}

/** A Node on which an agent runs, with its name. */
export interface Runtime {
  readonly name: string;
  readonly path: string;
}

export const goFive = 'Go 1.5';
export const goThirty = 'Go 1.30';
const bundle = resolve('dist/pilot-agent.cjs');

/** The Node that runs this program, and the Nodes of `test/nodes` that are installed. */
export function runtimes(): readonly Runtime[] {
  const others = ['22', '24'].flatMap((version) => {
    const path = resolve(`test/nodes/node_modules/node-${version}-${process.arch}/bin/node`);
    return existsSync(path) && !process.version.startsWith(`v${version}.`)
      ? [{ name: `Node ${version}`, path }]
      : [];
  });
  return [
    { name: `Node ${process.versions.node.split('.')[0] ?? ''}`, path: process.execPath },
    ...others,
  ];
}

/** All agents that can be measured here, this agent first. */
export function contenders(): readonly Contender[] {
  const ownContenders = runtimes().map(({ name, path }): Contender => ({
    name,
    kind: 'own',
    command: [path, bundle],
  }));
  const single =
    process.env['PILOT_AGENT_EXECUTABLE'] ??
    resolve(`executable/pilot-agent-linux-${process.arch}`);
  if (existsSync(single)) {
    // Pages that are not on disk yet count as memory of the process that runs them.
    spawnSync('sync');
    ownContenders.push({ name: 'Executable', kind: 'own', command: [single] });
  }
  const [five, thirty] = [peer('pilot-agent-1.5'), peer('pilot-agent-1.30')];
  return [
    ...ownContenders,
    ...(five === undefined ? [] : [{ name: goFive, kind: 'go-1.5', command: [five] } as const]),
    ...(thirty === undefined
      ? []
      : [{ name: goThirty, kind: 'go-1.30', command: [thirty] } as const]),
  ];
}

/** A line for each agent or Node that is not installed. */
export function missing(): readonly string[] {
  const names = contenders().map(({ name }) => name);
  return ['Node 22', 'Node 24', 'Executable', goFive, goThirty]
    .filter((name) => !names.includes(name))
    .map((name) => `${name} is not installed, so it was not measured.`);
}

/** The path of a Go agent beside this checkout. */
export function peer(name: string): string | undefined {
  const { status, stdout } = spawnSync(resolve('../shared/peers/get'), [name], {
    encoding: 'utf8',
  });
  return status === 0 ? stdout.trim() : undefined;
}

export function installedEnvoy(): string {
  return spawnSync(process.execPath, [bundle, 'envoy', 'path'], { encoding: 'utf8' }).stdout.trim();
}
