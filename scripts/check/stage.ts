import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A part of the check: a command, whose output is shown only if it fails. */
export interface Stage {
  readonly name: string;
  readonly command: readonly string[];
  /** What a developer types to repeat it alone. */
  readonly again: string;
}

/** How a stage has ended. */
export interface Outcome {
  readonly stage: Stage;
  readonly code: number;
}

/** Runs a stage to its end, and prints a line about it, after its output if it has failed. */
async function runStage(stage: Stage): Promise<Outcome> {
  const begun = performance.now();
  const [program = '', ...args] = stage.command;
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const said: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => said.push(chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) process.stdout.write(Buffer.concat(said));
  const seconds = ((performance.now() - begun) / 1000).toFixed(1).padStart(6);
  process.stdout.write(`${code === 0 ? 'ok    ' : 'FAILED'} ${seconds} s  ${stage.name}\n`);
  return { stage, code: code ?? 1 };
}

/** Runs stages one after the other, also after one that has failed: each says what is wrong. */
export async function runLane(stages: readonly Stage[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const stage of stages) outcomes.push(await runStage(stage));
  return outcomes;
}
