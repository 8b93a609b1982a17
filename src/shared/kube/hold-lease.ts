import {
  asyncScheduler,
  defer,
  map,
  merge,
  mergeMap,
  type Observable,
  of,
  type SchedulerLike,
  switchMap,
  timer,
} from 'rxjs';
import { reduceWithEffects } from '../../operators/reduce-with-effects.ts';
import { ofType } from '../../operators/tagged-union.ts';
import type { KubeApi, KubeWriter } from './kube-api.ts';
import {
  type ElectionEffect,
  type ElectionEvent,
  type ElectionNews,
  leaseTimes,
  notElected,
  reduceElection,
} from './reduce-election.ts';

export interface LeaseOptions {
  readonly namespace: string;
  readonly name: string;
  /** The name of this instance. No other process has it, and no earlier one had it. */
  readonly holder: string;
  /** The advice if a right is missing. */
  readonly forbidden: string;
  /** When it emits, the lease is given back, and the election goes on without this instance. */
  readonly end$: Observable<unknown>;
  /** Returns a number from 0 up to, but not including, 1. */
  readonly random?: () => number;
  readonly scheduler?: SchedulerLike;
}

/**
 * Takes part in the election of one instance, by a Lease of the API. Emits when this instance is
 * elected, and when it no longer leads. If it is unsubscribed before `end$` emits, the lease is not
 * given back: the next instance takes it when it has run out.
 *
 * Cold; never completes, never errors.
 */
export function holdLease(
  api: KubeApi & KubeWriter,
  {
    namespace,
    name,
    holder,
    forbidden,
    end$,
    random = Math.random,
    scheduler = asyncScheduler,
  }: LeaseOptions,
): Observable<ElectionNews> {
  const collection = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
  const path = `${collection}/${encodeURIComponent(name)}`;
  type Write = Extract<ElectionEffect, { readonly type: 'write' }>;
  const written$ = (effect: Write): Observable<ElectionEvent> =>
    defer(() => {
      const body = leaseBody(effect, { name, holder, now: scheduler.now() });
      const answer$ =
        effect.lease === undefined
          ? api.create(collection, body, { forbidden })
          : api.merge(path, body, { forbidden });
      return merge(
        answer$.pipe(map((answer) => ({ type: 'written' as const, answer, random: random() }))),
        // A timer measures the time that passes, even if the clock of the machine jumps.
        timer(leaseTimes.deadline, scheduler).pipe(
          map(() => ({ type: 'deadline' as const, attempt: effect.attempt })),
        ),
      );
    });
  const ends$ = end$.pipe(map((): ElectionEvent => ({ type: 'end' })));
  return merge(of<ElectionEvent>({ type: 'due' }), ends$).pipe(
    reduceWithEffects(notElected, reduceElection, (effect$: Observable<ElectionEffect>) =>
      merge(
        effect$.pipe(ofType('write'), mergeMap(written$)),
        effect$.pipe(
          ofType('read'),
          switchMap(() => api.get(path)),
          map((answer): ElectionEvent => ({ type: 'read', answer, random: random() })),
        ),
        effect$.pipe(
          ofType('observe'),
          switchMap(({ version }) =>
            timer(leaseTimes.lasts, scheduler).pipe(
              map((): ElectionEvent => ({ type: 'unrenewed', version })),
            ),
          ),
        ),
        effect$.pipe(
          ofType('wait'),
          switchMap(({ pause }) => timer(pause, scheduler)),
          map((): ElectionEvent => ({ type: 'due' })),
        ),
      ),
    ),
    mergeMap(({ state: { news } }) => news),
  );
}

/** Returns the lease, or a change of it, as JSON. Only people read its times. Pure. */
function leaseBody(
  { lease, why }: Pick<Extract<ElectionEffect, { readonly type: 'write' }>, 'lease' | 'why'>,
  { name, holder, now }: { readonly name: string; readonly holder: string; readonly now: number },
): string {
  const renewTime = new Date(now).toISOString().replace('Z', '000Z'); // microseconds
  const acquisition = why === 'take' && {
    acquireTime: renewTime,
    leaseTransitions: lease === undefined ? 0 : lease.transitions + 1,
  };
  const holderIdentity = why === 'give-back' ? '' : holder;
  return JSON.stringify({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: lease === undefined ? { name } : { name, resourceVersion: lease.version },
    spec: {
      ...{ holderIdentity, renewTime, ...acquisition },
      leaseDurationSeconds: leaseTimes.lasts / 1_000,
    },
  });
}
