import type { Observable } from 'rxjs';
import type { StatusEvent } from '../status/handler.ts';
import type { ConfigSource } from '../streams/config-source.ts';
import { fileSource } from '../streams/file-source.ts';
import { signals, uncaught } from '../streams/process-events.ts';
import { waitForFiles } from '../streams/wait-for-files.ts';
import { serveStatus } from './serve-status.ts';

/** Where files, signals, chance and the status port come from. */
export interface Outside {
  files(paths: readonly string[]): ConfigSource<never>;
  /** As {@link waitForFiles}. */
  missing(paths: readonly string[]): Observable<readonly string[]>;
  signals(names: readonly NodeJS.Signals[]): Observable<NodeJS.Signals>;
  /** As {@link serveStatus}. */
  serve(...given: Parameters<typeof serveStatus>): Observable<StatusEvent>;
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
  uncaught: () => uncaught(),
  random: () => Math.random(),
};
