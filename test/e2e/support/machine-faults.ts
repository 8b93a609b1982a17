import { execFileSync } from 'node:child_process';
import { mkdirSync, openSync, closeSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { LogEvent } from '../../../src/log/log-event.ts';
import type { StartOptions } from './rig.ts';

/** The place of one agent, and what can go wrong with it. */
export interface FaultStage {
  readonly folder: string;
  /** How the agent is started, so that the fault can reach it. */
  readonly start: Pick<StartOptions, 'wrap' | 'env'>;
  /** `pid` is the agent's, where it has been started. */
  begin(pid: number | undefined): void;
  end(): void;
  /** Before the agent's folder is removed. */
  unmount?(): void;
  /** When no process is left. */
  dispose?(): void;
}

/** A fault of the machine that an agent and its Envoys run on. */
export interface Fault {
  /** Whether the machine that the tests run on lets it be made. */
  readonly isPossible: () => boolean;
  /** Node itself does not start then. */
  readonly preventsStart?: true;
  /** The line of the log that a restart meets; undefined where the fault does not concern it. */
  readonly told?: LogEvent;
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

const run = (program: string, ...args: readonly string[]) => execFileSync(program, args, { stdio: 'ignore' });

function mountable(): boolean {
  return possible(() => run('unshare', '-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'));
}

/** The agent's folder is a file system of its own. */
function ownDisk(folder: string, fault: Pick<FaultStage, 'begin' | 'end'>): FaultStage {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  run('mount', '-t', 'tmpfs', '-o', 'size=1m,mode=0700', 'tmpfs', folder);
  return { folder, start: {}, ...fault, unmount: () => run('umount', '-l', folder) };
}

/** The processes of the agent are a control group of their own. */
const groups = '/sys/fs/cgroup/pids';
function ownGroup(folder: string): FaultStage {
  const group = join(groups, `pilot-agent-fault-${process.pid}-${String(Math.random()).slice(2, 8)}`);
  mkdirSync(group);
  return {
    folder,
    start: { wrap: ['sh', '-c', `echo $$ > ${group}/cgroup.procs && exec "$@"`, 'sh'] },
    begin: () => writeFileSync(join(group, 'pids.max'), readFileSync(join(group, 'pids.current'), 'utf8')),
    end: () => writeFileSync(join(group, 'pids.max'), 'max'),
    dispose: () => rmdirSync(group),
  };
}

function clock(hours: number): Fault {
  return {
    isPossible: () => true,
    told: 'config.refused',
    stage: (folder) => {
      const file = join(folder, '..', 'clock');
      writeFileSync(file, '0');
      return {
        folder,
        start: { env: { NODE_OPTIONS: `--require ${resolve('test/e2e/support/shifted-clock.cjs')}`, SHIFTED_CLOCK: file } },
        begin: () => writeFileSync(file, String(hours * 3_600_000)),
        end: () => writeFileSync(file, '0'),
      };
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
    told: 'part.failed',
    stage: (folder) => {
      let limited: number | undefined;
      const limit = (files: number) => possible(() => run('prlimit', '--pid', String(limited), `--nofile=${files}:`));
      return {
        folder,
        start: {},
        begin: (pid) => {
          limited = pid;
          if (pid !== undefined) limit(readdirSync(`/proc/${pid}/fd`).length);
        },
        end: () => limit(10_000),
      };
    },
  },
  'no processes': {
    isPossible: () =>
      possible(() => {
        const group = join(groups, 'pilot-agent-try');
        mkdirSync(group);
        rmdirSync(group);
      }),
    preventsStart: true,
    told: 'config.unchecked',
    stage: ownGroup,
  },
  'a clock that jumps an hour forward': clock(1),
  'a clock that jumps an hour back': clock(-1),
} as const satisfies Readonly<Record<string, Fault>>;
