import { type Command, Option, type OptionValues } from 'commander';
import type { GivenFlags } from '../config/flag-layer.ts';
import { type Flag, flags } from '../config/flags.ts';

/** Runs with the flags of `proxy` that were given, what no flag took, and all other options. */
type Run<Options extends OptionValues> = (given: GivenFlags, leftover: readonly string[], options: Options) => Promise<void>;

/** Makes a command that takes the role and all flags of `proxy`. */
export function agentCommand<Options extends OptionValues>(parent: Command, name: string, description: string, run: Run<Options>): Command {
  const command = parent.command(name).description(description);
  command.argument('[role]', 'sidecar or router', 'sidecar').allowUnknownOption().allowExcessArguments();
  const options = Object.entries<Flag>(flags).map(([flag, { value, text, default: standard }]) => {
    const option = new Option(`--${flag} <${value}>`, standard === '' ? text : `${text} (default ${standard})`);
    command.addOption(option);
    return [flag, option.attributeName()] as const;
  });
  return command.action(() => {
    const given = options.map(([flag, key]) => [flag, command.getOptionValue(key) as string | undefined]);
    const said = Object.fromEntries(given.filter(([, text]) => text !== undefined)) as GivenFlags;
    return run(said, command.args, command.optsWithGlobals<Options>());
  });
}
