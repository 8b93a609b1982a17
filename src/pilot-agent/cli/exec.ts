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
import { readPort } from './read-port.ts';
import { theAgent$ } from './the-agent.ts';
import { showWaiting } from './waiting.ts';

/** The flags of `exec`, as they were given or by default. */
export interface ExecOptions {
  /** If left out: the port of the agent that runs here, else the default. */
  readonly statusPort?: string;
  readonly timeoutSeconds: string;
  readonly quiet?: boolean;
}

/**
 * The end of a command: its exit code as a shell reports it, and a message if it could not be
 * started.
 */
interface End {
  readonly code: number;
  readonly why: string;
}

/** The interval between two questions, and the time limit of each answer. In ms. */
const period = 500;
const timeoutMs = 5_000;
const unasked = 'no request was sent';
const passedOn = [
  'SIGTERM',
  'SIGINT',
  'SIGQUIT',
  'SIGHUP',
  'SIGUSR1',
  'SIGUSR2',
] as const satisfies readonly NodeJS.Signals[];

/**
 * `pilot-agent exec`: runs a command once the agent is ready, and shows meanwhile what it waits
 * for. Passes signals on to the command, and asks the agent to quit when the command has ended.
 * Resolves if the command ended with 0. Rejects with a {@link Fatal} with the code of the command,
 * 128 + n for a signal, or 126 or 127 if it could not be started. If the agent is not ready in
 * time, it rejects with 69 and does not start the command.
 */
export async function exec(
  command: readonly string[],
  { statusPort, timeoutSeconds, quiet }: ExecOptions,
): Promise<void> {
  const limit = wholeNumber('timeoutSeconds', timeoutSeconds, 0, 1_000);
  const given = statusPort === undefined ? undefined : readPort('statusPort', statusPort);
  const agent$ = given === undefined ? theStatusPort$ : of(given);
  const look$ = agent$.pipe(switchMap((port) => unreadyAt(`${agentAt(port)}/healthz/ready`)));
  const waiting = { what: 'the agent', limit, quiet };
  const answers$ = awaitReady(look$, { limit, timeoutMs, period }).pipe(
    showWaiting(waiting, process.stderr),
  );
  const reason = await lastValueFrom(answers$, { defaultValue: unasked });
  if (reason !== undefined)
    throw new Fatal(
      `the agent is not ready within ${limit / 1_000} s: ${reason}`,
      exitCodes.unavailable,
    );
  const agent = agentAt(await firstValueFrom(agent$, { defaultValue: 0 }));
  const { code, why } = await firstValueFrom(run(command), {
    defaultValue: { code: exitCodes.software, why: unasked },
  });
  const unheard = await firstValueFrom(askToQuit(agent), { defaultValue: unasked });
  const problems = [why, unheard].filter((text) => text !== '');
  if (problems.length > 0 || code !== 0) throw new Fatal(problems.join('; '), code);
}

/** Emits the status port of the agent that runs here at the time of the subscription. */
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
 * Runs a command, emits its end, and completes. The command uses this program's input, output and
 * terminal, so it receives what is typed there directly, including Ctrl-C.
 */
function run([file = '', ...args]: readonly string[]): Observable<End> {
  return new Observable((subscriber) => {
    const typed: readonly NodeJS.Signals[] = isatty(0) ? ['SIGINT', 'SIGQUIT'] : [];
    const signals$ = signals(passedOn).pipe(filter((signal) => !typed.includes(signal)));
    // Subscribed before the command is started, so that no early signal is lost.
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
