import { map, of, type SchedulerLike, timeout } from 'rxjs';
import type { KubeWriter } from '../../shared/kube/kube-api.ts';
import { isObject } from '../../shared/text/is-object.ts';
import { ownMember } from '../../shared/text/own-member.ts';
import { callerOfAccount } from './caller.ts';
import { type CallerIdentity, unauthenticated } from './caller-identity.ts';
import type { ReviewToken } from './review-token.ts';

/** The longest time for the answer, in ms. */
const longest = 5_000;
const path = '/apis/authentication.k8s.io/v1/tokenreviews';
/** The group of each service account. */
const accounts = 'system:serviceaccounts';
/** The longest text of the API in a reason, in characters. */
const longestReason = 300;

/** The advice if the control plane may not make the request. */
const mayReview = 'allow it by a ClusterRoleBinding to the ClusterRole system:auth-delegator';

/**
 * Returns a review by the Kubernetes API: a token must belong to a service account, and be for one
 * of the audiences. If the API does not answer, or does not allow the request, the identity is
 * unavailable.
 */
export function reviewByApi(
  api: KubeWriter,
  audiences: readonly string[],
  scheduler: SchedulerLike,
): ReviewToken {
  return ({ token, trustDomain }) => {
    const review = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token, audiences },
    };
    return api.create(path, JSON.stringify(review), { forbidden: mayReview }).pipe(
      map((answer) =>
        answer.ok
          ? reviewed(answer.value, audiences, trustDomain)
          : unavailable(answer.failure.reason),
      ),
      timeout({
        first: longest,
        scheduler,
        with: () => of(unavailable(`the API does not answer within ${longest / 1_000} s`)),
      }),
    );
  };
}

const unavailable = (reason: string): CallerIdentity => ({
  ok: false,
  fault: 'unavailable',
  reason: `the token cannot be reviewed: ${reason}`,
});

/**
 * Returns the caller of an answered TokenReview:
 * https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-review-v1/
 */
function reviewed(
  review: unknown,
  audiences: readonly string[],
  trustDomain: string,
): CallerIdentity {
  const status = memberOf(review, 'status');
  if (memberOf(status, 'authenticated') !== true)
    return unauthenticated(
      `the Kubernetes API does not accept the token: ${textOf(memberOf(status, 'error'))}`,
    );
  // An API that does not know audiences leaves them out.
  const reviewedFor = listOf(memberOf(status, 'audiences'));
  if (!audiences.some((name) => reviewedFor.includes(name)))
    return unauthenticated(`the token is for none of the audiences ${audiences.join(', ')}`);
  const user = memberOf(status, 'user');
  const name = textOf(memberOf(user, 'username'));
  const caller = callerOfAccount(name, trustDomain);
  return caller === undefined || !listOf(memberOf(user, 'groups')).includes(accounts)
    ? unauthenticated(`the token is of no service account: '${name}'`)
    : { ok: true, caller };
}

const memberOf = (value: unknown, name: string): unknown =>
  isObject(value) ? ownMember(value, name) : undefined;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value.replaceAll(/[\p{C}\s]+/gu, ' ').slice(0, longestReason) : '';
