// Why: docs/decisions/083-four-libraries-were-weighed.md
import type { Command } from 'commander';
import { bashCompletion } from './bash-completion.ts';
import { completedWords } from './completed-words.ts';
import { fishCompletion } from './fish-completion.ts';
import { zshCompletion } from './zsh-completion.ts';

/** The shells, and the function that makes the script of each. */
const scripts = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

export type Shell = keyof typeof scripts;

/**
 * `pilot-agent completion SHELL`: prints a script with which the shell completes the command lines
 * of `program`. The script asks no agent, and does not run the program.
 */
export function printCompletion(shell: Shell, program: Command): void {
  process.stdout.write(scripts[shell](completedWords(program), program.name()));
}
