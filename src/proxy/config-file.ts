import { defer, finalize, type Observable, of, switchMap } from 'rxjs';
import type { EpochConfig } from '../epochs/ports.ts';
import { remove, writeWhole } from '../shared/files/whole-file.ts';

/** What to do with a configuration file, and what to say where there can be none. */
export interface ConfigUse<T> {
  use(path: string): Observable<T>;
  /** `refused`: another try would end the same. `unwritten`: it may not. */
  failed(reason: string, outcome: 'refused' | 'unwritten'): T;
  /** The file stays when that is over. */
  readonly outlives?: boolean;
}

/**
 * Hands `then.use` the path of what Envoy is started from. A generated bootstrap, and any
 * configuration that something is laid over, is written to `stem` plus its extension for as long
 * as that lasts: as a whole, for its owner's eyes only (it may hold tokens). Cold; never errors if
 * `use` does not: where there is no such file it emits `then.failed`.
 */
export function withConfigFile<T>(
  config: EpochConfig,
  stem: string,
  then: ConfigUse<T>,
): Observable<T> {
  if (config.kind === 'refused') return of(then.failed(config.reason, 'refused'));
  if (
    config.override !== '' ||
    (config.overlays ?? []).length > 0 ||
    config.withAdminLayer === true
  ) {
    return defer(async () => (await import('./merge-override.ts')).mergeOverride(config)).pipe(
      switchMap((merged) =>
        merged.ok
          ? written(`${stem}.json`, merged.text, then)
          : of(then.failed(merged.reason, 'refused')),
      ),
    );
  }
  return config.kind === 'given'
    ? then.use(config.path)
    : written(`${stem}${config.extension}`, config.text, then);
}

function written<T>(path: string, text: string, then: ConfigUse<T>): Observable<T> {
  return defer(() => {
    try {
      writeWhole(path, text);
    } catch (error) {
      return of(then.failed(`${path} cannot be written: ${(error as Error).message}`, 'unwritten'));
    }
    return then.use(path).pipe(
      finalize(() => {
        if (then.outlives !== true) remove(path);
      }),
    );
  });
}
