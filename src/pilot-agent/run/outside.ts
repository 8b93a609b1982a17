import { fromEvent, map, merge, NEVER, type Observable, of } from 'rxjs';
import type { StatusEvent, StatusRequest } from '../status/status-event.ts';
import type { ConfigSource } from '../../streams/config-source.ts';
import { fileSource } from '../../streams/file-source.ts';
import { signals, uncaught } from '../../streams/process-events.ts';
import { waitForFiles } from '../../streams/wait-for-files.ts';
import { serveStatus } from './status/serve-status.ts';

/** Where files, signals, chance and the status port come from. */
export interface Outside {
  files(paths: readonly string[]): ConfigSource<never>;
  /** As {@link waitForFiles}. */
  missing(paths: readonly string[]): Observable<readonly string[]>;
  /** Each signal of these names by its name; and what else has the meaning of one, by its own. */
  signals(names: readonly NodeJS.Signals[]): Observable<string>;
  /** As {@link serveStatus}. */
  serve(...given: Parameters<typeof serveStatus>): Observable<StatusEvent>;
  /** What is asked of the agent in another way than over the status port. */
  requests(): Observable<StatusRequest>;
  /** What nobody has caught. */
  uncaught(): Observable<unknown>;
  /** Makes a number from 0 up to, but not including, 1. */
  random(): number;
}

/** Those of this machine. */
export const real: Outside = {
  files: (paths) => fileSource(paths),
  missing: (paths) => waitForFiles(paths),
  signals: (names) => signals(names),
  serve: (...given) => serveStatus(...given),
  requests: () => NEVER,
  uncaught: () => uncaught(),
  random: () => Math.random(),
};

/** What the program of which an agent is a part may do to it. */
interface OfProgram {
  /** Ends it, as SIGTERM does. */
  readonly signal: AbortSignal | undefined;
  readonly requests$?: Observable<StatusRequest>;
  /** It obeys signals to the process. */
  readonly obeys: boolean;
}

/**
 * Those of this machine for an agent that is a part of a program. Signals to the process, and what
 * nobody has caught, are the agent's only if it is asked to obey them.
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
