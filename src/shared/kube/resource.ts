import { concatMap, map, type Observable, of } from 'rxjs';
import { isObject } from '../text/is-object.ts';
import { ownMember } from '../text/own-member.ts';
import { answered, type KubeFailure } from './failure.ts';
import type { KubeAnswer, KubeApi } from './kube-api.ts';
import { type Decode, decodeJson, decodeSecrets } from './kube-object.ts';

/** The place of a kind's objects in the API. */
export interface KubeResource {
  readonly kind: string;
  /** `/api/v1`, `/apis/networking.istio.io/v1`. */
  readonly base: string;
  /** The name in a path. */
  readonly plural: string;
  readonly isNamespaced: boolean;
  readonly decode: Decode;
}

export type ResourceLookup =
  | { readonly ok: true; readonly value: KubeResource }
  | { readonly ok: false; readonly failure: KubeFailure };

/**
 * Finds a kind: `Secret`, `Deployment.apps`, `Gateway.networking.istio.io`, or with the version
 * before the group. Without a version it takes the one that the API prefers. The name of a resource
 * works as well as its kind, and letter case does not matter. Emits once and completes; never
 * errors.
 */
export function findResource(api: KubeApi, kind: string): Observable<ResourceLookup> {
  const [, name = '', version, group = ''] =
    /^([^.]*)(?:\.(v\d+(?:(?:alpha|beta)\d+)?))?(?:\.(.*))?$/.exec(kind) ?? [];
  function resourceIn(base: string): Observable<ResourceLookup> {
    return api.get(base).pipe(map((answer) => chosen(answer, base, name, group)));
  }
  if (group === '') return resourceIn(`/api/${version ?? 'v1'}`);
  const base = `/apis/${encodeURIComponent(group)}`;
  if (version !== undefined) return resourceIn(`${base}/${version}`);
  return api.get(base).pipe(
    concatMap((answer) => {
      if (!answer.ok) return of(answer);
      const preferred = memberOf(memberOf(answer.value, 'preferredVersion'), 'version');
      return typeof preferred === 'string'
        ? resourceIn(`${base}/${encodeURIComponent(preferred)}`)
        : of(unusable(`its answer about ${group} is not a group of the API`));
    }),
  );
}

function chosen(answer: KubeAnswer, base: string, name: string, group: string): ResourceLookup {
  if (!answer.ok) return answer;
  const resources = memberOf(answer.value, 'resources');
  const noList = unusable(`its answer about ${base} is not a list of resources`);
  if (!Array.isArray(resources)) return noList;
  const topResources = resources.filter(isResource).filter(({ name: path }) => !path.includes('/'));
  const wanted = name.toLowerCase();
  const match = topResources.find((resource) =>
    [resource.kind, resource.name, resource['singularName']].some(
      (spelling) => typeof spelling === 'string' && spelling.toLowerCase() === wanted,
    ),
  );
  if (match === undefined) {
    // A wrong answer does not say that there is no such kind: its objects may restrict access.
    if (!resources.every(isResource)) return noList;
    const hint =
      group === ''
        ? `name its group too, as in Deployment.apps`
        : `it has ${topResources.map(({ kind }) => kind).join(', ')}`;
    return none(`${base} has no kind '${name}': ${hint}`);
  }
  const plural = match.name;
  const decode = base === '/api/v1' && plural === 'secrets' ? decodeSecrets : decodeJson;
  return {
    ok: true,
    value: {
      kind: match.kind,
      base,
      plural,
      isNamespaced: match['namespaced'] === true,
      decode,
    },
  };
}

interface Resource extends Readonly<Record<string, unknown>> {
  readonly name: string;
  readonly kind: string;
}

const isResource = (value: unknown): value is Resource =>
  isObject(value) && typeof value['kind'] === 'string' && typeof value['name'] === 'string';

const memberOf = (value: unknown, name: string): unknown =>
  isObject(value) ? ownMember(value, name) : undefined;

/** Returns the failure that says that there is no such kind. */
function none(reason: string): ResourceLookup {
  return { ok: false, failure: { reason, status: 404, pause: 0 } };
}

/** Returns the failure of an answer that has a wrong form. */
function unusable(reason: string): ResourceLookup {
  return { ok: false, failure: { reason, status: answered, pause: 0 } };
}

/** A selection of objects. */
export interface Query {
  /** The kind, as {@link findResource} takes it. */
  readonly kind: string;
  /** '' for all namespaces, or for objects of the cluster. */
  readonly namespace: string;
  /** '' for all names. */
  readonly name: string;
}

/** Returns the path of these objects, with parameters as the API takes them. Pure. */
export function pathOf(
  { base, plural, isNamespaced }: KubeResource,
  { namespace, name }: Query,
  more: Readonly<Record<string, string>>,
): string {
  const within =
    isNamespaced && namespace !== '' ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  const query = new URLSearchParams({
    ...(name !== '' && { fieldSelector: `metadata.name=${name}` }),
    ...more,
  });
  return `${base}${within}/${plural}?${query.toString()}`;
}
