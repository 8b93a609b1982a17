import { createHash } from 'node:crypto';
import {
  asyncScheduler,
  defer,
  distinctUntilChanged,
  filter,
  map,
  type Observable,
  of,
  ReplaySubject,
  type SchedulerLike,
  share,
  Subject,
  switchMap,
} from 'rxjs';
import { findAccess } from '../../../shared/kube/find-access.ts';
import { followObjects } from '../../../shared/kube/follow.ts';
import { type KubeApi, kubeApi } from '../../../shared/kube/kube-api.ts';
import type { KubeObject } from '../../../shared/kube/kube-object.ts';
import {
  type StoredObject,
  objectStore,
  type ObjectStore,
} from '../../../shared/kube/object-store.ts';
import { untilWhole } from '../../secrets/checked-set.ts';
import type { GatewaySource } from '../../secrets/gateway-secrets.ts';
import { secretReading } from '../../secrets/secret-data.ts';
import type { SetReading } from '../../secrets/secret.ts';
import type { SourceChange } from '../../../streams/config-source.ts';

/** The state of the Secrets as a source with its own name. */
type SourceState = Extract<SourceChange, { type: 'source-read' | 'source-unreadable' }>;

export interface GatewayApi extends GatewaySource {
  /** The state of the Secrets. Hot; does not list or watch anything itself. */
  readonly change$: Observable<SourceState>;
}

/** The data of a Secret; undefined if the Secret does not belong to a gateway. */
type Data = object | undefined;

/** The name of the source, in the log and elsewhere. */
const name = 'gateway';

/**
 * Reads the secrets of a gateway from the Secrets of a namespace. One list and one watch serve all
 * subscribers, and run while there is one. During an outage the known Secrets stay.
 */
export function gatewayApi(
  { namespace, kubeconfig }: { readonly namespace: string; readonly kubeconfig: string },
  api: KubeApi = kubeApi(findAccess(kubeconfig), 'pilot-agent'),
  scheduler: SchedulerLike = asyncScheduler,
): GatewayApi {
  const change$ = new Subject<ObjectStore<Data>>();
  const store$ = objectStore(
    followObjects(api, { kind: 'Secret', namespace, name: '' }, { scheduler }),
    dataOf,
  ).pipe(share({ connector: () => change$ }), share({ connector: () => new ReplaySubject(1) }));
  return {
    change$: change$.pipe(map(stateOf)),
    secret: (wanted) =>
      store$.pipe(
        filter(({ isListed, trouble }) => isListed || trouble !== undefined),
        map(({ objects, isListed, trouble }): ObjectState => ({
          storedObject: objects.get(`${namespace}/${wanted}`),
          trouble: isListed ? undefined : trouble?.reason,
        })),
        distinctUntilChanged(
          (previous, current) =>
            previous.storedObject === current.storedObject && previous.trouble === current.trouble,
        ),
        switchMap((state) => readings(`Secret ${namespace}/${wanted}`, wanted, state, scheduler)),
      ),
  };
}

interface ObjectState {
  readonly storedObject: StoredObject<Data> | undefined;
  /** Why nothing is known yet. */
  readonly trouble: string | undefined;
}

function readings(
  place: string,
  wanted: string,
  { storedObject: secret, trouble }: ObjectState,
  scheduler: SchedulerLike,
): Observable<SetReading> {
  function refused(reason: string): Observable<SetReading> {
    return of({ type: 'refused', source: place, reason: `${place}: ${reason}` });
  }
  if (secret === undefined) return refused(trouble ?? 'it is not there');
  const { value } = secret;
  if (value === undefined)
    return refused('it is the token of a service account, not a secret of a gateway');
  return defer(() => of(secretReading(place, wanted, value, scheduler.now()))).pipe(
    untilWhole(scheduler),
  );
}

/** Returns the data of a Secret. Nothing else of it is kept. */
function dataOf({ data }: KubeObject): Data {
  if (typeof data !== 'object' || data === null) return {};
  return 'token' in data ? undefined : data;
}

function stateOf({ objects, trouble }: ObjectStore<Data>): SourceState {
  if (trouble !== undefined) return { ...trouble, type: 'source-unreadable', source: name };
  const hash = createHash('sha256');
  for (const { key, resourceVersion } of objects.values())
    hash.update(`${key}@${resourceVersion}\n`);
  return { type: 'source-read', source: name, hash: hash.digest('hex') };
}
