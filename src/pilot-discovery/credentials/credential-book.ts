import {
  combineLatest,
  concat,
  defer,
  distinctUntilChanged,
  filter,
  finalize,
  ignoreElements,
  map,
  type Observable,
  of,
  pairwise,
  repeat,
  scan,
  type SchedulerLike,
  startWith,
  switchMap,
  tap,
  timer,
} from 'rxjs';
import { isDeepStrictEqual } from 'node:util';
import { pollUntil } from '../../operators/poll-until.ts';
import { sharedByKey } from '../../operators/shared-by-key.ts';
import { pemCertificates, timesOf } from '../../shared/certificates/key-pair-flaw.ts';
import { followObjects } from '../../shared/kube/follow.ts';
import type { FollowSign } from '../../shared/kube/follow-state.ts';
import type { KubeApi } from '../../shared/kube/kube-api.ts';
import type { KubeObject } from '../../shared/kube/kube-object.ts';
import {
  type CredentialContent,
  credentialKeys,
  type CredentialPart,
  type CredentialReading,
  readCredential,
} from './credential-content.ts';
import type { CredentialEvent } from './credential-event.ts';
import type { CredentialName } from './credential-name.ts';

/** The state of a secret that a proxy has named. */
export interface CredentialState {
  /** The last content that could be served; undefined if there is none, or if it is gone. */
  readonly content: CredentialContent | undefined;
  /** Why the newest content cannot be served; undefined if it can. */
  readonly flaw: string | undefined;
}

/** Emits the states of a secret: the last one at once. Never completes, never errors. */
export type CredentialBook = (name: CredentialName) => Observable<CredentialState>;

/** The state of an object of the API. */
type ObjectState =
  | { readonly type: 'object'; readonly data: unknown }
  | { readonly type: 'absent' }
  /** Nothing was ever read. */
  | { readonly type: 'unread'; readonly reason: string };

/** The suffix of a name that means the roots of a Secret. */
const caSuffix = '-cacert';
/** How long a state, and after it the Secret, is kept without a subscriber, in ms. */
const lingering = 30_000;
/** The time between two readings of a refused Secret, in ms: its dates may become valid. */
const again = 30_000;
/** How many Secrets may be followed: each costs a watch, and proxies choose the names. */
const mostFollowed = { ofNamespace: 500, inAll: 4_000 };

/**
 * Follows the Secrets that proxies name, and no others: so the right to read these is enough. Each
 * is followed once for all proxies, and for 60 s after the last one has left. A Secret above the
 * limit is refused, and tried again every 30 s.
 *
 * As in istiod, `NAME` is the pair of the Secret, and `NAME-cacert` are the roots of the Secret
 * with that name; if there is none, those of the Secret `NAME`.
 *
 * @param tell gets each change of a secret
 */
export function credentialBook(
  api: KubeApi,
  tell: (event: CredentialEvent) => void,
  scheduler: SchedulerLike,
): CredentialBook {
  const objectOf$ = sharedByKey<ObjectState>(lingering, scheduler);
  const stateOf$ = sharedByKey<CredentialState>(lingering, scheduler);
  const followed = new Set<string>();
  const followed$ = ({ namespace, name }: CredentialName, key: string): Observable<ObjectState> =>
    defer(() => {
      const reason = limitFlaw(followed, namespace);
      if (reason !== undefined)
        return concat(
          of<ObjectState>({ type: 'unread', reason }),
          timer(again, scheduler).pipe(ignoreElements()),
        );
      followed.add(key);
      return followObjects(api, { kind: 'Secret', namespace, name }, { prune, scheduler }).pipe(
        scan(objectAfter, undefined),
        filter((state) => state !== undefined),
        distinctUntilChanged(),
        finalize(() => followed.delete(key)),
      );
    }).pipe(repeat());
  const object$ = (credential: CredentialName): Observable<ObjectState> => {
    const key = `${credential.namespace}/${credential.name}`;
    return objectOf$(key, () => followed$(credential, key));
  };
  const whole$ = (credential: CredentialName): Observable<ObjectState> => {
    const { namespace, name } = credential;
    if (!name.endsWith(caSuffix)) return object$(credential);
    const base = name.slice(0, -caSuffix.length);
    return combineLatest([object$(credential), object$({ namespace, name: base })]).pipe(
      map(([apart, whole]) => (apart.type === 'absent' ? whole : apart)),
    );
  };
  return (credential) => {
    const { namespace, name } = credential;
    const part = name.endsWith(caSuffix) ? 'roots' : 'pair';
    return stateOf$(`${namespace}/${name}`, () =>
      whole$(credential).pipe(
        distinctUntilChanged(),
        switchMap((object) => readings(part, object, scheduler)),
        scan(stateAfter, first),
        distinctUntilChanged((a, b) => isDeepStrictEqual(a, b)),
        startWith(first),
        pairwise(),
        tap(([before, now]) => {
          for (const event of changesOf(before, now)) tell({ ...event, namespace, name });
        }),
        map(([, now]) => now),
      ),
    );
  };
}

