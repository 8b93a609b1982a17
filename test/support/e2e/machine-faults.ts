import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { eventually } from '../eventually.ts';
import { realEnvoy } from './bad-input-program.ts';
import { takesNodeOptions } from './program.ts';
import type { LogLine, StartOptions } from './rig.ts';

/** The folder of one agent, and a fault that can begin and end there. */
export interface FaultStage {
  readonly folder: string;
  /** The options that an agent must start with, so that the fault can reach it. */
  readonly start: Pick<StartOptions, 'wrap' | 'env'>;
  /** Begins the fault. `pid` is the process id of the agent; undefined if it has not started. */
  begin(pid: number | undefined): void;
  end(): void;
  /** Unmounts the agent's folder, before it is removed. */
  unmount?(): void;
  /** Removes what the fault needs, when no process is left. */
  dispose?(): unknown;
}

/** A fault of the machine that an agent and its Envoys run on. */
export interface Fault {
  /** Whether the fault can be made on the machine that runs the tests. */
  readonly isPossible: () => boolean;
  /**
   * Whether even Node does not start during the fault, so that a test of the start is pointless.
   */
  readonly preventsStart?: true;
  /**
   * The line that the agent logs at a restart during the fault; undefined if the restart succeeds.
   */
  readonly logLine?: Pick<LogLine, 'event'> & Readonly<Record<string, unknown>>;
  readonly stage: (folder: string) => FaultStage;
}

function possible(action: () => unknown): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}

const run = (program: string, ...args: readonly string[]) =>
  execFileSync(program, args, { stdio: 'ignore' });

function mountable(): boolean {
  return possible(() => run('unshare', '-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'));
}

/** Returns a stage in which the agent's folder is a separate file system. */
function ownDisk(folder: string, fault: Pick<FaultStage, 'begin' | 'end'>): FaultStage {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  run('mount', '-t', 'tmpfs', '-o', 'size=1m,mode=0700', 'tmpfs', folder);
  return { folder, start: {}, ...fault, unmount: () => run('umount', '-l', folder) };
}

/** Returns the start of a command line that runs a command as a member of a control group. */
const within = (group: string) =>
  ['sh', '-c', `echo $$ > ${group}/cgroup.procs && exec "$@"`, 'sh'] as const;

/** Makes a control group (version 1) for the processes of the agent. */
export function ownGroup(controller: 'pids' | 'memory') {
  const path = join(
    '/sys/fs/cgroup',
    controller,
    `pilot-agent-fault-${process.pid}-${String(Math.random()).slice(2, 8)}`,
  );
  mkdirSync(path);
  return {
    path,
    start: { wrap: within(path) },
    read: (file: string) => readFileSync(join(path, file), 'utf8'),
    write: (file: string, text: string) => writeFileSync(join(path, file), text),
    dispose: () => eventually(() => possible(() => rmdirSync(path))), // a process may still exit
  };
}

export function groupable(controller: 'pids' | 'memory'): boolean {
  return possible(() => rmdirSync(ownGroup(controller).path));
}

/** The memory limit of a container of moderate size, in bytes. */
const memoryLimit = 160 << 20;
/**
 * The memory that the fault leaves free, in bytes: enough for the running processes, too little for
 * another Envoy.
 */
const memoryLeft = 8 << 20;

/**
 * Returns a stage in which a file fills the memory of the agent's container, so that only
 * {@link memoryLeft} is free.
 */
function littleMemory(folder: string): FaultStage {
  const group = ownGroup('memory');
  group.write('memory.limit_in_bytes', String(memoryLimit));
  const filler = join(
    '/dev/shm',
    `pilot-agent-fault-${process.pid}-${String(Math.random()).slice(2, 8)}`,
  );
  return {
    folder,
    start: group.start,
    begin: () => {
      const files = ['active', 'inactive'].map((name) =>
        Number(new RegExp(`^total_${name}_file (\\d+)$`, 'm').exec(group.read('memory.stat'))?.[1]),
      );
      const free =
        memoryLimit -
        Number(group.read('memory.usage_in_bytes')) +
        files.reduce((sum, bytes) => sum + bytes);
      const [shell, ...args] = within(group.path);
      run(shell, ...args, 'sh', '-c', `head -c ${free - memoryLeft} /dev/zero > ${filler}`);
    },
    end: () => rmSync(filler, { force: true }),
    dispose: group.dispose,
  };
}

/**
 * Returns the start of a command line for a user other than root. The user may read all files, and
 * sees only its own processes. Envoy is mounted at a place at which the user may execute it,
 * because `access(2)` ignores the capabilities of such a user.
 */
