import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { exitCodes } from '../../../src/shared/program/exit.ts';
import { eventually } from '../eventually.ts';
import { startLoad } from '../load.ts';
import { program } from './program.ts';
import type { LogLine, Rig, RunningAgent } from './rig.ts';

/**
 * Returns the flags that an agent of the rig needs to start, for a command line that the rig does
 * not build itself.
 */
export function standardFlags(rig: Rig): readonly string[] {
  return [
    ...['--customConfigFile', rig.config],
    ...['--configPath', join(rig.folder, 'run')],
    ...['--proxyAdminPort', String(rig.ports.admin)],
    ...['--statusPort', String(rig.ports.status)],
  ];
}

/** The environment of an agent that does not drain when it ends. */
export const withoutDrain = {
  MINIMUM_DRAIN_DURATION: '0s',
  TERMINATION_DRAIN_DURATION_SECONDS: '0',
};

/**
 * Runs a command line of any form. The caller ends it: the rig does not count it among its agents.
 */
export function run(rig: Rig, [file = '', ...args]: readonly string[]): Omit<RunningAgent, 'log'> {
  const folder = mkdtempSync(join(rig.folder, 'output-'));
  const [stdout, stderr] = [join(folder, 'stdout'), join(folder, 'stderr')];
  const descriptors = [openSync(stdout, 'a'), openSync(stderr, 'a')];
  const child = spawn(file, args, {
    stdio: ['ignore', ...descriptors],
    env: {
      ...process.env,
      POD_NAME: 'pod',
      POD_NAMESPACE: 'ns',
      INSTANCE_IP: '10.1.2.3',
      ...withoutDrain,
    },
  });
  for (const descriptor of descriptors) closeSync(descriptor);
  const output = () => readFileSync(stdout, 'utf8');
  const errors = () => readFileSync(stderr, 'utf8');
  return {
    pid: child.pid ?? 0,
    exit: new Promise((done, fail) =>
      child.once('error', fail).once('exit', (code, signal) => done({ code, signal })),
    ),
    output,
    errors,
    said: (event) =>
      eventually(() =>
        output()
          .split('\n')
          .filter((line) => line.endsWith('}'))
          .map((line) => JSON.parse(line) as LogLine)
          .find((line) => line.event === event),
      ).catch((error: unknown) => {
        throw new Error(`${event}: ${String(error)}\n${output()}${errors()}`);
      }),
    kill: (name) => child.kill(name),
  };
}

/**
 * Expects that the agent ends with `code`. Its error output must be one line that equals or matches
 * `why`; only an excerpt of a file may follow. The agent must leave no process, and no file except
 * the record of its end.
 */
export async function expectEnd(
  rig: Rig,
  agent: Pick<RunningAgent, 'exit' | 'errors'>,
  code: number,
  why: string | RegExp,
): Promise<void> {
  expect(await agent.exit, agent.errors()).toEqual({ code, signal: null });
  const [, line, anchor] =
    /^pilot-agent: (.*) \(docs\/troubleshooting\.md#exit-(\w+)\)\n(?: *\d* \| .*\n)*$/.exec(
      agent.errors(),
    ) ?? [];
  expect(line, `not one line of the agent: ${agent.errors()}`).toBeDefined();
  expect(anchor).toBe(Object.values<number>(exitCodes).includes(code) ? String(code) : 'other');
  if (typeof why === 'string') expect(line).toBe(why);
  else expect(line).toMatch(why);
  expectNothingLeft(rig);
}

export function expectNothingLeft(rig: Rig): void {
  expect(rig.envoys()).toEqual([]);
  const folder = join(rig.folder, 'run');
  expect(
    (existsSync(folder) ? readdirSync(folder) : []).filter((name) => name !== 'ended.json'),
  ).toEqual([]);
}

/**
 * Writes a shell script that replaces Envoy, and returns its path. The script is in the rig's
 * folder, so that `rig.envoys()` finds its processes.
 */
export function fakeEnvoy(rig: Rig, ...lines: readonly string[]): string {
  const path = join(rig.folder, 'envoy');
  writeFileSync(path, ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 });
  return path;
}

/** The line of a fake Envoy that accepts every configuration. */
export const acceptsAll = 'case "$*" in *"--mode validate"*) exit 0 ;; esac';

/** Returns the path of the Envoy that an agent runs by default. */
export function realEnvoy(): string {
  const [file, ...args] = program;
  return execFileSync(file, [...args, 'envoy', 'path'], { encoding: 'utf8' }).trim();
}

/**
 * Resolves to the serial of the certificate that a new client receives. Rejects if the client's
 * request fails.
 */
export async function servedSerial({ ports, ca }: Rig): Promise<string> {
  const load = startLoad({
    port: ports.listen,
    tls: { ca: ca.rootCert },
    mode: 'new-connection',
    clients: 1,
  });
  const { ok, errors, serials } = await load.stop();
  if (ok !== 1) throw new Error(`no answer: ${[...errors.keys()].join()}`);
  return [...serials].join();
}

/** Returns the number of times that an epoch of the agent became LIVE. */
export function starts(agent: RunningAgent): number {
  return agent.log().filter(({ event }) => event === 'epoch.live').length;
}

const mountTmpfs = 'mount -t tmpfs -o "size=4k,nr_inodes=$1" tmpfs "$0" || exit 99';

/**
 * Returns the start of a command line. The command after it finds a folder on a full file system at
 * `path`; the file system ends with the command. Undefined if this user may not mount. A plain user
 * may mount in its own user namespace; root may mount even if there are no user namespaces.
 */
export function onFullDisk(
  path: string,
  left: 'no bytes' | 'no bytes and no inodes',
): readonly string[] | undefined {
  const inodes = left === 'no bytes' ? '100' : '4';
  const namespace = (
    [
      ['unshare', '-rm'],
      ['unshare', '-m'],
    ] as const
  ).find(
    ([file, ...flags]) =>
      spawnSync(file, [...flags, 'sh', '-c', mountTmpfs, path, inodes]).status === 0,
  );
  const script = [
    mountTmpfs,
    'shift',
    'head -c 1048576 /dev/zero > "$0/full" 2> /dev/null',
    ...(left === 'no bytes'
      ? []
      : ['i=0; while touch "$0/$i" 2> /dev/null; do i=$((i + 1)); done']),
    'exec "$@"',
  ];
  return namespace && [...namespace, 'sh', '-c', script.join('\n'), path, inodes];
}

/**
 * Returns the start of a command line. The command after it may not read a file without permission
 * bits: root loses the capabilities to read all files. Undefined if they cannot be dropped.
 */
export function withoutPrivilege(): readonly string[] | undefined {
  if (process.getuid?.() !== 0) return [];
  const power = '-dac_override,-dac_read_search';
  const [file, ...flags] = ['setpriv', `--inh-caps=${power}`, `--bounding-set=${power}`] as const;
  return spawnSync(file, [...flags, 'true']).status === 0 ? [file, ...flags] : undefined;
}
