import {
  asyncScheduler,
  concatMap,
  EMPTY,
  map,
  merge,
  mergeMap,
  type Observable,
  type SchedulerLike,
  switchMap,
  timer,
} from 'rxjs';
import { reduceWithEffects } from '../../operators/reduce-with-effects.ts';
import { ofType, unreachable } from '../../operators/tagged-union.ts';
import { followObjects } from '../../shared/kube/follow.ts';
import type { FollowSign } from '../../shared/kube/follow-state.ts';
import type { KubeApi, KubeWriter } from '../../shared/kube/kube-api.ts';
import type { KubeObject } from '../../shared/kube/kube-object.ts';
import { isObject } from '../../shared/text/is-object.ts';
import { ownMember } from '../../shared/text/own-member.ts';
import type { LabelSelector } from '../istio/fields/label-selector.ts';
import {
  nothingPublished,
  reduceRootMaps,
  type RootMapsEffect,
  type RootMapsNews,
} from './reduce-root-maps.ts';
import { crlName } from './authority-files.ts';
import { bundleDigest, crlDigest, type RootBundle } from './root-bundle.ts';
import type {
  LiveNamespace,
  PublishedKind,
  RootMapsChange,
  RootMapsEvent,
} from './root-maps-event.ts';

export interface PublishRootsOptions {
  /** Emits the roots of the mesh, and again when they change. */
  readonly bundle$: Observable<RootBundle>;
  /** Emits the `discoverySelectors` of the MeshConfig, and again when they change. */
  readonly selectors$: Observable<readonly LabelSelector[]>;
  /** Default: the roots. */
  readonly into?: PublishedMap;
  /** The Namespaces, if the program follows them already. */
  readonly namespaceSign$?: Observable<FollowSign>;
  /** Returns a number from 0 up to, but not including, 1. */
  readonly random?: () => number;
  readonly scheduler?: SchedulerLike;
}

/** A ConfigMap that each namespace has: its name, and the key of its text. */
interface PublishedMap {
  readonly mapName: string;
  readonly key: string;
  /** Returns a digest that texts with the same content share. Pure. */
  readonly digestOf: (text: string) => string;
}

/** The names that istiod uses. */
export const publishedMaps: Readonly<Record<'roots' | 'crl', PublishedMap>> = {
  roots: { mapName: 'istio-ca-root-cert', key: 'root-cert.pem', digestOf: bundleDigest },
  crl: { mapName: 'istio-ca-crl', key: crlName, digestOf: crlDigest },
};
const label = 'istio.io/config';

/** Returns the advice for a missing permission. */
const mayPublish = (mapName: string): string =>
  `allow it by a ClusterRole with list, watch, create and patch of the ConfigMap ${mapName}`;

