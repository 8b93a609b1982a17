import { defer, from, type Observable, shareReplay, switchMap } from 'rxjs';
import type { SourceConfig } from '../config/source-config.ts';
import { shared } from '../sources/combinators.ts';
import { compose } from '../sources/compose.ts';
import type { ContributingSource } from '../sources/contribution.ts';

/**
 * The sources that the user asks for, and those of a program, as one, which is followed once. What
 * a source needs is loaded when it is listened to, or read, for the first time.
 */
export function makeSources(asked: readonly SourceConfig[], further: readonly ContributingSource[] = []): ContributingSource {
  const all = [...asked.map((config) => lazily(() => make(config))), ...further];
  const composed = compose(...all);
  return all.length === 0 ? composed : shared(composed); // which tells its first reading as a change
}

async function make(config: SourceConfig): Promise<ContributingSource> {
  switch (config.kind) {
    case 'http':
      return (await import('../sources/http.ts')).http(config.url, config);
    case 'files':
      return (await import('../sources/files.ts')).files(config.paths, config);
    case 'consul':
      return (await import('../sources/consul.ts')).consul(config.watch, config);
    case 'kube':
      return (await import('../sources/kube.ts')).kube(config, config);
  }
}

function lazily(load: () => Promise<ContributingSource>): ContributingSource {
  const source$: Observable<ContributingSource> = defer(() => from(load())).pipe(shareReplay({ bufferSize: 1, refCount: false }));
  return {
    changes$: source$.pipe(switchMap(({ changes$ }) => changes$)),
    reading$: source$.pipe(switchMap(({ reading$ }) => reading$)),
  };
}
