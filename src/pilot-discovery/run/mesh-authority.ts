import {
  distinctUntilChanged,
  EMPTY,
  filter,
  map,
  merge,
  mergeMap,
  type Observable,
  type SchedulerLike,
  switchMap,
} from 'rxjs';
import { authorityReadings } from '../ca/authority-readings.ts';
import { type AuthorityState, noAuthority } from '../ca/authority-state.ts';
import type { AuthorityEvent, CaView } from '../ca/ca-view.ts';
import { publishRoots } from '../ca/publish-roots.ts';
import { rootBundle } from '../ca/root-bundle.ts';
import { filesElseSecrets } from '../ca/files-else-secrets.ts';
import { secretReadings } from '../ca/secret-readings.ts';
import { serveCertificates } from '../ca/serve-certificates.ts';
import { servingCertificates } from '../ca/serving-certificates.ts';
import type { SecureService } from '../identity/caller-of.ts';
import type { ServingEvent } from '../identity/serving-files.ts';
import type { KubeApi, KubeWriter } from '../../shared/kube/kube-api.ts';
import type { MeshConfig } from '../istio/mesh/mesh-config.ts';
import type { CaConfig } from './ca-config.ts';

/** The certificate authority of a control plane that runs. */
export interface MeshAuthority {
  /**
   * Its keys, as they are read, and what became of its roots in the API. Cold: a subscription is a
   * watcher.
   */
  readonly event$: Observable<AuthorityEvent>;
  readonly service$: SecureService<AuthorityEvent>;
  /**
   * Emits the certificates of the control plane by this authority, while there is one; otherwise
   * the events of `files$`.
   */
  readonly servingOr$: (files$: Observable<ServingEvent>) => Observable<ServingEvent>;
}

/** The parts of a view that the authority needs. */
interface AuthorityView {
  readonly ca: CaView | undefined;
  readonly snapshot: { readonly environment: { readonly mesh: MeshConfig } } | undefined;
}

/**
 * Returns the authority. It signs with the key that the view has.
 *
 * @param kube the API whose Secrets have the authority if no files have it; its namespaces get the
 *   roots. Undefined for none
 * @param view$ emits the current view at once, on subscribe
 */
export function meshAuthority(
  { places, lifetimes, rate, names, namespace }: CaConfig,
  kube: (KubeApi & KubeWriter) | undefined,
  view$: Observable<AuthorityView>,
  scheduler: SchedulerLike,
): MeshAuthority {
  const authority$ = view$.pipe(
    map(({ ca }): AuthorityState => ca?.authority ?? noAuthority),
    distinctUntilChanged(),
  );
  const certificate$ = servingCertificates(authority$, names, scheduler).pipe(
    map((serving): ServingEvent => ({ type: 'serving', serving })),
  );
  const files$ = authorityReadings(places, scheduler);
  const { rootLifetime } = places;
  const reading$ =
    kube === undefined
      ? files$
      : filesElseSecrets(files$, secretReadings(kube, { namespace, rootLifetime, scheduler }));
  const published$ =
    kube === undefined
      ? EMPTY
      : publishRoots(kube, {
          bundle$: authority$.pipe(
            mergeMap((state) =>
              state.type === 'signs' ? [rootBundle(state.authority.roots)] : [],
            ),
          ),
          selectors$: view$.pipe(
            mergeMap(({ snapshot }) =>
              snapshot === undefined ? [] : [snapshot.environment.mesh.discoverySelectors],
            ),
            distinctUntilChanged(),
          ),
          scheduler,
        });
  return {
    event$: merge(
      reading$.pipe(map((reading): AuthorityEvent => ({ type: 'authority-read', reading }))),
      published$,
    ),
    service$: (server, callerOf) =>
      serveCertificates(server, callerOf, { authority$, lifetimes, rate, scheduler }),
    servingOr$: (files$) =>
      authority$.pipe(
        filter(({ type }) => type !== 'unread'),
        map(({ type }) => type === 'absent'),
        distinctUntilChanged(),
        switchMap((isAbsent) => (isAbsent ? files$ : certificate$)),
      ),
  };
}
