import { Command, CommanderError } from 'commander';
import { type FlagName, flags } from '../config/flags.ts';
import { exitCodes } from './exit-codes.ts';
import { Fatal } from './fatal.ts';

const program = new Command('pilot-agent')
  .description('Owns the life of one Envoy proxy.')
  .exitOverride()
  .configureOutput({ outputError: () => undefined })
  .action(() => program.outputHelp());

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
  .action(async (wanted?: string) => (await import('./envoy.ts')).install(wanted));
envoy
  .command('path')
  .description('print the path of the Envoy that would be run')
  .action(async () => (await import('./envoy.ts')).path());

program
  .command('version')
  .description('print the version')
  .option('-s, --short', 'the number alone')
  .option('-o, --output <format>', 'yaml or json')
  .action(async (options: { short?: boolean; output?: string }) => (await import('./print-version.ts')).printVersion(options));

program.parseAsync().catch((error: unknown) => {
  if (error instanceof CommanderError && error.exitCode === 0) return;
  const known = error instanceof CommanderError ? new Fatal(error.message.replace(/^error: /, ''), exitCodes.usage) : error;
  if (known instanceof Fatal) process.stderr.write(`pilot-agent: ${known.message}\n`);
  else process.stderr.write(`pilot-agent: this is a bug: ${known instanceof Error ? (known.stack ?? known.message) : String(known)}\n`);
  process.exitCode = known instanceof Fatal ? known.code : exitCodes.software;
});
