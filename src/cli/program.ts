import { Command, Option, type OptionValues } from 'commander';
import type { GivenFlags } from '../config/flag-layer.ts';
import { type Flag, flags, logFlags } from '../config/flags.ts';
import type { GivenLogFlags } from '../config/log-options.ts';
import type { PrintBootstrapOptions } from './bootstrap.ts';
import type { ConfigPrintOptions } from './config-print.ts';
import type { ExecOptions } from './exec.ts';
import type { RequestOptions } from './request.ts';
import type { WaitOptions } from './wait.ts';

/**
 * Arguments in which a flag of a boolean that stands alone, which is true, has its value: what
 * comes after such a flag never is it, as in Go. Pure.
 */
export function spelledOut(args: readonly string[], ...tables: readonly Readonly<Record<string, Flag>>[]): readonly string[] {
  const booleans = tables.flatMap((table) => Object.entries(table).flatMap(([name, { value }]) => (value === 'bool' ? [`--${name}`] : [])));
  return args.map((arg) => (booleans.includes(arg) ? `${arg}=true` : arg));
}

/** Runs with the flags of `proxy` that were given, what no flag took, and all other options. */
type Run<Options extends OptionValues> = (given: GivenFlags, leftover: readonly string[], options: Options) => Promise<void>;

/** Makes a command that takes the role and all flags of `proxy`. */
function agentCommand<Options extends OptionValues>(parent: Command, name: string, description: string, run: Run<Options>): Command {
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

/**
 * The command line: what each command takes, and which module runs it. Nothing of a command is
 * loaded before it is run.
 */
export function program(): Command {
  const all = new Command('pilot-agent')
    .description('Owns the life of one Envoy proxy.')
    .exitOverride()
    .configureOutput({ outputError: () => undefined });
  for (const [name, { value, text, default: standard }] of Object.entries(logFlags)) {
    const description = standard === '' ? text : `${text} (default ${standard})`;
    all.option(`--${name} <${value}>`, description, (given: string, before?: readonly string[]) => [...(before ?? []), given]);
  }
  agentCommand(all, 'proxy', 'run the agent', async (given, leftover, logFlags: GivenLogFlags) =>
    (await import('./proxy.ts')).proxy(given, leftover, logFlags),
  );
  agentCommand(all, 'bootstrap', 'print what Envoy would be started from', async (given, leftover, options: PrintBootstrapOptions) =>
    (await import('./bootstrap.ts')).printBootstrap(given, leftover, options),
  )
    .option('-o, --output <format>', 'json or yaml', 'json')
    .option('--validate', 'let Envoy check it');
  addConfig(all);
  addEnvoy(all);
  addClients(all);
  all
    .command('secrets')
    .description('print what the running agent serves: names, subjects, serials, validity')
    .option('--configPath <dir>', flags.configPath.text, flags.configPath.default)
    .option('-o, --output <format>', 'json')
    .action(async (options: { configPath: string; output?: string }) => (await import('./secrets.ts')).printSecrets(options));
  all
    .command('version')
    .description('print the version')
    .option('-s, --short', 'the number alone')
    .option('-o, --output <format>', 'yaml or json')
    .action(async (options: { short?: boolean; output?: string }) => (await import('./version.ts')).printVersion(options));
  return all;
}

function addConfig(all: Command): void {
  const config = all.command('config').description('the configuration');
  agentCommand(config, 'print', 'print each value, and where it is from', async (given, leftover, options: ConfigPrintOptions) =>
    (await import('./config-print.ts')).configPrint(given, leftover, options),
  ).option('-o, --output <format>', 'table, json or yaml', 'table');
}

function addEnvoy(all: Command): void {
  const envoy = all.command('envoy').description('the Envoy binary');
  envoy
    .command('install [version]')
    .description('put an Envoy into the cache')
    .action(async (wanted?: string) => (await import('./envoy.ts')).envoyInstall(wanted));
  envoy
    .command('path')
    .description('print the path of the Envoy that would be run')
    .action(async () => (await import('./envoy.ts')).envoyPath());
}

/** Commands that talk to an agent that runs. */
function addClients(all: Command): void {
  all
    .command('request <method> <path> [body]')
    .description("ask Envoy's admin endpoint, and print the answer")
    .option('--port <port>', "its port on 127.0.0.1; without it, where the agent's Envoy has it, else 15000")
    .option('--configPath <dir>', 'folder of the agent', flags.configPath.default)
    .action(async (method: string, path: string, body: string | undefined, options: RequestOptions) =>
      (await import('./request.ts')).request(method, path, body, options),
    );
  all
    .command('wait')
    .description('wait until the proxy is ready')
    .option('--timeoutSeconds <n>', 'how long, in all', '60')
    .option('--requestTimeoutMillis <n>', 'how long for one answer', '500')
    .option('--periodMillis <n>', 'from one answer to the next request', '500')
    .option('--url <url>', 'what has to answer with 200', 'http://localhost:15021/healthz/ready')
    .action(async (options: WaitOptions) => (await import('./wait.ts')).wait(options));
  all
    .command('exec <command...>')
    .description('run a command once the agent is ready, and end the agent with it')
    .option('--statusPort <port>', 'status port of the agent', flags.statusPort.default)
    .option('--timeoutSeconds <n>', 'how long to wait for it, in all', '60')
    .action(async (command: readonly string[], options: ExecOptions) => (await import('./exec.ts')).exec(command, options));
}
