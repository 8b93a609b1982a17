import { Command, Option } from 'commander';
import { logFlags } from '../../shared/log/log-flags.ts';
import type { GivenLogFlags } from '../../shared/log/log-options.ts';
import { discoveryFlags, type DiscoveryFlagName } from '../run/discovery-flags.ts';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';
import { version } from '../../shared/program/version.ts';
import type { AnalyzeOptions } from './analyze.ts';
import type { DiffOptions } from './diff.ts';

/**
 * Returns `--secureGRPCAddr` for `--secureGrpcAddr`: upper and lower case are the same, as in
 * istiod. Pure.
 */
export function spelledAsKnown(args: readonly string[]): readonly string[] {
  const spellings = new Map(
    [...Object.keys(discoveryFlags), ...Object.keys(logFlags)].map((name) => [
      name.toLowerCase(),
      name,
    ]),
  );
  return args.map((arg) =>
    arg.replace(
      /^--([^=]+)/,
      (_, name: string) => `--${spellings.get(name.toLowerCase()) ?? name}`,
    ),
  );
}

/** The command line of `pilot-discovery`. */
export function program(): Command {
  const command = new Command('pilot-discovery')
    .description(
      'Control plane for Envoy: reads Istio resources from files or Kubernetes, serves them over xDS v3',
    )
    .helpOption('-h, --help', 'print this page')
    .helpCommand('help [command]', 'print the page of a command')
    .configureOutput({ outputError: () => undefined })
    .exitOverride((error) => {
      if (error.exitCode === 0) throw error;
      throw new Fatal(
        `${error.message.replace(/^error: /, '').replace(/\.$/, '')}; see pilot-discovery --help`,
        exitCodes.usage,
      );
    });
  for (const [name, flag] of Object.entries(logFlags)) {
    command.addOption(
      optionOf(name, flag).argParser((given: string, before?: readonly string[]) => [
        ...(before ?? []),
        given,
      ]),
    );
  }
  addDiscovery(command);
  addAnalyze(command);
  addDiff(command);
  addClients(command);
  command
    .command('version')
    .description('print the version')
    .action(() => console.log(`pilot-discovery ${version} (Node ${process.version})`));
  return command;
}

/** An option, whose help ends with its default. */
function optionOf(
  name: string,
  flag: { readonly value: string; readonly text: string; readonly default: string },
): Option {
  const { value, text, default: standard } = flag;
  return new Option(
    `--${name} <${value}>`,
    standard === '' ? text : `${text} (default: ${standard})`,
  );
}

function addDiscovery(command: Command): void {
  const discovery = command
    .command('discovery')
    .description('serve xDS until SIGTERM')
    .copyInheritedSettings(command)
    .allowUnknownOption()
    .allowExcessArguments();
  for (const [name, flag] of Object.entries(discoveryFlags))
    discovery.addOption(optionOf(name, flag));
  discovery.action(async () => {
    const options = discovery.optsWithGlobals<
      GivenLogFlags & Partial<Record<DiscoveryFlagName, string>>
    >();
    const given = Object.fromEntries(
      Object.entries(options).filter(([name]) => Object.hasOwn(discoveryFlags, name)),
    );
    await (
      await import('../run/whole-discovery.ts')
    ).wholeDiscovery({ given, logging: options, leftover: discovery.args, env: process.env });
  });
}

function addAnalyze(command: Command): void {
  command
    .command('analyze')
    .description('print the mistakes in the resources of files and folders')
    .argument('<path...>', 'files, and folders with all folders below them')
    .option('-o, --output <form>', 'text or json', 'text')
    .option('--domain <name>', 'domain that completes host names without a dot', 'cluster.local')
    .option(
      '--meshConfig <path>',
      'file with the MeshConfig; without it, providers are not checked',
    )
    .option('--registries <names>', 'Kubernetes, Consul: their hosts are not reported as unknown')
    .copyInheritedSettings(command)
    .action(async (paths: readonly string[], options: AnalyzeOptions) =>
      (await import('./analyze.ts')).analyze(paths, options),
    );
}

function addDiff(command: Command): void {
  command
    .command('diff')
    .description('print what a change of resources changes for proxies')
    .argument('<path...>', 'OLD and NEW: two folders, or two files; with --against NEW alone')
    .option('-o, --output <form>', 'text or json', 'text')
    .option(
      '--against <host:port>',
      '--httpAddr of a running pilot-discovery: compare what its proxies have',
    )
    .option(
      '--proxy <id>',
      'one more proxy: the id of its node, then ,NAME=VALUE for each label; may be repeated',
      (given: string, before: readonly string[]) => [...before, given],
      [],
    )
    .option('--meshConfig <path>', 'file with the MeshConfig')
    .option('--domain <name>', 'DNS domain of the mesh', 'cluster.local')
    .option('--namespace <name>', 'namespace of resources that do not name one', 'default')
    .copyInheritedSettings(command)
    .action(async (paths: readonly string[], options: DiffOptions) =>
      (await import('./diff.ts')).diff(paths, options),
    );
}

/** Adds the commands that ask a running control plane. */
function addClients(command: Command): void {
  const addressOption = [
    '--httpAddr <host:port>',
    '--httpAddr of the pilot-discovery to ask',
    '127.0.0.1:8080',
  ] as const;
  command
    .command('request')
    .description('send a request to a running pilot-discovery and print the answer')
    .argument('<method>', 'GET')
    .argument('<path>', 'path, such as /debug/syncz')
    .option(...addressOption)
    .copyInheritedSettings(command)
    .action(async (method: string, path: string, { httpAddr }: { readonly httpAddr: string }) =>
      (await import('./request.ts')).request(method, path, httpAddr),
    );
  command
    .command('confirm')
    .description('confirm the removals that a running pilot-discovery holds back')
    .option(...addressOption)
    .copyInheritedSettings(command)
    .action(async ({ httpAddr }: { readonly httpAddr: string }) =>
      (await import('./request.ts')).confirm(httpAddr),
    );
}
