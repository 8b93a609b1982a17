import { defer, finalize, type Observable, of, switchMap } from 'rxjs';
import type { EpochConfig } from '../epochs/ports.ts';
import { remove, writeWhole } from '../shared/files/whole-file.ts';

/** The use of a configuration file, and the result if there is no file. */
export interface ConfigUse<T> {
  use(path: string): Observable<T>;
  /** `refused`: another try would fail again. `unwritten`: another try may succeed. */
  failed(reason: string, outcome: 'refused' | 'unwritten'): T;
  /** The file stays after its use. */
  readonly outlives?: boolean;
}

/**
 * Calls `then.use` with the path of a configuration from which Envoy can start. A generated
 * bootstrap, and any configuration that something is merged over, is written to `stem` plus its
 * extension while the result of `use` is active. Nobody can read half of that file, and only its
 * owner can read it, because it may hold tokens. Cold; errors only if `use` does: without a file it
 * emits `then.failed`.
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
