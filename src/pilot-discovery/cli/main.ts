import { CommanderError } from 'commander';
import { printable } from '../../shared/log/printable.ts';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';
import { reportLostOutput } from '../../shared/program/report-lost-output.ts';
import { program, spelledAsKnown } from './program.ts';

// Without a listener, Node opens its inspector at this signal.
process.on('SIGUSR1', () => undefined);

function fail(error: unknown): never {
  if (error instanceof CommanderError)
    process.exit(error.exitCode === 0 ? exitCodes.ok : exitCodes.usage);
  const isFatal = error instanceof Fatal;
  const why = isFatal
    ? error.message
    : `this is a bug: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  if (why !== '') process.stderr.write(`pilot-discovery: ${printable(why)}\n`);
  process.exit(isFatal ? error.code : exitCodes.software);
}

const written = reportLostOutput(process.stdout, fail);

const given = spelledAsKnown(process.argv.slice(2));
void program()
  .parseAsync(given.length > 0 ? [...given] : ['--help'], { from: 'user' })
  .then(written)
  .then(() => process.exit(exitCodes.ok))
  .catch(fail);