const hidden = (envoy: string, place: string) =>
  [
    ...[
      'unshare',
      '-m',
      'sh',
      '-c',
      `mount -t proc -o hidepid=2 proc /proc && mount --bind ${envoy} ${place} && exec "$@"`,
      'sh',
    ],
    ...[
      'setpriv',
      '--reuid=65534',
      '--regid=65534',
      '--clear-groups',
      '--inh-caps=+dac_read_search',
      '--ambient-caps=+dac_read_search',
    ],
  ] as const;

function hiddenProcesses(folder: string): FaultStage {
  const [rig, place] = [dirname(folder), join(dirname(folder), 'envoy')];
  chmodSync(rig, 0o755);
  mkdirSync(folder, { mode: 0o700 });
  chownSync(folder, 65_534, 65_534);
  writeFileSync(place, '');
  const wrap = hidden(realEnvoy(), place);
  return {
    folder,
    start: { wrap, env: { ENVOY_BIN: place } },
    begin: () => undefined,
    end: () => undefined,
  };
}

function clock(hours: number): Fault {
  return {
    isPossible: () => takesNodeOptions,
    logLine: { event: 'config.refused' },
    stage: (folder) => {
      const file = join(folder, '..', 'clock');
      writeFileSync(file, '0');
      return {
        folder,
        start: {
          env: {
            NODE_OPTIONS: `--require ${resolve('test/support/e2e/shifted-clock.cjs')}`,
            SHIFTED_CLOCK: file,
          },
        },
        begin: () => writeFileSync(file, String(hours * 3_600_000)),
        end: () => writeFileSync(file, '0'),
      };
    },
  };
}

/**
 * Returns the lowest number at which a process has no open file. With that number as its limit, the
 * process can open no file.
 */
function freeDescriptor(pid: number): number {
  const open = new Set(readdirSync(`/proc/${pid}/fd`).map(Number));
  return (
    Array.from({ length: open.size + 1 }, (_, number) => number).find(
      (number) => !open.has(number),
    ) ?? open.size
  );
}

/**
 * Returns a stage in which the agent can open no file. If the agent closes files meanwhile, the
 * limit is lowered.
 */
function noDescriptors(folder: string): FaultStage {
  let limited: number | undefined;
  let lowest = Infinity;
  let looks: NodeJS.Timeout | undefined;
  const limit = (files: number) => run('prlimit', '--pid', String(limited), `--nofile=${files}:`);
  const lower = (pid: number) => {
    const free = freeDescriptor(pid);
    if (free < lowest) limit((lowest = free));
  };
  return {
    folder,
    start: {},
    begin: (pid) => {
      limited = pid;
      if (pid !== undefined) looks = setInterval(() => possible(() => lower(pid)), 10);
    },
    end: () => {
      clearInterval(looks);
      possible(() => limit(10_000));
    },
  };
}

export const faults = {
  'a full disk': {
    isPossible: mountable,
    stage: (folder) => {
      const filler = join(folder, 'filler');
      return ownDisk(folder, {
        begin: () => {
          const file = openSync(filler, 'w');
          possible(() => {
            for (const piece = Buffer.alloc(4_096); ;) writeSync(file, piece);
          });
          closeSync(file);
        },
        end: () => rmSync(filler, { force: true }),
      });
    },
  },
  'a read-only folder': {
    isPossible: mountable,
    logLine: { event: 'config.unchecked' },
    stage: (folder) => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      let isMounted = false;
      return {
        folder,
        start: {},
        begin: () => {
          run('mount', '--bind', folder, folder);
          isMounted = true;
          run('mount', '-o', 'remount,bind,ro', folder);
        },
        end: () => {
          if (isMounted) run('umount', '-l', folder);
          isMounted = false;
        },
      };
    },
  },
  'no file descriptors': {
    isPossible: () => true,
    logLine: { event: 'part.failed' },
    stage: noDescriptors,
  },
  'no processes': {
    isPossible: () => groupable('pids'),
    preventsStart: true,
    logLine: { event: 'config.unchecked' },
    stage: (folder) => {
      const group = ownGroup('pids');
      return {
        folder,
        start: group.start,
        begin: () => group.write('pids.max', group.read('pids.current')),
        end: () => group.write('pids.max', 'max'),
        dispose: group.dispose,
      };
    },
  },
  'no memory': {
    isPossible: () => groupable('memory'),
    preventsStart: true,
    logLine: { event: 'config.unchecked', reason: 'memory is short: Envoy was ended by SIGKILL' },
    stage: littleMemory,
  },
  'processes that are hidden': {
    isPossible: () =>
      possible(() => run(...hidden('/dev/null', '/dev/zero'), 'sh', '-c', '! [ -e /proc/1 ]')),
    stage: hiddenProcesses,
  },
  'a clock that jumps an hour forward': clock(1),
  'a clock that jumps an hour back': clock(-1),
} as const satisfies Readonly<Record<string, Fault>>;
