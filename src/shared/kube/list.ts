import { EMPTY, expand, map, type Observable, takeLast } from 'rxjs';
import type { KubeFailure } from './failure.ts';
import type { KubeApi } from './kube-api.ts';
import { asObject, type KubeObject, type Prune } from './kube-object.ts';
import { pathOf, type Query, type KubeResource } from './resource.ts';

/** All objects at one moment, and the version of that moment; or why there are none. */
export type ListedObjects =
  | { readonly ok: true; readonly objects: readonly KubeObject[]; readonly version: string }
  | { readonly ok: false; readonly failure: KubeFailure };

/** The most objects in one answer of the API, and in all. */
const most = { page: 250, all: 200_000 };

interface Page {
  readonly objects: readonly KubeObject[];
  readonly version: string;
  /** Empty for the last page. */
  readonly next: string;
  readonly failure?: KubeFailure;
}

/**
 * Lists objects, page by page. Emits once and completes; never errors.
 *
 * @param prune returns the object without the parts that are not needed: these take no memory while
 *   later pages are read
 */
export function listObjects(
  api: KubeApi,
  resource: KubeResource,
  query: Query,
  prune: Prune,
): Observable<ListedObjects> {
  function page({ objects, next }: Page): Observable<Page> {
    return api
      .get(
        pathOf(resource, query, {
          limit: String(most.page),
          ...(next !== '' && { continue: next }),
        }),
        resource.decode,
      )
      .pipe(
        map((answer): Page => {
          const none = { objects: [], version: '', next: '' };
          if (!answer.ok) return { ...none, failure: answer.failure };
          const { metadata, items } = (answer.value ?? {}) as {
            readonly metadata?: Readonly<Record<string, unknown>>;
            readonly items?: unknown;
          };
          const [version, rest] = [metadata?.['resourceVersion'], metadata?.['continue']];
          if (!Array.isArray(items) || typeof version !== 'string')
            return { ...none, failure: flaw('what it says is no list') };
          const kubeObjects = [
            ...objects,
            ...items
              .map(asObject)
              .filter((object) => object !== undefined)
              .map(prune),
          ];
          if (kubeObjects.length > most.all)
            return {
              ...none,
              failure: flaw(`there are more than ${most.all}, which is the limit`),
            };
          return { objects: kubeObjects, version, next: typeof rest === 'string' ? rest : '' };
        }),
      );
  }
  return page({ objects: [], version: '', next: '' }).pipe(
    expand((read) => (read.next === '' ? EMPTY : page(read))),
    takeLast(1),
    map(({ objects, version, failure }): ListedObjects =>
      failure === undefined ? { ok: true, objects, version } : { ok: false, failure },
    ),
  );

  function flaw(reason: string): KubeFailure {
    return {
      reason: `${resource.base}/${resource.plural}: ${reason}`,
      status: undefined,
      pause: 0,
    };
  }
}
