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
 * The flags without which nothing of what follows can start, for a command line that is not the
 * rig's own.
 */
export function standardFlags(rig: Rig): readonly string[] {
  return [
    ...['--customConfigFile', rig.config],
    ...['--configPath', join(rig.folder, 'run')],
    ...['--proxyAdminPort', String(rig.ports.admin)],
    ...['--statusPort', String(rig.ports.status)],
  ];
}

/** Ends at once when it is asked to. */
export const withoutDrain = {
  MINIMUM_DRAIN_DURATION: '0s',
  TERMINATION_DRAIN_DURATION_SECONDS: '0',
};

/**
 * Runs a command line of any form. Whoever starts it ends it: the rig does not know it for an
 * agent.
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
 * The agent ends with `code`, says why in one line that is, or matches, `why`, with an excerpt of a
 * file below it at most, and leaves neither a process nor a file but how it ended.
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
 * An Envoy that is a shell script. It lies in the rig's folder, so that `rig.envoys()` sees its
 * processes.
 */
export function fakeEnvoy(rig: Rig, ...lines: readonly string[]): string {
  const path = join(rig.folder, 'envoy');
  writeFileSync(path, ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 });
  return path;
}

/** The line of a fake Envoy that has nothing against any configuration. */
export const acceptsAll = 'case "$*" in *"--mode validate"*) exit 0 ;; esac';

/** The Envoy that an agent runs which is not told of another. */
export function realEnvoy(): string {
  const [file, ...args] = program;
  return execFileSync(file, [...args, 'envoy', 'path'], { encoding: 'utf8' }).trim();
}

/** The serial of the certificate that a new client is shown, once it has got its answer. */
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

/** How many Envoys the agent has started. */
export function starts(agent: RunningAgent): number {
  return agent.log().filter(({ event }) => event === 'epoch.live').length;
}

const mountTmpfs = 'mount -t tmpfs -o "size=4k,nr_inodes=$1" tmpfs "$0" || exit 99';

/**
 * What goes before a command so that it sees at `path` a folder on a full file system, which is
 * gone with the command; undefined where this user may not mount. A plain user may in a user
 * namespace of its own; root may where there are none.
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
 * What goes before a command so that it may not read a file without permission bits: root reads all
 * unless that is taken from it. Undefined where it can not be.
 */
export function withoutPrivilege(): readonly string[] | undefined {
  if (process.getuid?.() !== 0) return [];
  const power = '-dac_override,-dac_read_search';
  const [file, ...flags] = ['setpriv', `--inh-caps=${power}`, `--bounding-set=${power}`] as const;
  return spawnSync(file, [...flags, 'true']).status === 0 ? [file, ...flags] : undefined;
}
