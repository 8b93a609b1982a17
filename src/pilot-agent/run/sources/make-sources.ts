import { defer, from, type Observable, shareReplay, switchMap } from 'rxjs';
import type { SourceConfig } from '../../config/source-config.ts';
import type { OutsideProxy } from '../../../shared/http/outside-proxy.ts';
import { shared } from '../../sources/combinators.ts';
import { compose, noSource, repeated, sameName } from '../../sources/compose.ts';
import type { ContributingSource } from '../../sources/contribution.ts';
import { exitCodes, Fatal } from '../../../shared/program/exit.ts';

/**
 * Combines the sources of the user and those of a program into one that is subscribed once. The
 * code of a source is loaded when it is first subscribed, or read. Documents at URLs are fetched
 * through `proxy`. Throws a {@link Fatal} (78) if two sources have the same name.
 */
export function makeSources(
  configs: readonly SourceConfig[],
  further: readonly ContributingSource[] = [],
  proxy?: OutsideProxy,
): ContributingSource {
  const sources = [
    ...configs.map((config) => ({ names: [config.name], ...lazily(() => make(config, proxy)) })),
    ...further,
  ];
  const name = repeated(sources.flatMap(({ names = [] }) => names));
  if (name !== undefined) throw new Fatal(sameName(name), exitCodes.config);
  return sources.length === 0 ? noSource : shared(compose(...sources)); // it reports its first reading as a change
}

async function make(
  config: SourceConfig,
  proxy: OutsideProxy | undefined,
): Promise<ContributingSource> {
  switch (config.kind) {
    case 'http':
      return (await import('../../sources/http.ts')).http(config.url, { ...config, proxy });
    case 'files':
      return (await import('../../sources/files.ts')).files(config.paths, config);
    case 'consul':
      return (await import('../../sources/consul.ts')).consul(config.watch, config);
    case 'kube':
      return (await import('../../sources/kube.ts')).kube(config, config);
  }
}

function lazily(load: () => Promise<ContributingSource>): ContributingSource {
  const source$: Observable<ContributingSource> = defer(() => from(load())).pipe(
    shareReplay({ bufferSize: 1, refCount: false }),
  );
  return {
    changes$: source$.pipe(switchMap(({ changes$ }) => changes$)),
    reading$: source$.pipe(switchMap(({ reading$ }) => reading$)),
  };
}
