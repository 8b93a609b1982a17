import { fromEvent, map, merge, NEVER, type Observable, of } from 'rxjs';
import type { StatusEvent, StatusRequest } from '../status/status-event.ts';
import type { ConfigSource } from '../../streams/config-source.ts';
import { fileSource } from '../../streams/file-source.ts';
import { signals, uncaught } from '../../streams/process-events.ts';
import { waitForFiles } from '../../streams/wait-for-files.ts';
import { serveStatus } from './status/serve-status.ts';

/** The origin of files, signals, random numbers and status requests. */
export interface Outside {
  files(paths: readonly string[]): ConfigSource<never>;
  /** As {@link waitForFiles}. */
  missing(paths: readonly string[]): Observable<readonly string[]>;
  /** Emits the name of each signal of `names`, and of any other event with the same meaning. */
  signals(names: readonly NodeJS.Signals[]): Observable<string>;
  /** As {@link serveStatus}. */
  serve(...given: Parameters<typeof serveStatus>): Observable<StatusEvent>;
  /** Requests to the agent that do not come over the status port. */
  requests(): Observable<StatusRequest>;
  /** Exceptions that nobody has caught. */
  uncaught(): Observable<unknown>;
  /** Makes a number from 0 up to, but not including, 1. */
  random(): number;
}

/** The files, signals and status port of this machine. */
export const real: Outside = {
  files: (paths) => fileSource(paths),
  missing: (paths) => waitForFiles(paths),
  signals: (names) => signals(names),
  serve: (...given) => serveStatus(...given),
  requests: () => NEVER,
  uncaught: () => uncaught(),
  random: () => Math.random(),
};

/** How a program controls an agent that runs inside it. */
interface OfProgram {
  /** Ends the agent, as SIGTERM does. */
  readonly signal: AbortSignal | undefined;
  readonly requests$?: Observable<StatusRequest>;
  /** Whether the agent obeys signals to the process. */
  readonly obeys: boolean;
}

/**
 * Returns the outside for an agent that is a part of a program. Signals to the process and uncaught
 * exceptions reach the agent only if `obeys` is true.
 */
export function outsideOf({ signal, requests$ = NEVER, obeys }: OfProgram): Outside {
  const aborted$ =
    signal === undefined
      ? NEVER
      : signal.aborted
        ? of('abort')
        : fromEvent(signal, 'abort').pipe(map(() => 'abort'));
  return {
    ...real,
    signals: (names) =>
      merge(
        NEVER,
        obeys ? real.signals(names) : NEVER,
        names.includes('SIGTERM') ? aborted$ : NEVER,
      ),
    requests: () => requests$,
    uncaught: () => (obeys ? real.uncaught() : NEVER),
  };
}
