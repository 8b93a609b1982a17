import { defer, from, type Observable, shareReplay, switchMap } from 'rxjs';
import type { SourceConfig } from '../../config/source-config.ts';
import type { OutsideProxy } from '../../../shared/http/outside-proxy.ts';
import { shared } from '../../sources/combinators.ts';
import { compose, noSource, repeated, sameName } from '../../sources/compose.ts';
import type { ContributingSource } from '../../sources/contribution.ts';
import { exitCodes, Fatal } from '../../../shared/program/exit.ts';

/**
 * The sources that the user asks for, and those of a program, as one, which is followed once. What
 * a source needs is loaded when it is listened to, or read, for the first time. Documents at URLs
 * are asked for through `proxy`. Throws a {@link Fatal} (78) for two of one name.
 */
export function makeSources(
  asked: readonly SourceConfig[],
  further: readonly ContributingSource[] = [],
  proxy?: OutsideProxy,
): ContributingSource {
  const all = [
    ...asked.map((config) => ({ names: [config.name], ...lazily(() => make(config, proxy)) })),
    ...further,
  ];
  const name = repeated(all.flatMap(({ names = [] }) => names));
  if (name !== undefined) throw new Fatal(sameName(name), exitCodes.config);
  return all.length === 0 ? noSource : shared(compose(...all)); // which tells its first reading as a change
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
