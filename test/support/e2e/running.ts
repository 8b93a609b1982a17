import { execa } from 'execa';
import type { Command } from '../../../demo/mesh-agent.ts';

/** A line of the log of a program. */
export interface Line {
  readonly level: string;
  readonly event?: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** A running program, with the lines that it has logged. */
export interface Running {
  readonly lines: readonly Line[];
  readonly pid: number | undefined;
  /** Sends a signal; resolves when the program has ended. */
  end(signal: NodeJS.Signals): Promise<void>;
}

/** Starts a program that logs JSON, with variables in addition to those of this process. */
export function startRunning(
  [file, ...before]: readonly [string, ...string[]],
  { args, env }: Command,
  more: readonly string[] = [],
): Running {
  const child = execa(file, [...before, ...args, ...more], {
    env: { ...process.env, ...env },
    stdin: 'ignore',
    stderr: 'inherit',
    reject: false,
    buffer: false,
  });
  const lines: Line[] = [];
  let left = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    const texts = (left + piece).split('\n');
    left = texts.pop() ?? '';
    for (const text of texts) if (text.startsWith('{')) lines.push(JSON.parse(text) as Line);
  });
  return {
    lines,
    pid: child.pid,
    end: async (signal) => {
      child.kill(signal);
      await child;
    },
  };
}
