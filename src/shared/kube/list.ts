import { EMPTY, expand, map, type Observable, takeLast } from 'rxjs';
import { answered, type KubeFailure } from './failure.ts';
import type { KubeAnswer, KubeApi } from './kube-api.ts';
import { asObject, type KubeObject, type Prune } from './kube-object.ts';
import { pathOf, type Query, type KubeResource } from './resource.ts';

/** All objects at one moment, and the version of that moment; or why there are none. */
export type ListedObjects =
  | { readonly ok: true; readonly objects: readonly KubeObject[]; readonly version: string }
  | { readonly ok: false; readonly failure: KubeFailure };

/**
 * The largest numbers of objects, of answers, and of characters in `continue`. A server may send
 * pages with fewer objects than it is asked for, even with none.
 */
const most = { all: 200_000, pages: 2_000, continue: 16_384 };
/**
 * How many objects the first and later answers of the API may have. The API takes about as long
 * for each answer, whatever its size. Later answers are `small` too if a large one cannot be read:
 * an object may have more than a megabyte.
 */
const pageSizes = { small: 250, large: 1_000 };

interface Page {
  readonly objects: readonly KubeObject[];
  readonly version: string;
  /** Empty for the last page. */
  readonly next: string;
  /** The number of answers so far. */
  readonly pages: number;
  /** How many objects the next answer may have. */
  readonly size: number;
  readonly failure?: KubeFailure;
}

const nothingListed: Page = {
  objects: [],
  version: '',
  next: '',
  pages: 0,
  size: pageSizes.small,
};

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
  function page(before: Page): Observable<Page> {
    const parameters = {
      limit: String(before.size),
      ...(before.next !== '' && { continue: before.next }),
    };
    return api
      .get(pathOf(resource, query, parameters), resource.decode)
      .pipe(map((answer) => nextPage(before, answer, resource, prune)));
  }
  return page(nothingListed).pipe(
    expand((read) => (read.next === '' ? EMPTY : page(read))),
    takeLast(1),
    map(({ objects, version, failure }): ListedObjects =>
      failure === undefined ? { ok: true, objects, version } : { ok: false, failure },
    ),
  );
}

/** Returns all objects so far, with those of one more answer. The last page has no `next`. */
function nextPage(
  before: Page,
  answer: KubeAnswer,
  { base, plural }: KubeResource,
  prune: Prune,
): Page {
  const { objects, pages, size } = before;
  const none = { ...nothingListed, pages: pages + 1 };
  const flawed = (reason: string): Page => ({
    ...none,
    failure: { reason: `${base}/${plural}: ${reason}`, status: answered, pause: 0 },
  });
  if (!answer.ok) {
    const isTooLarge = answer.failure.status === undefined && size > pageSizes.small;
    return isTooLarge
      ? { ...before, pages: none.pages, size: pageSizes.small }
      : { ...none, failure: answer.failure };
  }
  const { metadata, items } = (answer.value ?? {}) as {
    readonly metadata?: Readonly<Record<string, unknown>>;
    readonly items?: unknown;
  };
  const [version, rest] = [metadata?.['resourceVersion'], metadata?.['continue']];
  if (!Array.isArray(items) || typeof version !== 'string')
    return flawed('its answer is not a list');
  const kubeObjects = [
    ...objects,
    ...items
      .map(asObject)
      .filter((object) => object !== undefined)
      .map(prune),
  ];
  if (kubeObjects.length > most.all)
    return flawed(`there are more than ${most.all}, which is the limit`);
  const following = typeof rest === 'string' ? rest : '';
  if (following.length > most.continue)
    return flawed(`\`continue\` has more than ${most.continue} characters`);
  if (following !== '' && none.pages >= most.pages)
    return flawed(`the list does not end after ${most.pages} pages`);
  const isFirst = pages === 0;
  return {
    objects: kubeObjects,
    version,
    next: following,
    pages: none.pages,
    size: isFirst ? pageSizes.large : size,
  };
}
