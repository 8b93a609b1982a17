import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { parentOf, pids } from '../../src/proxy/proc.ts';

/** A part of the check: a command. */
export interface Stage {
  readonly name: string;
  readonly command: readonly string[];
  /** The command with which a developer repeats only this stage. */
  readonly again: string;
  /** Whether its output is printed while it runs, or only if it fails. */
  readonly output: 'at once' | 'if it fails';
}

/** How a stage has ended. */
export interface Outcome {
  readonly stage: Stage;
  readonly code: number;
  /** Everything that the stage has printed. */
  readonly text: string;
}

/**
 * Runs a stage to its end, and prints a line about it. If `stop` aborts, the stage ends with all
 * programs that it has started, and has no outcome.
 */
async function runStage(stage: Stage, stop: AbortSignal): Promise<Outcome | undefined> {
  const isStopped = () => stop.aborted;
  if (isStopped()) return undefined;
  const begun = performance.now();
  const [program = '', ...args] = stage.command;
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const end = () => {
    if (child.pid !== undefined && child.exitCode === null) endTree(child.pid);
  };
  stop.addEventListener('abort', end);
  const printed: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      printed.push(chunk);
      if (stage.output === 'at once') process.stdout.write(chunk);
    });
  const [code] = (await once(child, 'close')) as [number | null];
  stop.removeEventListener('abort', end);
  const seconds = ((performance.now() - begun) / 1000).toFixed(1).padStart(6);
  const printEnd = (how: string) => process.stdout.write(`${how} ${seconds} s  ${stage.name}\n`);
  if (isStopped()) {
    printEnd('ended ');
    return undefined;
  }
  const text = Buffer.concat(printed).toString();
  if (stage.output === 'if it fails') process.stdout.write(code === 0 ? leftOutLines(text) : text);
  printEnd(code === 0 ? 'ok    ' : 'FAILED');
  return { stage, code: code ?? 1, text };
}

/** Asks a process and its descendants to end. A descendant whose parent has ended is not found. */
function endTree(root: number): void {
  const parents = pids().map((pid) => [pid, parentOf(pid)] as const);
  const tree = new Set([root]);
  for (const pid of tree)
    for (const [child, parent] of parents) if (parent === pid) tree.add(child);
  for (const pid of tree)
    try {
      process.kill(pid, 'SIGTERM');
    } catch {
      // It has ended meanwhile.
    }
}

/**
 * The lines in which a run of tests lists the tests that it has skipped
 * (test/support/tell-left-out.ts).
 */
export function leftOutLines(text: string): string {
  const lines = text.split('\n').filter((line) => line.startsWith('Left out, '));
  return lines.map((line) => `${line}\n`).join('');
}

interface LaneOptions {
  /** Aborts if the lane is to end. */
  readonly stop: AbortSignal;
  readonly onFailure?: () => void;
}

/**
 * Runs stages one after the other, also after a stage that has failed, because each shows what is
 * wrong.
 */
export async function runLane(
  stages: readonly Stage[],
  { stop, onFailure }: LaneOptions,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const stage of stages) {
    const outcome = await runStage(stage, stop);
    if (outcome !== undefined) outcomes.push(outcome);
    if (outcome !== undefined && outcome.code !== 0) onFailure?.();
  }
  return outcomes;
}

/** A signal that aborts if this program is asked to end. The program then ends after its stages. */
export function interruption(): AbortSignal {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      process.exitCode = 128 + constants.signals[signal];
      interrupted.abort();
    });
  return interrupted.signal;
}

/**
 * The lines that end a failing run, by stage: what has failed, and the command that repeats it. A
 * stage of tests has already printed its lines (test/support/tell-failed.ts). Pure.
 */
export function failedStages(outcomes: readonly Outcome[]): string[] {
  return outcomes
    .filter(({ code }) => code !== 0)
    .flatMap(({ stage, text }) => {
      const lines = text.split('\n').slice(-most);
      const first = lines.findIndex((line) => line.startsWith('Failed: '));
      return first >= 0
        ? lines.slice(first).filter((line) => line !== '')
        : [`Failed: ${stage.name}`, `  again: ${stage.again}`];
    });
}
/** Test/support/tell-failed.ts prints fewer. */
const most = 12;

/** Ends this program: prints the lines of {@link failedStages}, and fails if there are any. */
export function endWith(failed: readonly string[]): void {
  if (failed.length > 0) process.stdout.write(`${failed.join('\n')}\n`);
  process.exitCode ??= failed.length > 0 ? 1 : 0;
}
