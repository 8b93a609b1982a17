import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { execa } from 'execa';

/** The program whose clients ACK as Envoy does. It measures the time until all have a change. */
export const fleetProgram = resolve('../shared/peers/fleet');

/** A change of an endpoint, of a VirtualService, of a subset. */
export type FleetChange = 'eds' | 'rds' | 'cds';

/** The load for a control plane. */
interface Fleet {
  /** The folder into which the fleet writes its changes. */
  readonly folder: string;
  readonly port: number;
  /** The process id of the control plane. */
  readonly pid: number;
  readonly proxies: number;
  readonly delta: boolean;
  /** The number of namespaces of the proxies. */
  readonly namespaces: number;
  readonly rounds: number;
  readonly changes: readonly FleetChange[];
}

/** The figures of one control plane. Times in ms, memory and bytes in MB. */
export interface FleetFigures {
  readonly connect: number;
  /** The peak of the memory. */
  readonly peak: number;
  /** NaN for a change that was not made. */
  readonly changes: Readonly<
    Record<
      FleetChange,
      { readonly last: number; readonly cpu: number; readonly bytes: number; readonly rss: number }
    >
  >;
}

/** Runs a fleet. Resolves when it has made all changes. */
export async function runFleet(fleet: Fleet): Promise<FleetFigures> {
  const { folder, port, pid, proxies, delta, namespaces, rounds, changes } = fleet;
  const args = [
    ...['-addr', `127.0.0.1:${port}`, '-n', String(proxies), '-ns', String(namespaces)],
    ...['-dir', folder, '-pid', String(pid), '-rounds', String(rounds)],
    ...['-what', changes.join(','), ...(delta ? ['-delta'] : [])],
  ];
  const { stdout, stderr } = await execa(fleetProgram, args, { timeout: 900_000 });
  return figuresOf(`${stdout}\n${stderr}`, pid);
}

function figuresOf(text: string, pid: number): FleetFigures {
  const number = (pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? NaN);
  const change = (kind: FleetChange) => ({
    last: number(new RegExp(`^${kind}: .*change→last p50 (\\d+)`, 'm')),
    cpu: number(new RegExp(`^${kind}: .*server cpu (\\d+) ms`, 'm')),
    bytes: number(new RegExp(`^${kind}: .* ([\\d.]+) MB/change`, 'm')),
    rss: number(new RegExp(`^${kind}: .*, rss (\\d+) MB`, 'm')),
  });
  const peak =
    Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? NaN) /
    1_024;
  return {
    connect: number(/ready in (\d+) ms/),
    peak,
    changes: { eds: change('eds'), rds: change('rds'), cds: change('cds') },
  };
}
