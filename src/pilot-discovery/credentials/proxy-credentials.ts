// Why: docs/decisions/107-a-gateway-gets-the-secrets-that-its-account-may-read.md
import {
  combineLatest,
  concat,
  EMPTY,
  map,
  type Observable,
  of,
  type SchedulerLike,
  startWith,
  Subject,
  switchMap,
} from 'rxjs';
import { quiesce } from '../../operators/quiesce.ts';
import type { KubeApi, KubeWriter } from '../../shared/kube/kube-api.ts';
import type { Caller } from '../identity/caller.ts';
import type { SecretsSign } from '../push/secrets-sign.ts';
import type { TypedView, XdsResource } from '../push/view.ts';
import { credentialBook, type CredentialState } from './credential-book.ts';
import type { CredentialContent } from './credential-content.ts';
import type { CredentialEvent } from './credential-event.ts';
import { type CredentialName, credentialNameOf } from './credential-name.ts';
import { credentialResource, credentialView } from './credential-resource.ts';
import { readingRights } from './reading-rights.ts';

/** The secrets of all proxies. */
export interface ProxyCredentials {
  /**
   * Emits the secrets that a proxy names and may have, and the names of those that it may not have:
   * now, and after each change. Never completes, never errors.
   */
  readonly secretsFor$: (caller: Caller, names: ReadonlySet<string>) => Observable<SecretsSign>;
  /** Emits the changes of secrets and of rights. Hot; never completes, never errors. */
  readonly event$: Observable<CredentialEvent>;
}

/** How long changes wait for others, in ms. */
interface ChangeWindow {
  readonly after: number;
  readonly max: number;
}

/**
 * Returns the secrets that proxies get from the Kubernetes API. A proxy gets those of its own
 * namespace, if its account may read the Secrets there: by the identity that it has proved, and
 * not by what its node says.
 */
export function proxyCredentials(
  api: KubeApi & KubeWriter,
  { after, max }: ChangeWindow,
  scheduler: SchedulerLike,
): ProxyCredentials {
  const event$ = new Subject<CredentialEvent>();
  const tell = (event: CredentialEvent): void => event$.next(event);
  const right$ = readingRights(api, tell, scheduler);
  const credential$ = credentialBook(api, tell, scheduler);
  const encoded = new WeakMap<CredentialContent, Map<string, XdsResource>>();
  const resourceOf = (name: string, content: CredentialContent): XdsResource => {
    const byName = encoded.get(content) ?? new Map<string, XdsResource>();
    encoded.set(content, byName);
    const resource = byName.get(name) ?? credentialResource(name, content);
    byName.set(name, resource);
    return resource;
  };
  const views$ = (named: readonly Named[]): Observable<TypedView> =>
    combineLatest(
      named.map(({ resource, credential }) =>
        credential$(credential).pipe(
          map(({ content }: CredentialState) =>
            content === undefined ? [] : [resourceOf(resource, content)],
          ),
          startWith([]),
        ),
      ),
    ).pipe(
      map((resources) => credentialView(resources.flat())),
      quiesce(after, max, (_, next) => next, scheduler),
    );
  return {
    secretsFor$(caller, names) {
      const read = [...names].map(
        (resource) => [resource, credentialNameOf(resource, caller.namespace)] as const,
      );
      const named = read.flatMap(([resource, credential]) =>
        typeof credential === 'string' ? [] : [{ resource, credential }],
      );
      const flaws = read.flatMap(([, flaw]) => (typeof flaw === 'string' ? [flaw] : []));
      const refused$ =
        flaws.length === 0
          ? EMPTY
          : of({ type: 'secrets-refused', reason: reasonOf(flaws) } as const);
      const given$ =
        named.length === 0
          ? EMPTY
          : right$(caller).pipe(
              switchMap((right) =>
                right.type === 'allowed' ? views$(named) : of(credentialView([])),
              ),
              map((view) => ({ type: 'secrets', view }) as const),
            );
      return concat(refused$, given$);
    },
    event$: event$.asObservable(),
  };
}

interface Named {
  readonly resource: string;
  readonly credential: CredentialName;
}

/** The names in a reason. */
const most = 3;

function reasonOf(flaws: readonly string[]): string {
  const more = flaws.length > most ? `; ${flaws.length - most} more` : '';
  return `${flaws.slice(0, most).join('; ')}${more}`;
}
