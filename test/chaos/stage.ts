import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Rig } from '../support/e2e/rig.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';

/**
 * The surroundings of an agent that chaos changes: its admin endpoint, its disk, the events of its
 * files, and an attacker.
 */
export interface Stage {
  /** Whether the folder of the agent is a file system of its own, which can be full. */
  readonly ownDisk: boolean;
  /**
   * For `ms`, gives the agent an admin endpoint that answers late by `delay`, or never if `delay`
   * is Infinity.
   */
  bendAdmin(ms: number, delay: number): Promise<void>;
  /** For `ms`, leaves no room on the disk. */
  fillDisk(ms: number): Promise<void>;
  /**
   * Causes more events in the folder of the certificates than the kernel keeps for a stopped
   * process.
   */
  flood(): void;
  /**
   * Starts an attacker, which runs until the stage is disposed. It is another user if that is
   * possible.
   */
  attack(): Promise<Attacker>;
  dispose(): void;
}

interface Attacker {
  /** Names the attacker's metrics to the agent. */
  readonly target: NodeJS.ProcessEnv;
  /** Returns the harm that the attacker could do, in words. */
  harm(): readonly string[];
}

/** Sets a stage for a rig whose agent has not been started yet. */
export function setStage(rig: Rig): Stage {
  const folder = join(rig.folder, 'run');
  const addressFile = join(folder, 'envoy-admin-address');
  mkdirSync(folder, { mode: 0o700 });
  const ownDisk = tryTo(() =>
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=0700', 'tmpfs', folder], {
      stdio: 'ignore',
    }),
  );

  const attackers: ChildProcess[] = [];

  return {
    ownDisk,
    async bendAdmin(ms, delay) {
      const real = read(addressFile);
      const target = Number(/:(\d+)$/.exec(real)?.[1]);
      if (Number.isNaN(target)) return;
      const sockets = new Set<Socket>();
      const server = createServer((client) => {
        sockets.add(client.on('error', () => client.destroy()));
        if (delay === Infinity) return;
        const upstream = connect(target, '127.0.0.1').on('error', () => client.destroy());
        sockets.add(upstream);
        client.on('data', (data) => void sleep(delay).then(() => upstream.write(data)));
        upstream.on('data', (data) => client.write(data)).on('close', () => client.destroy());
      });
      const port = await new Promise<number>((done) =>
        server.listen(0, '127.0.0.1', () => done((server.address() as { port: number }).port)),
      );
      const bent = `127.0.0.1:${port}`;
      replace(addressFile, bent);
      await sleep(ms);
      if (read(addressFile) === bent) replace(addressFile, real);
      for (const socket of sockets) socket.destroy();
      server.close();
    },
    async fillDisk(ms) {
      const filler = join(folder, 'filler');
      tryTo(() => {
        const file = openSync(filler, 'w');
        try {
          for (const piece = Buffer.alloc(4_096); ;) writeSync(file, piece);
        } finally {
          closeSync(file);
        }
      });
      await sleep(ms);
      rmSync(filler, { force: true });
    },
    flood() {
      const most = Number(read('/proc/sys/fs/inotify/max_queued_events')) || 16_384;
      const names = [0, 1].map((index) => join(rig.certDir, `.flood-${index}`));
      writeFileSync(names[0] ?? '', '');
      // Each rename causes two events. Two equal events in a row would become one in the kernel, so
      // each event differs from the one before.
      for (let index = 0; index < most; index++)
        renameSync(names[index % 2] ?? '', names[(index + 1) % 2] ?? '');
      for (const name of names) rmSync(name, { force: true });
    },
    async attack() {
      const [port = 0] = await freePorts(1);
      const stranger =
        process.getuid?.() === 0
          ? ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups']
          : [];
      const program = [
        process.execPath,
        '--import',
        'tsx',
        'test/chaos/attacker.ts',
        String(rig.ports.status),
        String(port),
      ];
      const [file = '', ...args] = [...stranger, ...program];
      const attacker = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
      attackers.push(attacker);
      const lines: string[] = [];
      createInterface(attacker.stdout).on('line', (line) => lines.push(line));
      await eventually(() => lines.includes('ready'), { within: 10_000 });
      return {
        target: {
          ISTIO_PROMETHEUS_ANNOTATIONS: JSON.stringify({
            scrape: 'true',
            path: '/metrics',
            port: String(port),
          }),
        },
        harm: () => [...new Set(lines.filter((line) => line !== 'ready'))],
      };
    },
    dispose() {
      for (const { pid } of attackers) if (pid !== undefined) process.kill(-pid, 'SIGKILL');
      if (ownDisk) execFileSync('umount', ['-l', folder], { stdio: 'ignore' });
    },
  };
}

/**
 * Returns the processes of a rig that are Envoys, or will become one, with their base ids. Leaves
 * out those that only check a configuration.
 */
export function envoysOf(rig: Rig): ReadonlyMap<number, string> {
  const baseIds = new Map<number, string>();
  for (const pid of rig.envoys()) {
    const args = read(`/proc/${pid}/cmdline`).split('\0');
    if (args.includes('--restart-epoch') && !args.includes('--mode'))
      baseIds.set(pid, args[args.indexOf('--base-id') + 1] ?? '');
  }
  return baseIds;
}

/** Returns the process that checks a configuration; undefined if there is none. */
export function checkerOf(rig: Rig): number | undefined {
  return rig.envoys().find((pid) => read(`/proc/${pid}/cmdline`).endsWith('\0--mode\0validate\0'));
}

/**
 * Returns the number of open descriptors of a process, and its memory in bytes; 0 and 0 if it has
 * ended.
 */
export function needsOf(pid: number): { readonly files: number; readonly memory: number } {
  try {
    const memory = 1_024 * Number(/^VmRSS:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0);
    return { files: readdirSync(`/proc/${pid}/fd`).length, memory };
  } catch {
    return { files: 0, memory: 0 };
  }
}

function replace(path: string, text: string): void {
  tryTo(() => {
    writeFileSync(`${path}.chaos`, text);
    renameSync(`${path}.chaos`, path);
  });
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function tryTo(action: () => void): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}
