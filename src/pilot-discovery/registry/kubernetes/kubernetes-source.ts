import {
  asyncScheduler,
  map,
  merge,
  mergeMap,
  type Observable,
  scan,
  type SchedulerLike,
} from 'rxjs';
import { followObjects } from '../../../shared/kube/follow.ts';
import type { KubeApi } from '../../../shared/kube/kube-api.ts';
import type { KubeObject } from '../../../shared/kube/kube-object.ts';
import type { StoreEvent } from '../../environment/store-event.ts';
import type { WriteBody } from '../../istio/documents/model.ts';
import { readObject, type ReadText } from '../../istio/documents/read-resources.ts';
import { type FollowedKind, followedKinds, pruned } from './followed-kinds.ts';
import { noObjects, type ObjectsState, reduceObjects } from './objects-state.ts';

/** The name of the source, if it has no other one. */
export const kubernetesName = 'Kubernetes';

export interface KubernetesSourceOptions {
  /** The name of the source; {@link kubernetesName} if left out. */
  readonly name?: string;
  /** Left out if no other control plane may read the resources. */
  readonly writeBody?: WriteBody;
  /** Returns a number from 0 up to, but not including, 1. */
  readonly random?: () => number;
  readonly scheduler?: SchedulerLike;
}

/** The path of each resource, in messages. */
const path = 'the Kubernetes API';

/**
 * Emits the resources of a Kubernetes API, in all namespaces: all that exist, then `synced`, then
 * the changes. Resources are read as in files. A kind that the API does not have yet is asked for
 * again. If the API is away, or does not allow a kind, the known resources stay until it answers.
 *
 * Cold; never completes, never errors.
 */
export function kubernetesSource(
  api: KubeApi,
  {
    name = kubernetesName,
    writeBody,
    random = Math.random,
    scheduler = asyncScheduler,
  }: KubernetesSourceOptions = {},
): Observable<StoreEvent> {
  const read = (object: KubeObject): ReadText =>
    readObject(object, { source: name, path, defaultNamespace: '', writeBody });
  const signs$ = (followed: FollowedKind) =>
    followObjects(
      api,
      { kind: followed.query, namespace: '', name: '' },
      { prune: (object) => pruned(followed, object), random, scheduler },
    ).pipe(map((sign) => ({ kind: followed.kind, sign })));
  return merge(...followedKinds.map(signs$)).pipe(
    scan(
      ([state]: Step, event): Step => reduceObjects(state, event, read, name),
      [noObjects(followedKinds.map(({ kind }) => kind)), []],
    ),
    mergeMap(([, events]) => events),
  );
}

type Step = readonly [ObjectsState, readonly StoreEvent[]];
