import {
  asyncScheduler,
  distinctUntilChanged,
  filter,
  map,
  ReplaySubject,
  share,
  skip,
  take,
} from 'rxjs';
import { findAccess } from '../../shared/kube/find-access.ts';
import { followObjects } from '../../shared/kube/follow.ts';
import { type KubeApi, kubeApi } from '../../shared/kube/kube-api.ts';
import type { KubeObject } from '../../shared/kube/kube-object.ts';
import { type StoredObject, objectStore } from '../../shared/kube/object-store.ts';
import { type Content, type ContributingSource, isMap } from './contribution.ts';
import { source, type SourceOptions } from './source.ts';
import { ownMember } from '../../shared/text/own-member.ts';

/** Identifies an object of Kubernetes. */
export interface KubeTarget {
  /** `Secret`, `ConfigMap`, or a custom resource such as `Gateway.networking.istio.io`. */
  readonly resource: string;
  /** Empty for a cluster-scoped object. */
  readonly namespace: string;
  readonly object: string;
}

export interface KubeOptions extends Omit<SourceOptions, 'on$' | 'watch' | 'every'> {
  /** Its name in the log and in metrics; `kube/RESOURCE/NAMESPACE/OBJECT` if left out. */
  readonly name?: string;
  /** The key of a Secret or ConfigMap whose value is read; all of its data if left out, or ''. */
  readonly key?: string;
  /** The path of a kubeconfig; the service account of the pod if left out, or ''. */
  readonly kubeconfig?: string;
}

/** The members of a custom resource that are not the user's content. */
const ofTheApi = ['apiVersion', 'kind', 'metadata', 'status'];

/**
 * Reads an object of Kubernetes: lists it, and then watches it. A change is read at once; after an
 * outage the object is listed again.
 *
 * The content is the data of a Secret, as bytes, or of a ConfigMap, by key; or the value of one
 * key. If Envoy needs one text and there is only one key, it is the value of that key. For a custom
 * resource it is the `spec`, or all members that the user wrote. A missing object counts as
 * unreadable.
 */
export function kube(target: KubeTarget, options: KubeOptions = {}): ContributingSource {
  return kubeFrom(kubeApi(findAccess(options.kubeconfig ?? ''), 'pilot-agent'), target, options);
}

/** Makes the same source with an API client that exists already. */
export function kubeFrom(
  api: KubeApi,
  { resource: kind, namespace, object }: KubeTarget,
  options: KubeOptions = {},
): ContributingSource {
  const { scheduler = asyncScheduler, random = Math.random, as = 'restart', key = '' } = options;
  const place = [kind, namespace, object].filter((part) => part !== '').join('/');
  const isOne = as !== 'restart' && as !== 'secret';
  const store$ = objectStore(
    followObjects(api, { kind, namespace, name: object }, { random, scheduler }),
    contentOf,
  ).pipe(
    filter(({ isListed, trouble }) => isListed || trouble !== undefined),
    map((store): ObjectState => ({
      storedObject: [...store.objects.values()][0],
      trouble: store.trouble?.reason,
    })),
    distinctUntilChanged(
      (previous, current) =>
        previous.storedObject === current.storedObject && previous.trouble === current.trouble,
    ),
    share({ connector: () => new ReplaySubject(1) }),
  );
  function content({ storedObject, trouble }: ObjectState): Content {
    if (trouble !== undefined) throw new Error(trouble);
    if (storedObject === undefined) throw new Error(`${place} is not there`);
    return chosen(storedObject.value, key, isOne, place);
  }
  return source(options.name ?? `kube/${place}`, () => store$.pipe(take(1), map(content)), {
    ...options,
    on$: store$.pipe(skip(1)),
  });
}

interface ObjectState {
  readonly storedObject: StoredObject<KubeContent> | undefined;
  readonly trouble: string | undefined;
}

type KubeContent = Readonly<Record<string, unknown>>;

function contentOf(object: KubeObject): KubeContent {
  const { data, binaryData, spec } = object;
  if (isMap(data) || isMap(binaryData)) {
    const binary = Object.entries(isMap(binaryData) ? binaryData : {}).map(([key, text]) => [
      key,
      Buffer.from(String(text), 'base64'),
    ]);
    return { ...(isMap(data) ? data : {}), ...(Object.fromEntries(binary) as KubeContent) };
  }
  return isMap(spec)
    ? spec
    : Object.fromEntries(Object.entries(object).filter(([name]) => !ofTheApi.includes(name)));
}

/** Returns the part that is asked for. Throws if there is none. */
function chosen(data: KubeContent, key: string, isOne: boolean, place: string): Content {
  const [keys, values] = [Object.keys(data), Object.values(data)];
  const isFlat = values.every((value) => typeof value === 'string' || value instanceof Uint8Array);
  const wanted = key === '' && isOne && isFlat && keys.length === 1 ? keys[0] : key;
  if (wanted === '' || wanted === undefined) {
    if (isOne && isFlat && keys.length > 1)
      throw new Error(`${place} has ${keys.join(', ')}: say which of them is meant`);
    return data;
  }
  const value = ownMember(data, wanted);
  if (typeof value === 'string' || value instanceof Uint8Array || isMap(value)) return value;
  throw new Error(`${place} has no key '${wanted}': it has ${keys.join(', ') || 'none'}`);
}
