import { existsSync } from 'node:fs';
import { EMPTY, ignoreElements, map, type Observable, of, type SchedulerLike } from 'rxjs';
import type { FindAccess } from '../../shared/kube/access.ts';
import { kubeApi } from '../../shared/kube/kube-api.ts';
import type { Snapshot } from '../environment/snapshots.ts';
import { boundedReviews, reviewBounds } from '../identity/bounded-reviews.ts';
import { withClientCrls } from '../identity/client-crls.ts';
import { withClientRoots } from '../identity/client-roots.ts';
import { identifyBy } from '../identity/identify.ts';
import { recentCallers } from '../identity/recent-callers.ts';
import { reviewByApi } from '../identity/review-by-api.ts';
import { reviewByIssuer } from '../identity/review-by-issuer.ts';
import { type IssuerKeys, reviewByKeys } from '../identity/review-by-keys.ts';
import type { ReviewToken } from '../identity/review-token.ts';
import { servingFiles } from '../identity/serving-files.ts';
import type { IssuerRule } from '../istio/security/read-issuer-rule.ts';
import type { BlockedRanges } from '../registry/keys/blocked-ranges.ts';
import { fetchKeys } from '../registry/keys/fetch-keys.ts';
import { issuerKeys } from '../registry/keys/issuer-keys.ts';
import type { SecureConfig } from './discovery-config.ts';
import type { MeshAuthority } from './mesh-authority.ts';
import type { SecurePort } from './serve-grpc.ts';
import type { TokenConfig } from './token-config.ts';

/** The parts of a control plane that its secure port needs. */
export interface SecureParts {
  /** The certificate authority; undefined if it is off. */
  readonly authority: MeshAuthority | undefined;
  /** The Kubernetes API that reviews tokens; undefined if none is named. */
  readonly findApi: FindAccess | undefined;
  /** Addresses from which no keys are fetched. */
  readonly blockedRanges: BlockedRanges;
  /** Emits the current snapshot at once, if there is one. */
  readonly snapshot$: Observable<Snapshot>;
  readonly scheduler: SchedulerLike;
}

/** Returns the secure port of a configuration. */
export function securePort(
  { address, files, filesAre, moreRoots, nodes, tokens }: SecureConfig,
  { authority, findApi, blockedRanges, snapshot$, scheduler }: SecureParts,
): SecurePort {
  const trustDomain$ = snapshot$.pipe(map(({ environment }) => environment.mesh.trustDomain));
  const files$ = servingFiles(files, scheduler);
  const keys = tokens.rule && keysOf(tokens.rule, blockedRanges, scheduler);
  const review$ = reviewTokens(tokens, findApi, keys, scheduler);
  const certificate$ =
    authority === undefined || filesAre === 'given' || existsSync(files.chain)
      ? files$
      : authority.servingOr$(files$);
  const trusting$ =
    moreRoots === '' ? certificate$ : withClientRoots(certificate$, moreRoots, scheduler);
  return {
    address,
    serving$: authority === undefined ? trusting$ : withClientCrls(trusting$, authority.crl$),
    identify$: identifyBy(trustDomain$, review$, scheduler),
    nodes,
    services: authority === undefined ? [] : [authority.service$],
    upkeep$: (keys?.keys$ ?? EMPTY).pipe(ignoreElements()),
  };
}

/** Returns the keys of an issuer: those in its rule, or those at its address. */
function keysOf(
  { keys }: IssuerRule,
  blocked: BlockedRanges,
  scheduler: SchedulerLike,
): IssuerKeys {
  if (keys.type === 'fetched')
    return issuerKeys(keys.from, (from) => fetchKeys(from, blocked), scheduler);
  return { keys$: of({ ok: true, keys: keys.keys }), missed: () => undefined };
}

/** Returns how tokens are reviewed; undefined if nobody can. */
function reviewTokens(
  { audiences, rule }: TokenConfig,
  findApi: FindAccess | undefined,
  keys: IssuerKeys | undefined,
  scheduler: SchedulerLike,
): ReviewToken | undefined {
  const byApi$ =
    findApi && reviewByApi(kubeApi(findApi, 'pilot-discovery', scheduler), audiences, scheduler);
  const review$ =
    rule === undefined || keys === undefined
      ? byApi$
      : reviewByIssuer(rule.issuer, reviewByKeys(rule, keys, scheduler), byApi$);
  return review$ && recentCallers(boundedReviews(review$, reviewBounds, scheduler), scheduler);
}
