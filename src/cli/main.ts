import { Command } from 'commander';
import { type FlagName, flags } from '../config/flags.ts';
import { ending } from './ending.ts';
import { exitCodes } from './exit-codes.ts';

const program = new Command('pilot-agent')
  .description('Owns the life of one Envoy proxy.')
  .exitOverride()
  .configureOutput({ outputError: () => undefined });

const proxy = program
  .command('proxy')
  .description('run the agent')
  .argument('[role]', 'sidecar or router', 'sidecar')
  .allowUnknownOption()
  .allowExcessArguments();
for (const [name, flag] of Object.entries(flags)) {
  proxy.option(`--${name} <${flag.value}>`, flag.default === '' ? flag.text : `${flag.text} (default ${flag.default})`);
}
proxy.action(async () => (await import('./proxy.ts')).proxy(proxy.opts<Partial<Record<FlagName, string>>>(), proxy.args));

const envoy = program.command('envoy').description('the Envoy binary');
envoy
  .command('install')
  .description('put an Envoy into the cache')
  .argument('[version]')
  .action(async (wanted?: string) => (await import('./envoy-install.ts')).envoyInstall(wanted));
envoy
  .command('path')
  .description('print the path of the Envoy that would be run')
  .action(async () => (await import('./envoy-path.ts')).envoyPath());

program
  .command('version')
  .description('print the version')
  .option('-s, --short', 'the number alone')
  .option('-o, --output <format>', 'yaml or json')
  .action(async (options: { short?: boolean; output?: string }) => (await import('./print-version.ts')).printVersion(options));

// Not an action of the program itself: with one, commander takes an unknown command for an argument too many, and has no `help`.
const args = process.argv.length > 2 ? process.argv : [...process.argv, '--help'];

void program
  .parseAsync(args)
  .then((): ReturnType<typeof ending> => [exitCodes.ok], ending)
  .then(([code, why]) => {
    if (why !== undefined) process.stderr.write(`pilot-agent: ${why}\n`);
    process.exit(code);
  });
