import { flags, logFlags } from '../config/flags.ts';
import { ending } from './ending.ts';
import { exitCodes, seeExit } from '../run/exit.ts';
import { program, spelledOut } from './program.ts';

function end([code, why]: ReturnType<typeof ending>): void {
  const see = seeExit(code);
  if (why !== undefined) process.stderr.write(`pilot-agent: ${why}${see === undefined ? '' : ` (${see})`}\n`);
  process.exit(code);
}

process.on('uncaughtException', (error) => {
  if (process.listenerCount('uncaughtException') === 1) end(ending(error)); // an agent that runs sees to its Envoys first
});

const given = spelledOut(process.argv.slice(2), flags, logFlags);

void program()
  // Not an action of the program itself: with one, commander takes an unknown command for an
  // argument too many, and has no `help`.
  .parseAsync(given.length > 0 ? given : ['--help'], { from: 'user' })
  .then((): ReturnType<typeof ending> => [exitCodes.ok], ending)
  .then(end);
