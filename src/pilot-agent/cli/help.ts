import type { Command, CommanderError } from 'commander';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';
import { examples } from './examples.ts';
import { styledExamples } from './help-style.ts';

/**
 * Adds to a command, and to all below it, the examples of its page, a `help` command if there are
 * commands below, and errors that refer to the page.
 */
export function addHelp(command: Command): void {
  const words = wordsOf(command);
  command
    .addHelpText('after', () => styledExamples(examples(words)))
    .exitOverride((error) => {
      throw described(error, words);
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

function described(error: CommanderError, words: string): Error {
  if (error.exitCode === 0 || error.code === 'commander.help') return error;
  const why = error.message.replace(/^error: /, '').replace(/\.$/, '');
  return new Fatal(why.endsWith('?)') ? why : `${why}; see ${words} --help`, exitCodes.usage);
}

/** Prints the page of the named command, and throws the error with which commander ends. */
function pageOf(command: Command, [name, ...names]: readonly string[]): never {
  if (name === undefined || command.commands.length === 0) return command.help();
  return pageOf(named(command, name), names);
}

/** Returns the command with this name or alias. Throws commander's error if there is none. */
function named(command: Command, name: string): Command {
  const subcommand = command.commands.find(
    (candidate) => candidate.name() === name || candidate.aliases().includes(name),
  );
  return subcommand ?? command.parse([name], { from: 'user' });
}

/**
 * Throws for an unknown command below this one. Without this check, commander prints the page of
 * the parent: `config prnt --help`.
 */
function checked(command: Command): string {
  const [name = '-'] = command.args;
  if (!name.startsWith('-')) named(command, name);
  return '';
}
