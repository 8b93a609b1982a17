import {
  asyncScheduler,
  connect,
  EMPTY,
  filter,
  interval,
  map,
  merge,
  mergeMap,
  type Observable,
  scan,
  type SchedulerLike,
  switchMap,
  takeUntil,
  timer,
  withLatestFrom,
} from 'rxjs';
import { reduceWithEffects } from '../../operators/reduce-with-effects.ts';
import { ofType, unreachable } from '../../operators/tagged-union.ts';
import { followObjects } from '../../shared/kube/follow.ts';
import type { FollowSign } from '../../shared/kube/follow-state.ts';
import { holdLease } from '../../shared/kube/hold-lease.ts';
import type { KubeApi, KubeWriter } from '../../shared/kube/kube-api.ts';
import type { ElectionNews } from '../../shared/kube/reduce-election.ts';
import type { KubeObject } from '../../shared/kube/kube-object.ts';
import { findingsIn } from '../analyze/analysis.ts';
import type { Environment } from '../environment/environment.ts';
import { eachResource } from '../environment/resources.ts';
import type { Store } from '../environment/store.ts';
import { type Kind, keyOf, type ResourceKey } from '../istio/documents/model.ts';
import { istioKinds } from '../registry/kubernetes/followed-kinds.ts';
import {
  nothingWritten,
  reduceStatuses,
  type StatusesEffect,
  type StatusesEvent,
  type StatusObject,
} from './reduce-statuses.ts';
import { statusObject, statusParts } from './status-object.ts';
import type { ObjectStatusEvent } from './object-status-event.ts';
import { type ValidationMessage, validationMessages } from './validation-messages.ts';

/** The parts of a view that the status depends on. */
interface AnalyzedView {
  readonly store: Store | undefined;
  readonly snapshot: { readonly environment: Environment } | undefined;
}

export interface WriteStatusesOptions {
  /** Emits the current view at once, on subscribe. */
  readonly view$: Observable<AnalyzedView>;
  /** The name of the source whose objects get a status. */
  readonly source: string;
  /** It completes names of hosts without a dot. */
  readonly domain: string;
  /** From one analysis to the next, in ms. */
  readonly interval: number;
  /** The namespace of the lease, and the name of this process. */
  readonly namespace: string;
  readonly holder: string;
  /** When it emits, nothing is written any longer, and the lease is given back. */
  readonly end$: Observable<unknown>;
  /** Returns a number from 0 up to, but not including, 1. */
  readonly random?: () => number;
  readonly scheduler?: SchedulerLike;
}

/** The name of istiod, whose lock is a ConfigMap. */
const leaseName = 'istio-analyze-leader';

/** The advice if a right is missing. */
const may = {
  lead: 'allow it by a Role with get, create and patch of the Lease istio-analyze-leader',
  write: 'allow it by a ClusterRole with patch of the status of this kind',
};

/**
 * Writes what an analysis finds into the status of the objects, as long as this instance holds the
 * lease. Emits the news for an operator. Nothing is written while the source cannot be read.
 *
 * Cold: a subscription takes part in the election. Never completes, never errors.
 */
export function writeStatuses(
  api: KubeApi & KubeWriter,
  options: WriteStatusesOptions,
): Observable<ObjectStatusEvent> {
  const { namespace, holder, end$, random = Math.random, scheduler = asyncScheduler } = options;
  const lease = { namespace, name: leaseName, holder, forbidden: may.lead };
  return holdLease(api, { ...lease, end$, random, scheduler }).pipe(
    connect((news$) =>
      merge(
        news$.pipe(map((news) => eventOf(news, holder))),
        news$.pipe(
          filter(({ type }) => type !== 'refused'),
          switchMap(({ type }) =>
            type === 'elected'
              ? whileLeading(api, options, random, scheduler).pipe(takeUntil(end$))
              : EMPTY,
          ),
        ),
      ),
    ),
  );
}

function eventOf(news: ElectionNews, holder: string): ObjectStatusEvent {
  switch (news.type) {
    case 'elected':
      return { type: 'status-writer-elected', holder };
    case 'resigned':
      return { type: 'status-writer-resigned', reason: news.reason };
    case 'refused':
      return { type: 'statuses-refused', reason: news.reason };
    default:
      return unreachable(news);
  }
}

