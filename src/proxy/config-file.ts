import { renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { defer, finalize, type Observable, of } from 'rxjs';
import type { EpochConfig } from '../agent/ports.ts';

/** What to do with a configuration file, and what to say where there can be none. */
export interface ConfigUse<T> {
  use(path: string, override: string): Observable<T>;
  failed(reason: string): T;
  /** The file stays when that is over. */
  readonly outlives?: boolean;
}

/**
 * Hands `then.use` the path of what Envoy is started from. A generated bootstrap is written to `stem` plus its extension for as long as that lasts: as
 * a whole, for its owner's eyes only (it may hold tokens). Cold; never errors if `use` does not: where there is no such file it emits `then.failed`.
 */
export function withConfigFile<T>(config: EpochConfig, stem: string, then: ConfigUse<T>): Observable<T> {
  if (config.kind === 'refused') return of(then.failed(config.reason));
  if (config.kind === 'given') return then.use(config.path, config.override);
  const path = `${stem}${config.extension}`;
  return defer(() => {
    try {
      writeFileSync(`${path}.new`, config.text, { mode: 0o600 });
      renameSync(`${path}.new`, path);
    } catch (error) {
      remove(`${path}.new`);
      return of(then.failed(`${path} cannot be written: ${(error as Error).message}`));
    }
    return then.use(path, config.override).pipe(
      finalize(() => {
        if (then.outlives !== true) remove(path);
      }),
    );
  });
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It was not there.
  }
}
