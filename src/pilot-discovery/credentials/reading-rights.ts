// Why: docs/decisions/107-a-gateway-gets-the-secrets-that-its-account-may-read.md
import {
  distinctUntilChanged,
  expand,
  map,
  type Observable,
  of,
  pairwise,
  type SchedulerLike,
  startWith,
  switchMap,
  tap,
  timeout,
  timer,
} from 'rxjs';
import { sharedByKey } from '../../operators/shared-by-key.ts';
import { turnstile } from '../../operators/turnstile.ts';
import type { KubeWriter } from '../../shared/kube/kube-api.ts';
import { isObject } from '../../shared/text/is-object.ts';
import { ownMember } from '../../shared/text/own-member.ts';
import { type Caller, spiffeOf } from '../identity/caller.ts';
import type { CredentialEvent } from './credential-event.ts';

/**
 * Whether an account may read the Secrets of its namespace. `unknown`: the API does not say. The
 * account then gets no secrets.
 */
export type ReadingRight =
  { readonly type: 'allowed' } | { readonly type: 'denied' | 'unknown'; readonly reason: string };

/** Emits the right of a caller, and each change. Never completes, never errors. */
export type RightOf = (caller: Caller) => Observable<ReadingRight>;

/** How long an answer is valid, in ms. istiod uses 60 s for grants and for refusals. */
const counts: Readonly<Record<ReadingRight['type'], number>> = {
  allowed: 60_000,
  denied: 10_000,
  unknown: 2_000,
};
/** How long an answer may take, with the wait for its turn, in ms. */
const longest = 5_000;
/** How long an answer is kept for an account without a proxy, in ms. */
const lingering = 30_000;
/** How many questions may run at once, and how many may wait. */
const bounds = { running: 20, waiting: 2_000 };

const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
/** The advice if the control plane may not create SubjectAccessReviews. */
const mayReview = 'allow it by a ClusterRoleBinding to the ClusterRole system:auth-delegator';

/**
 * Returns a function that finds out the right of an account. Like istiod, it asks the Kubernetes
 * API by a SubjectAccessReview whether the account may list Secrets in its namespace. A grant is
 * valid for a minute, a refusal for 10 s, and no answer for 2 s. As long as the account has a
 * proxy, the API is then asked again.
 *
 * @param tell gets each change
 */
export function readingRights(
  api: KubeWriter,
  tell: (event: CredentialEvent) => void,
  scheduler: SchedulerLike,
): RightOf {
  const rightOf$ = sharedByKey<ReadingRight>(lingering, scheduler);
  const tooMany = unknown('too many rights are being asked for');
  const through$ = turnstile<ReadingRight>(bounds, of(tooMany));
  const late = unknown(`the API does not answer within ${longest / 1_000} s`);
  return (caller) => {
    const identity = spiffeOf(caller);
    const ask$ = api.create(path, questionOf(caller), { forbidden: mayReview }).pipe(
      map((answer) => (answer.ok ? rightIn(answer.value) : unknown(answer.failure.reason))),
      through$,
      timeout({ first: longest, with: () => of(late), scheduler }), // waiting counts: a grant must end
    );
    return rightOf$(identity, () =>
      ask$.pipe(
        expand(({ type }) => timer(counts[type], scheduler).pipe(switchMap(() => ask$))),
        distinctUntilChanged((a, b) => a.type === b.type),
        startWith(unasked),
        pairwise(),
        tap(([before, now]) => {
          const event = changeOf(identity, before, now);
          if (event !== undefined) tell(event);
        }),
        map(([, now]) => now),
      ),
    );
  };
}

/**
 * The state before the first answer. If the answer grants the right, nothing has changed, and
 * nothing is reported.
 */
const unasked: ReadingRight = { type: 'allowed' };
const unknown = (reason: string): ReadingRight => ({ type: 'unknown', reason });

/** Returns the event of a change: a refusal, or a grant after a refusal. */
function changeOf(
  identity: string,
  before: ReadingRight,
  now: ReadingRight,
): CredentialEvent | undefined {
  if (now.type !== 'allowed') return { type: 'credentials-denied', identity, reason: now.reason };
  return before.type === 'allowed' ? undefined : { type: 'credentials-allowed', identity };
}

const questionOf = ({ namespace, serviceAccount }: Caller): string =>
  JSON.stringify({
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: {
      user: `system:serviceaccount:${namespace}:${serviceAccount}`,
      resourceAttributes: { namespace, verb: 'list', resource: 'secrets' },
    },
  });

/** Reads the answer to a SubjectAccessReview (authorization.k8s.io/v1). */
function rightIn(review: unknown): ReadingRight {
  const status = memberOf(review, 'status');
  if (memberOf(status, 'allowed') === true && memberOf(status, 'denied') !== true)
    return { type: 'allowed' };
  return {
    type: 'denied',
    reason:
      'its account may not list the Secrets of its namespace: allow it by a Role, and a RoleBinding',
  };
}

const memberOf = (value: unknown, name: string): unknown =>
  isObject(value) ? ownMember(value, name) : undefined;