function whileLeading(
  api: KubeApi & KubeWriter,
  { view$, source, domain, interval: pause }: WriteStatusesOptions,
  random: () => number,
  scheduler: SchedulerLike,
): Observable<ObjectStatusEvent> {
  const objects$ = merge(
    ...istioKinds.map(({ kind, query }) =>
      followObjects(
        api,
        { kind: query, namespace: '', name: '' },
        { prune: statusParts, random, scheduler },
      ).pipe(mergeMap((sign) => objectEvents(kind, sign, scheduler.now()))),
    ),
  );
  const analysis$ = interval(pause, scheduler).pipe(
    withLatestFrom(view$),
    scan(
      (before: Analysis | undefined, [, view]) => analysisAfter(before, view, source, domain),
      undefined,
    ),
    mergeMap((analysis): readonly StatusesEvent[] =>
      analysis?.source === 'readable'
        ? [{ type: 'analyzed', messages: analysis.messages, now: scheduler.now() }]
        : [],
    ),
  );
  return merge(objects$, analysis$).pipe(
    reduceWithEffects(nothingWritten, reduceStatuses, (effect$: Observable<StatusesEffect>) =>
      merge(
        effect$.pipe(
          ofType('write'),
          mergeMap(({ path, body }) => api.merge(path, body, { forbidden: may.write })),
          map((answer): StatusesEvent => ({
            type: 'written',
            failure: answer.ok ? undefined : answer.failure,
          })),
        ),
        effect$.pipe(
          ofType('wait'),
          switchMap(({ pause: wait }) => timer(wait, scheduler)),
          map((): StatusesEvent => ({ type: 'due' })),
        ),
      ),
    ),
    mergeMap(({ state: { news } }) => news),
    map((news): ObjectStatusEvent =>
      news.type === 'refused'
        ? { type: 'statuses-refused', reason: news.reason }
        : { type: 'status-contested', key: news.key },
    ),
  );
}

/** The analysis of an environment. */
interface Analysis {
  readonly environment: Environment;
  readonly flawed: Store['sources'];
  readonly source: 'readable' | 'lost';
  readonly messages: ReadonlyMap<ResourceKey, readonly ValidationMessage[]>;
}

/** Returns the analysis of a view; the previous analysis if nothing has changed. */
function analysisAfter(
  before: Analysis | undefined,
  { store, snapshot }: AnalyzedView,
  source: string,
  domain: string,
): Analysis | undefined {
  if (store === undefined || snapshot === undefined) return undefined;
  const { environment } = snapshot;
  const isLost = store.sources.get(source)?.lost !== undefined;
  if (isLost) return before && { ...before, source: 'lost' };
  if (before?.environment === environment && before.flawed === store.sources)
    return { ...before, source: 'readable' };
  const context = { domain, mesh: { mesh: store.mesh, flaws: [] }, domainsElsewhere: [] };
  const withFindings = validationMessages(findingsIn(environment, store, context), source);
  const clean = [...eachResource(store.resources)].flatMap(([key, { origin }]) =>
    origin.source === source && !withFindings.has(key) ? [[key, []] as const] : [],
  );
  return {
    ...{ environment, flawed: store.sources, source: 'readable' },
    messages: new Map([...withFindings, ...clean]),
  };
}

function objectEvents(kind: Kind, sign: FollowSign, now: number): readonly StatusesEvent[] {
  const event = (
    scope: 'all' | 'changed',
    objects: readonly (readonly [ResourceKey, StatusObject | undefined])[],
  ): readonly StatusesEvent[] => [{ type: 'objects', kind, scope, objects: new Map(objects), now }];
  const keyOfObject = ({ metadata: { name, namespace = '' } }: KubeObject): ResourceKey =>
    keyOf({ kind, namespace, name });
  switch (sign.type) {
    case 'listed':
      return event(
        'all',
        sign.objects.map((object) => [keyOfObject(object), statusObject(object)] as const),
      );
    case 'set':
      return event('changed', [[keyOfObject(sign.object), statusObject(sign.object)]]);
    case 'removed':
      return event('changed', [[keyOfObject(sign.object), undefined]]);
    case 'current':
    case 'lost':
      return [];
    default:
      return unreachable(sign);
  }
}
