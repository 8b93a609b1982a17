import {
  connect,
  distinctUntilChanged,
  EMPTY,
  filter,
  map,
  merge,
  mergeMap,
  type Observable,
  type SchedulerLike,
  share,
  switchMap,
  take,
} from 'rxjs';
import { ofType } from '../../operators/tagged-union.ts';
import { pemCertificates } from '../../shared/certificates/key-pair-flaw.ts';
import { parseCrls } from '../../shared/certificates/parse-crls.ts';
import { serveCrl } from '../../shared/certificates/serve-crl.ts';
import type { AuthorityReading } from '../ca/authority-files.ts';
import { isSameAuthority } from '../ca/same-reading.ts';
import { authorityReadings } from '../ca/authority-readings.ts';
import { type AuthorityState, noAuthority } from '../ca/authority-state.ts';
import type { AuthorityEvent, CaView } from '../ca/ca-view.ts';
import { followNamespaces$, publishedMaps, publishRoots } from '../ca/publish-roots.ts';
import { crlBundle, rootBundle } from '../ca/root-bundle.ts';
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
   * Emits each reading of the keys of the authority, and each result of publishing its roots in the
   * API. Cold: each subscription has its own watchers.
   */
  readonly event$: Observable<AuthorityEvent>;
  readonly service$: SecureService<AuthorityEvent>;
  /**
   * Emits the certificates that this authority signs for the control plane, while there is an
   * authority; otherwise the events of `files$`.
   */
  readonly servingOr$: (files$: Observable<ServingEvent>) => Observable<ServingEvent>;
  /** Emits the CRLs that are in use, PEM, at once and after each change; blank for none. */
  readonly crl$: Observable<string>;
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
  const crl$ = view$.pipe(
    map(({ ca }) => ca?.crl.text ?? ''),
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
    kube === undefined ? EMPTY : publishBoth(kube, { authority$, crl$, view$, scheduler });
  return {
    event$: merge(
      reading$.pipe(connect((shared$) => readingEvents(shared$, scheduler))),
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
    crl$,
  };
}

/** Emits what a reading changes: the authority, and its CRLs. */
function readingEvents(
  reading$: Observable<AuthorityReading>,
  scheduler: SchedulerLike,
): Observable<AuthorityEvent> {
  const crl$ = reading$.pipe(
    ofType('authority'),
    map(({ authority: { roots, intermediates }, crl, path }) => ({
      content: parseCrls(crl),
      authorities: pemCertificates([...roots, ...intermediates].join('')) ?? [],
      carried: path,
    })),
    serveCrl<string>(scheduler),
  );
  return merge(
    reading$.pipe(
      distinctUntilChanged(isSameAuthority),
      map((reading): AuthorityEvent => ({ type: 'authority-read', reading })),
    ),
    crl$.pipe(
      map(({ carried: path, ...crl }): AuthorityEvent => ({ type: 'crl-read', path, crl })),
    ),
  );
}

interface Published {
  readonly authority$: Observable<AuthorityState>;
  /** Emits the CRLs at once, on subscribe. */
  readonly crl$: Observable<string>;
  readonly view$: Observable<AuthorityView>;
  readonly scheduler: SchedulerLike;
}

/** Publishes the roots and the CRLs of the authority. CRLs wait until an authority signs. */
function publishBoth(
  kube: KubeApi & KubeWriter,
  { authority$, crl$, view$, scheduler }: Published,
): Observable<AuthorityEvent> {
  const signing$ = authority$.pipe(ofType('signs'));
  const namespaceSign$ = followNamespaces$(kube, Math.random, scheduler).pipe(share());
  const selectors$ = view$.pipe(
    mergeMap(({ snapshot }) =>
      snapshot === undefined ? [] : [snapshot.environment.mesh.discoverySelectors],
    ),
    distinctUntilChanged(),
  );
  const options = { selectors$, namespaceSign$, scheduler };
  const roots$ = signing$.pipe(map(({ authority }) => rootBundle(authority.roots)));
  const crls$ = signing$.pipe(
    take(1),
    switchMap(() => crl$),
    map(crlBundle),
  );
  return merge(
    publishRoots(kube, { ...options, bundle$: roots$ }),
    publishRoots(kube, { ...options, bundle$: crls$, into: publishedMaps.crl }).pipe(
      map((news): AuthorityEvent => ({ type: 'crl-maps', news })),
    ),
  );
}
