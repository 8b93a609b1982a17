import type { Argument, Command, Option } from 'commander';

/** The completions that a shell may offer for a word. */
export type Completed =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'files' | 'folders' | 'command' | 'anything' };

export interface CompletedOption {
  /** `-o` and `--output`. */
  readonly names: readonly string[];
  readonly text: string;
  /** The placeholder of its value; undefined for an option without one. */
  readonly placeholder: string | undefined;
  readonly value: Completed;
  /** Alone it means true; a value follows only after `=`. */
  readonly isBoolean: boolean;
  readonly isRepeated: boolean;
}

export interface CompletedArgument {
  readonly name: string;
  readonly value: Completed;
}

/** A command, with everything that may follow it. */
export interface CompletedCommand {
  /** `config print`; '' for the program itself. */
  readonly words: string;
  /** The last of the words, and its aliases. */
  readonly name: string;
  readonly aliases: readonly string[];
  readonly text: string;
  readonly below: readonly CompletedCommand[];
  /** The options of this command, and those of all commands. */
  readonly options: readonly CompletedOption[];
  readonly arguments: readonly CompletedArgument[];
}

/**
 * Returns the completions after a command, and after all commands below it. `outer` are the options
 * of the program, which commander accepts after each command. Pure.
 */
export function completedWords(
  command: Command,
  words = '',
  outer: readonly CompletedOption[] = [],
): CompletedCommand {
  const help = command.createHelp();
  const options = [
    ...help.visibleOptions(command).map(completedOption),
    ...outer.filter(({ names }) => !names.includes('--help')),
  ];
  const below = help
    .visibleCommands(command)
    .map((subcommand) =>
      completedWords(
        subcommand,
        `${words} ${subcommand.name()}`.trimStart(),
        command.parent === null ? options : outer,
      ),
    );
  const siblings =
    command.parent === null
      ? []
      : help.visibleCommands(command.parent).map((sibling) => sibling.name());
  return {
    words,
    name: command.name(),
    aliases: command.aliases(),
    text: command.description(),
    below,
    options,
    arguments: command.registeredArguments.map((argument) => ({
      name: argument.name(),
      value: argumentValue(argument, command, siblings),
    })),
  };
}

/**
 * Returns the words that lead to a command below another one, once for each of its names. Each
 * begins with a space if the parent is the program. Pure.
 */
export function waysTo({ words, name, aliases }: CompletedCommand): readonly string[] {
  const parent = words.slice(0, words.length - name.length).trimEnd();
  return [name, ...aliases].map((last) => `${parent} ${last}`);
}

/** Returns all commands of a tree, the outer one first. Pure. */
export function allCommands(command: CompletedCommand): readonly CompletedCommand[] {
  return [command, ...command.below.flatMap(allCommands)];
}

function completedOption(option: Option): CompletedOption {
  const placeholder = /[<[](.+)[>\]]/.exec(option.flags)?.[1];
  const isBoolean = placeholder === 'bool';
  return {
    names: [option.short, option.long].filter((name) => name !== undefined),
    text: option.description,
    placeholder,
    value: isBoolean
      ? { kind: 'words', words: ['true', 'false'] }
      : valueOf(placeholder, option.argChoices),
    isBoolean,
    isRepeated: option.description.includes('may be repeated'),
  };
}

function argumentValue(
  argument: Argument,
  command: Command,
  siblings: readonly string[],
): Completed {
  if (command.name() === 'help')
    return { kind: 'words', words: siblings.filter((name) => name !== 'help') };
  if (argument.variadic && argument.name() === 'command') return { kind: 'command' };
  return valueOf(argument.name() === 'file' ? 'file' : undefined, argument.argChoices);
}

function valueOf(
  placeholder: string | undefined,
  choices: readonly string[] | undefined,
): Completed {
  if (choices !== undefined) return { kind: 'words', words: choices };
  if (placeholder === 'dir') return { kind: 'folders' };
  return { kind: placeholder === 'file' || placeholder === 'path' ? 'files' : 'anything' };
}
