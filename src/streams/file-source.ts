import { asyncScheduler, type SchedulerLike } from 'rxjs';
import type { ConfigSource } from './config-source.ts';
import { hashFiles } from './hash-files.ts';
import { watchFiles } from './watch-files.ts';

/**
 * The source whose configuration is the files at `paths`; empty and repeated paths are dropped. Without any it never changes.
 *
 * Cold, never ends, never errors: see `watchFiles` and `hashFiles`.
 */
export function fileSource(paths: readonly string[], scheduler: SchedulerLike = asyncScheduler): ConfigSource {
  const files = [...new Set(paths)].filter((path) => path !== '');
  return { changes$: watchFiles(files, scheduler), hash$: hashFiles(files) };
}
