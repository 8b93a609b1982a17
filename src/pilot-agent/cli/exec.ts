import { constants } from 'node:os';
import { isatty } from 'node:tty';
import { execa } from 'execa';
import {
  filter,
  firstValueFrom,
  lastValueFrom,
  map,
  Observable,
  of,
  switchMap,
  timeout,
} from 'rxjs';
import { httpAnswer } from '../../shared/http/http-answer.ts';
import { signals } from '../../streams/process-events.ts';
import { awaitReady, unreadyAt, wholeNumber } from './wait.ts';
import { flags } from '../config/flags.ts';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';
import { theAgent$ } from './the-agent.ts';
import { showWaiting } from './waiting.ts';

/** The flags of `exec`, as they were given or by default. */
export interface ExecOptions {
  /** Without it: that of the agent that runs here, else the usual one. */
  readonly statusPort?: string;
  readonly timeoutSeconds: string;
  readonly quiet?: boolean;
}

/**
 * How a command has ended, for whoever asks for its exit code as a shell does; with a word for one
 * that could not be started.
 */
interface End {
  readonly code: number;
  readonly why: string;
}

/** From one question to the next, and for each answer. In ms. */
const period = 500;
const timeoutMs = 5_000;
const nobody = 'nobody was asked';
const passedOn = [
  'SIGTERM',
  'SIGINT',
  'SIGQUIT',
  'SIGHUP',
  'SIGUSR1',
  'SIGUSR2',
] as const satisfies readonly NodeJS.Signals[];

/**
 * `pilot-agent exec`: runs a command once the agent is ready, and shows what it waits for until
 * then; passes signals on to it, and asks the agent to quit when it has ended. Resolves if the
 * command ended with 0; rejects with a {@link Fatal} with its code, 128 + n for a signal, 126 or
 * 127 where it could not be started; and with 69, without having started it, where the agent is not
 * ready in time.
 */
export async function exec(
  command: readonly string[],
  { statusPort, timeoutSeconds, quiet }: ExecOptions,
): Promise<void> {
  const limit = wholeNumber('timeoutSeconds', timeoutSeconds, 0, 1_000);
  const given = statusPort === undefined ? undefined : wholeNumber('statusPort', statusPort, 1, 1);
  const agent$ = given === undefined ? theStatusPort$ : of(given);
  const look$ = agent$.pipe(switchMap((port) => unreadyAt(`${agentAt(port)}/healthz/ready`)));
  const waiting = { what: 'the agent', limit, quiet };
  const answers$ = awaitReady(look$, { limit, timeoutMs, period }).pipe(
    showWaiting(waiting, process.stderr),
  );
  const reason = await lastValueFrom(answers$, { defaultValue: nobody });
  if (reason !== undefined)
    throw new Fatal(
      `the agent is not ready within ${limit / 1_000} s: ${reason}`,
      exitCodes.unavailable,
    );
  const agent = agentAt(await firstValueFrom(agent$, { defaultValue: 0 }));
  const { code, why } = await firstValueFrom(run(command), {
    defaultValue: { code: exitCodes.software, why: nobody },
  });
  const unheard = await firstValueFrom(askToQuit(agent), { defaultValue: nobody });
  const problems = [why, unheard].filter((text) => text !== '');
  if (problems.length > 0 || code !== 0) throw new Fatal(problems.join('; '), code);
}

/** Of the agent that runs here at the moment of the question. */
const theStatusPort$ = theAgent$(({ statusPort }) => `--statusPort ${statusPort}`).pipe(
  map((agent) =>
    agent === undefined || agent.statusPort === 0
      ? Number(flags.statusPort.default)
      : agent.statusPort,
  ),
);

function agentAt(port: number): string {
  return `http://127.0.0.1:${port}`;
}

/**
 * Emits how it ended, and completes. The command has this program's input, output and terminal:
 * what is typed there, Ctrl-C too, it gets by itself.
 */
function run([file = '', ...args]: readonly string[]): Observable<End> {
  return new Observable((subscriber) => {
    const typed: readonly NodeJS.Signals[] = isatty(0) ? ['SIGINT', 'SIGQUIT'] : [];
    const signals$ = signals(passedOn).pipe(filter((signal) => !typed.includes(signal)));
    // Before the command is started: a signal that comes with its first moments is not lost.
    subscriber.add(
      signals$.subscribe({
        next: (signal) => child.kill(signal),
        error: (error: unknown) => subscriber.error(error),
      }),
    );
    const child = execa(file, args, {
      stdio: 'inherit',
      cleanup: false,
      buffer: false,
      reject: false,
    });
    void child.then(({ exitCode, signal, code, shortMessage }) => {
      if (signal !== undefined) subscriber.next({ code: 128 + constants.signals[signal], why: '' });
      else if (exitCode !== undefined) subscriber.next({ code: exitCode, why: '' });
      else
        subscriber.next({
          code: code === 'EACCES' ? 126 : 127,
          why: shortMessage ?? `${file} could not be started`,
        });
      subscriber.complete();
    });
  });
}

/** Emits why the agent could not be asked, '' if it was, and completes. */
function askToQuit(agent: string): Observable<string> {
  const silent = `no answer within ${timeoutMs} ms`;
  return httpAnswer(`${agent}/quitquitquit`, { method: 'POST' }).pipe(
    map((answer) =>
      answer.ok
        ? answer.value.status === 200
          ? ''
          : `it answers ${answer.value.status}`
        : (answer.error as Error).message,
    ),
    timeout({ first: timeoutMs, with: () => of(silent) }),
    map((reason) => (reason === '' ? '' : `the agent cannot be asked to quit: ${reason}`)),
  );
}
