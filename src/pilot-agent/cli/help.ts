import type { Command, CommanderError } from 'commander';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';
import { examples } from './examples.ts';
import { styledExamples } from './help-style.ts';

/**
 * Adds to a command, and to all below it, the examples of its page, a `help` where there are
 * commands below, and errors that say where to look.
 */
export function addHelp(command: Command): void {
  const words = wordsOf(command);
  command
    .addHelpText('after', () => styledExamples(examples(words)))
    .exitOverride((error) => {
      throw told(error, words);
    });
  if (command.commands.length === 0) return;
  command.addHelpText('before', () => checked(command));
  command
    .command('help')
    .description('print the page of a command')
    .argument('[command]')
    .allowExcessArguments()
    .action((_: string | undefined, __: unknown, { args }: Command) => pageOf(command, args));
  command.commands.forEach(addHelp);
}

function wordsOf(command: Command): string {
  return command.parent === null ? command.name() : `${wordsOf(command.parent)} ${command.name()}`;
}

function told(error: CommanderError, words: string): Error {
  if (error.exitCode === 0 || error.code === 'commander.help') return error;
  const why = error.message.replace(/^error: /, '').replace(/\.$/, '');
  return new Fatal(why.endsWith('?)') ? why : `${why}; see ${words} --help`, exitCodes.usage);
}

/** Prints the page of what the names lead to, and throws what commander ends with. */
function pageOf(command: Command, [name, ...names]: readonly string[]): never {
  if (name === undefined || command.commands.length === 0) return command.help();
  return pageOf(named(command, name), names);
}

/** The command of this name or alias. Throws what commander says of a name that none has. */
function named(command: Command, name: string): Command {
  const found = command.commands.find((one) => one.name() === name || one.aliases().includes(name));
  return found ?? command.parse([name], { from: 'user' });
}

/** Commander prints the page of a command for an unknown command below it: `config prnt --help`. */
function checked(command: Command): string {
  const [name = '-'] = command.args;
  if (!name.startsWith('-')) named(command, name);
  return '';
}