function limitFlaw(followed: ReadonlySet<string>, namespace: string): string | undefined {
  const { ofNamespace, inAll } = mostFollowed;
  if (followed.size >= inAll) return `${inAll} Secrets are followed already, which is the limit`;
  const count = [...followed].filter((key) => key.startsWith(`${namespace}/`)).length;
  return count < ofNamespace
    ? undefined
    : `${ofNamespace} Secrets of the namespace are followed already, which is the limit`;
}

/** Keeps the data that may be served, and nothing else. */
function prune({ metadata, data }: KubeObject): KubeObject {
  const entries = Object.entries((data as object | undefined) ?? {}) as [string, unknown][];
  const { name, namespace, resourceVersion } = metadata;
  return {
    metadata: { name, resourceVersion, ...(namespace !== undefined && { namespace }) },
    data: Object.fromEntries(
      entries.map(([key, value]) => [key, credentialKeys.includes(key) ? value : undefined]),
    ),
  };
}

/**
 * Returns the state of the object after a sign. As long as the API does not answer, nothing
 * changes.
 */
function objectAfter(before: ObjectState | undefined, sign: FollowSign): ObjectState | undefined {
  switch (sign.type) {
    case 'listed': {
      const [object] = sign.objects;
      return object === undefined ? { type: 'absent' } : { type: 'object', data: object['data'] };
    }
    case 'set':
      return { type: 'object', data: sign.object['data'] };
    case 'removed':
      return { type: 'absent' };
    case 'lost':
      return before === undefined || before.type === 'unread'
        ? { type: 'unread', reason: sign.reason }
        : before;
    case 'current':
      return before;
  }
}

/** Reads an object, and reads it again as long as it is refused. */
function readings(
  part: CredentialPart,
  object: ObjectState,
  scheduler: SchedulerLike,
): Observable<CredentialReading | 'absent'> {
  switch (object.type) {
    case 'absent':
      return of(object.type);
    case 'unread':
      return of({ ok: false, reason: object.reason });
    case 'object':
      return defer(() => of(readCredential(part, object.data, scheduler.now()))).pipe(
        pollUntil(({ ok }) => ok, { every: again }, scheduler),
      );
  }
}

const first: CredentialState = { content: undefined, flaw: undefined };

const stateAfter = (
  { content: before }: CredentialState,
  reading: CredentialReading | 'absent',
): CredentialState => {
  if (reading === 'absent') return { content: undefined, flaw: 'there is no such Secret' };
  return reading.ok
    ? { content: reading.content, flaw: undefined }
    : { content: before, flaw: reading.reason };
};

type Change<E> = E extends { readonly namespace: string } ? Omit<E, 'namespace' | 'name'> : never;

/** Returns the change of a secret. */
function changesOf(
  before: CredentialState,
  { content, flaw }: CredentialState,
): readonly Change<CredentialEvent>[] {
  if (content === undefined && before.content !== undefined) return [{ type: 'credential-gone' }];
  if (flaw !== undefined)
    return flaw === before.flaw ? [] : [{ type: 'credential-refused', reason: flaw }];
  return content === undefined ? [] : [{ type: 'credential-read', expires: expiryOf(content) }];
}

function expiryOf(content: CredentialContent): number | undefined {
  if (content.part === 'roots') return undefined;
  const [certificate] = pemCertificates(content.chain.toString()) ?? [];
  return certificate === undefined ? undefined : timesOf(certificate)[1];
}
