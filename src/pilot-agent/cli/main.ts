import { flags } from '../config/flags.ts';
import { logFlags } from '../../shared/log/log-flags.ts';
import type { GivenLogFlags } from '../../shared/log/log-options.ts';
import { printable } from '../../shared/log/printable.ts';
import { exitCodes, seeExit } from '../../shared/program/exit.ts';
import { paintFor } from '../../shared/log/paint.ts';
import { reportLostOutput } from '../../shared/program/report-lost-output.ts';
import { ending } from './ending.ts';
import { program, spelledOut } from './program.ts';

function end([code, why, excerpt]: ReturnType<typeof ending>): void {
  const see = seeExit(code);
  const paint = paintFor(process.stderr);
  const below = excerpt === undefined ? '' : `${printable(excerpt)}\n`;
  if (why !== undefined)
    process.stderr.write(
      `${paint('red', 'pilot-agent:')} ${printable(why)}${see === undefined ? '' : paint('gray', ` (${see})`)}\n${below}`,
    );
  process.exit(code);
}

process.on('uncaughtException', (error) => {
  if (process.listenerCount('uncaughtException') === 1) void fail(error); // a running agent first takes its Envoys down
});

const given = spelledOut(process.argv.slice(2), flags, logFlags);
const isAgent = given[0] === 'proxy' && !given.some((arg) => ['--help', '-h'].includes(arg));
// Envoy inherits the output of an agent, and Node would make a pipe non-blocking for both.
const written = isAgent
  ? () => Promise.resolve()
  : reportLostOutput(process.stdout, (failure) => end(ending(failure)));

const command = program();

/** Ends the program. An agent also logs the reason. */
async function fail(error: unknown): Promise<void> {
  const words = ending(error);
  const [code, why] = words;
  const isLogged =
    why !== undefined &&
    command.args[0] === 'proxy' &&
    (await (
      await import('../run/end/last-words.ts')
    ).lastWords(code, why, command.opts<GivenLogFlags>()));
  end(isLogged ? [code] : words);
}

void command
  // The program itself has no action. With an action, commander would report an unknown command as
  // an extra argument, and have no `help`.
  .parseAsync(given.length > 0 ? given : ['--help'], { from: 'user' })
  .then(written)
  .then(() => end([exitCodes.ok]))
  .catch(fail);