/** Follows the Namespaces of an API. Cold; never completes, never errors. */
export const followNamespaces$ = (
  api: KubeApi,
  random: () => number = Math.random,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<FollowSign> =>
  followObjects(
    api,
    { kind: 'Namespace', namespace: '', name: '' },
    { prune: labelsAndPhase, random, scheduler },
  );

/**
 * Writes the roots of the mesh into the ConfigMap `istio-ca-root-cert` of each selected namespace,
 * from which pods mount them, or its CRLs into `istio-ca-crl`; and writes them again if somebody
 * changes or removes them. Emits the news for an operator. Writes nothing as long as the API does
 * not answer, or refuses.
 *
 * Cold: a subscription follows the API. Never completes, never errors.
 */
export function publishRoots(
  api: KubeApi & KubeWriter,
  {
    bundle$,
    selectors$,
    into = publishedMaps.roots,
    random = Math.random,
    scheduler = asyncScheduler,
    namespaceSign$ = followNamespaces$(api, random, scheduler),
  }: PublishRootsOptions,
): Observable<RootMapsNews> {
  const { mapName } = into;
  const maps$ = followObjects(
    api,
    { kind: 'ConfigMap', namespace: '', name: mapName },
    { prune: dataAlone, random, scheduler },
  );
  const change$ = merge(
    bundle$.pipe(map((bundle): RootMapsChange => ({ type: 'bundle', bundle }))),
    selectors$.pipe(map((selectors): RootMapsChange => ({ type: 'selectors', selectors }))),
    namespaceSign$.pipe(concatMap(namespaceChanges)),
    maps$.pipe(concatMap((sign) => mapChanges(into, sign))),
  );
  const written$ = ({
    namespace,
    bundle: { text },
  }: Extract<RootMapsEffect, { readonly type: 'write' }>): Observable<RootMapsChange> => {
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps/${mapName}`;
    return api.apply(path, mapWith(into, namespace, text), { forbidden: mayPublish(mapName) }).pipe(
      map((answer) => ({
        type: 'written',
        namespace,
        failure: answer.ok ? undefined : answer.failure,
      })),
    );
  };
  const timed = (change: RootMapsChange): RootMapsEvent => ({
    ...change,
    now: scheduler.now(),
    random: random(),
  });
  return change$.pipe(
    map(timed),
    reduceWithEffects(nothingPublished, reduceRootMaps, (effect$: Observable<RootMapsEffect>) =>
      merge(
        effect$.pipe(ofType('write'), mergeMap(written$)),
        effect$.pipe(
          ofType('wait'),
          switchMap(({ pause }) => (pause === undefined ? EMPTY : timer(pause, scheduler))),
          map((): RootMapsChange => ({ type: 'due' })),
        ),
      ).pipe(map(timed)),
    ),
    mergeMap(({ state: { news } }) => news),
  );
}

/** Returns the ConfigMap, JSON. Pure. */
const mapWith = ({ mapName, key }: PublishedMap, namespace: string, text: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: mapName, namespace, labels: { [label]: 'true' } },
    data: { [key]: text },
  });

const labelsAndPhase = ({ metadata, ...object }: KubeObject): KubeObject => ({
  metadata: {
    name: metadata.name,
    resourceVersion: metadata.resourceVersion,
    labels: metadata.labels ?? {},
  },
  status: object['status'],
});

const dataAlone = ({ metadata, ...object }: KubeObject): KubeObject => ({
  metadata: {
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    resourceVersion: metadata.resourceVersion,
  },
  data: object['data'],
});

/** Returns the namespace of an object; undefined if it is being removed. */
function liveNamespace({ metadata: { labels }, status }: KubeObject): LiveNamespace | undefined {
  const phase = isObject(status) ? ownMember(status, 'phase') : undefined;
  return phase === 'Terminating' ? undefined : { labels: labels ?? {} };
}

/** Returns the changes that a sign reports. `changeOf` makes a change from objects. */
function changesOf(
  kind: PublishedKind,
  sign: FollowSign,
  changeOf: (
    scope: 'all' | 'changed',
    objects: readonly KubeObject[],
    removed: readonly KubeObject[],
  ) => RootMapsChange,
): readonly RootMapsChange[] {
  switch (sign.type) {
    case 'listed':
      return [changeOf('all', sign.objects, [])];
    case 'set':
      return [changeOf('changed', [sign.object], [])];
    case 'removed':
      return [changeOf('changed', [], [sign.object])];
    case 'lost':
      return [{ type: 'lost', kind, cause: sign.cause, reason: sign.reason }];
    case 'current':
      return [{ type: 'followed', kind }];
    default:
      return unreachable(sign);
  }
}

const namespaceChanges = (sign: FollowSign): readonly RootMapsChange[] =>
  changesOf('namespaces', sign, (scope, objects, removed) => ({
    type: 'namespaces',
    scope,
    namespaces: new Map([
      ...objects.map((object) => [object.metadata.name, liveNamespace(object)] as const),
      ...removed.map(({ metadata }) => [metadata.name, undefined] as const),
    ]),
  }));

const mapChanges = (
  { key, digestOf: digestOfText }: PublishedMap,
  sign: FollowSign,
): readonly RootMapsChange[] =>
  changesOf('maps', sign, (scope, objects, removed) => {
    const byText = new Map<string, string>(); // most have the same text
    const digestOf = ({ data }: KubeObject): string => {
      const value = isObject(data) ? ownMember(data, key) : undefined;
      const text = typeof value === 'string' ? value : '';
      const digest = byText.get(text) ?? digestOfText(text);
      byText.set(text, digest);
      return digest;
    };
    return {
      type: 'maps',
      scope,
      digests: new Map([
        ...objects.map((object) => [object.metadata.namespace ?? '', digestOf(object)] as const),
        ...removed.map(({ metadata }) => [metadata.namespace ?? '', undefined] as const),
      ]),
    };
  });
