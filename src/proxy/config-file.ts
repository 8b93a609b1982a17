import { defer, finalize, type Observable, of } from 'rxjs';
import type { EpochConfig } from '../agent/ports.ts';
import { remove, writeWhole } from '../files/whole-file.ts';

/** What to do with a configuration file, and what to say where there can be none. */
export interface ConfigUse<T> {
  use(path: string, override: string): Observable<T>;
  failed(reason: string): T;
  /** The file stays when that is over. */
  readonly outlives?: boolean;
}

/**
 * Hands `then.use` the path of what Envoy is started from. A generated bootstrap is written to
 * `stem` plus its extension for as long as that lasts: as a whole, for its owner's eyes only (it
 * may hold tokens). Cold; never errors if `use` does not: where there is no such file it emits
 * `then.failed`.
 */
export function withConfigFile<T>(config: EpochConfig, stem: string, then: ConfigUse<T>): Observable<T> {
  if (config.kind === 'refused') return of(then.failed(config.reason));
  if (config.kind === 'given') return then.use(config.path, config.override);
  const path = `${stem}${config.extension}`;
  return defer(() => {
    try {
      writeWhole(path, config.text);
    } catch (error) {
      return of(then.failed(`${path} cannot be written: ${(error as Error).message}`));
    }
    return then.use(path, config.override).pipe(
      finalize(() => {
        if (then.outlives !== true) remove(path);
      }),
    );
  });
}
