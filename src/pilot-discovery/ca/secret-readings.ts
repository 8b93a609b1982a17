import {
  asyncScheduler,
  defer,
  distinctUntilChanged,
  EMPTY,
  finalize,
  from,
  map,
  merge,
  mergeMap,
  type Observable,
  of,
  type SchedulerLike,
  switchMap,
  timer,
} from 'rxjs';
import { clockTimer } from '../../operators/clock-timer.ts';
import { reduceWithEffects } from '../../operators/reduce-with-effects.ts';
import { unreachable } from '../../operators/tagged-union.ts';
import { followObjects } from '../../shared/kube/follow.ts';
import type { FollowSign } from '../../shared/kube/follow-state.ts';
import type { KubeApi, KubeWriter } from '../../shared/kube/kube-api.ts';
import type { KubeObject } from '../../shared/kube/kube-object.ts';
import type { AuthorityReading } from './authority-files.ts';
import { type AuthoritySecret, readAuthoritySecret, rootSecret } from './authority-secret.ts';
import { newRoot } from './new-root.ts';
import {
  nothingListed,
  reduceSecrets,
  type SecretsEffect,
  type AuthoritySecretEvent,
} from './reduce-secrets.ts';
import { isSameReading } from './same-reading.ts';

export interface SecretReadingsOptions {
  /** The namespace of the control plane. */
  readonly namespace: string;
  /** The lifetime of a root that is made now, in ms. */
  readonly rootLifetime: number;
  /** Returns a number from 0 up to, but not including, 1. */
  readonly random?: () => number;
  readonly scheduler?: SchedulerLike;
}

const names: readonly AuthoritySecret[] = ['cacerts', 'istio-ca-secret'];

/**
 * Emits the authority in the Secrets of istiod, and again after each change; also when it expires,
 * and when the reason for its refusal changes. If the API has neither Secret, a root is made and
 * created there. As long as the API does not answer, an authority that was read stays, and nothing
 * is made.
 *
 * Cold: a subscription follows the API. Never completes, never errors.
 */
export function secretReadings(
  api: KubeApi & KubeWriter,
  {
    namespace,
    rootLifetime,
    random = Math.random,
    scheduler = asyncScheduler,
  }: SecretReadingsOptions,
): Observable<AuthorityReading> {
  const collection = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets`;
  const create$ = defer(() => newRoot(rootLifetime, scheduler.now())).pipe(
    mergeMap((root) => {
      const body = rootSecret(namespace, root);
      root.key.fill(0);
      // The answer contains the key too, so it is not decoded.
      return api
        .create(collection, body, { decode: () => undefined })
        .pipe(finalize(() => body.fill(0)));
    }),
    map((answer): AuthoritySecretEvent => {
      const failure = answer.ok ? undefined : answer.failure;
      return { type: 'created', failure, random: random(), now: scheduler.now() };
    }),
  );
  const carryOut$ = (effect: SecretsEffect): Observable<AuthoritySecretEvent> => {
    switch (effect.type) {
      case 'rest':
        return EMPTY;
      case 'wait':
        return clockTimer(effect.pause, scheduler).pipe(
          map(() => ({ type: 'passed', now: scheduler.now() })),
        );
      case 'read':
        return timer(effect.pause, scheduler).pipe(
          map(() => contentOf(effect.name, effect.object, scheduler.now())),
        );
      case 'create':
        return timer(effect.pause, scheduler).pipe(switchMap(() => create$));
      default:
        return unreachable(effect);
    }
  };
  const signs$ = names.map((name) =>
    followObjects(api, { kind: 'Secret', namespace, name }, { random, scheduler }).pipe(
      mergeMap((sign) => from(eventsOf(name, sign, scheduler.now()))),
    ),
  );
  return merge(...signs$).pipe(
    reduceWithEffects(
      nothingListed,
      reduceSecrets(namespace),
      (effect$: Observable<SecretsEffect>) => effect$.pipe(switchMap(carryOut$)),
    ),
    mergeMap(({ state: { reading } }) => (reading === undefined ? EMPTY : of(reading))),
    distinctUntilChanged(isSameReading),
  );
}

/** Returns the content of a Secret; `absent` without an object. `now`: ms since 1970. */
function contentOf(
  name: AuthoritySecret,
  object: KubeObject | undefined,
  now: number,
): AuthoritySecretEvent {
  const content =
    object === undefined ? ({ type: 'absent' } as const) : readAuthoritySecret(name, object, now);
  return { type: 'content', name, content, now };
}

function eventsOf(
  name: AuthoritySecret,
  sign: FollowSign,
  now: number,
): readonly AuthoritySecretEvent[] {
  switch (sign.type) {
    case 'listed':
      return [contentOf(name, sign.objects[0], now)];
    case 'set':
      return [contentOf(name, sign.object, now)];
    case 'removed':
      return [contentOf(name, undefined, now)];
    case 'lost': {
      const cause = sign.cause === 'no-answer' ? sign.cause : 'refused';
      return [{ type: 'lost', name, cause, reason: sign.reason, now }];
    }
    case 'current':
      return [];
    default:
      return unreachable(sign);
  }
}
