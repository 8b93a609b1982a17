import { existsSync } from 'node:fs';
import { map, type Observable, type SchedulerLike } from 'rxjs';
import type { FindAccess } from '../../shared/kube/access.ts';
import { createObjects } from '../../shared/kube/create-objects.ts';
import type { Snapshot } from '../environment/snapshots.ts';
import { boundedReviews, reviewBounds } from '../identity/bounded-reviews.ts';
import { identifyBy } from '../identity/identify.ts';
import { recentCallers } from '../identity/recent-callers.ts';
import { mayReview, reviewByApi } from '../identity/review-by-api.ts';
import type { ReviewToken } from '../identity/review-token.ts';
import { servingFiles } from '../identity/serving-files.ts';
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
  /** Emits the current snapshot at once, if there is one. */
  readonly snapshot$: Observable<Snapshot>;
  readonly scheduler: SchedulerLike;
}

/** Returns the secure port of a configuration. */
export function securePort(
  { address, files, filesAre, nodes, tokens }: SecureConfig,
  { authority, findApi, snapshot$, scheduler }: SecureParts,
): SecurePort {
  const trustDomain$ = snapshot$.pipe(map(({ environment }) => environment.mesh.trustDomain));
  const files$ = servingFiles(files, scheduler);
  const review$ = findApi && reviewTokens(findApi, tokens, scheduler);
  return {
    address,
    serving$:
      authority === undefined || filesAre === 'given' || existsSync(files.chain)
        ? files$
        : authority.servingOr$(files$),
    identify$: identifyBy(trustDomain$, review$, scheduler),
    nodes,
    services: authority === undefined ? [] : [authority.service$],
  };
}

function reviewTokens(
  findApi: FindAccess,
  { audiences }: TokenConfig,
  scheduler: SchedulerLike,
): ReviewToken {
  const create$ = createObjects(findApi, 'pilot-discovery', mayReview);
  const review$ = reviewByApi(create$, audiences, scheduler);
  return recentCallers(boundedReviews(review$, reviewBounds, scheduler), scheduler);
}
