// Why: docs/decisions/095-services-of-consul-share-connections.md
import {
  asyncScheduler,
  defer,
  distinctUntilChanged,
  filter,
  map,
  merge,
  mergeMap,
  type Observable,
  pairwise,
  scan,
  type SchedulerLike,
  share,
  startWith,
  switchMap,
  takeUntil,
  tap,
} from 'rxjs';
import { feedback } from '../../../operators/feedback.ts';
import { places } from '../../../operators/places.ts';
import { quiesce } from '../../../operators/quiesce.ts';
import { supervise } from '../../../operators/supervise.ts';
import {
  blockingQueries,
  type Queried,
  type QueryTimes,
} from '../../../shared/consul/blocking-queries.ts';
import { consulQuery, type ConsulServer, consulUrl } from '../../../shared/consul/consul-query.ts';
import { errorsOf } from '../../../shared/http/fetched.ts';
import { isMap } from '../../../shared/text/split-content.ts';
import type { StoreEvent } from '../../environment/store-event.ts';
import type { ConsulPlace } from './consul-resources.ts';
import {
  type ConsulEvent,
  type ConsulState,
  emitConsul,
  foldConsul,
  mostConnections,
  nothingEmitted,
  unknownConsul,
} from './consul-state.ts';
import { readInstances } from './read-instances.ts';

export interface ConsulSourceOptions {
  readonly server: ConsulServer;
  /** '' for the datacenter of the Consul at the address. */
  readonly datacenter: string;
  /** The namespace of all services. */
  readonly namespace: string;
  /** The name of the source. */
  readonly name: string;
  /** Returns a number from 0 up to, but not including, 1: it spreads the pauses by 20 %. */
  readonly random?: () => number;
  readonly scheduler?: SchedulerLike;
}

/** The largest size of an answer, in bytes; and the largest number of services. */
const most = { bytes: 16 << 20, services: 10_000 };
/** How long Consul delays an answer without news, in ms: `shared` if services share connections. */
const wait = { usual: 50_000, shared: 1_000 };
/** The least time between two queries for a service, in ms. */
const spacing = 1_000;
/** How long an answer may take beyond this delay, in ms. */
const timeout = 10_000;
/** A change is complete after `quiet` without an answer, or `most` after its first. In ms. */
const gather = { quiet: 50, most: 1_000 };

/**
 * Emits the services in the catalog of a datacenter of Consul and their instances: all that exist,
 * then `synced`, then the changes. Each service is asked for at most once in 1 s. If Consul cannot
 * be read, or does not show everything, all resources stay until it does.
 *
 * Cold; never completes, never errors.
 */
export function consulSource(options: ConsulSourceOptions): Observable<StoreEvent> {
  const { server, datacenter, namespace, name, scheduler = asyncScheduler } = options;
  const { random = Math.random } = options;
  const urlOf = (path: string): string =>
    consulUrl(server, datacenter === '' ? path : `${path}?dc=${encodeURIComponent(datacenter)}`);
  const place: ConsulPlace = {
    source: name,
    namespace,
    datacenter,
    urlOf: (service) => urlOf(`health/service/${encodeURIComponent(service)}`),
  };
  const catalog: Endpoint = { url: urlOf('catalog/services'), times: { wait: wait.usual } };
  return defer(() => {
    const place$ = places(mostConnections);
    const follow$ = followed(server, random, scheduler);
    const catalog$ = follow$(
      catalog,
      (body): ConsulEvent => ({ type: 'catalog', names: namesOf(body) }),
      (reason) => ({ type: 'catalog-failed', reason }),
    );
    const instances$ = (service: string, { connections }: ConsulState): Observable<ConsulEvent> =>
      follow$(
        {
          url: place.urlOf(service),
          times: { wait: connections === 'shared' ? wait.shared : wait.usual, place$ },
        },
        (body): ConsulEvent => ({ type: 'instances', service, read: readInstances(body) }),
        (reason) => ({ type: 'instances-failed', service, reason, at: scheduler.now() }),
      );
    return feedback<ConsulState, ConsulEvent>(
      unknownConsul,
      (state, event) => foldConsul(state, event, place),
      (state$) =>
        merge(
          state$.pipe(
            map(({ turn }) => turn),
            distinctUntilChanged(),
            switchMap(() => catalog$),
          ),
          eachService(state$, instances$),
        ),
    ).pipe(
      map(({ state }) => state),
      quiesce(gather.quiet, gather.most, (_, newest) => newest, scheduler),
      scan((emitted, state) => emitConsul(emitted, state, place), nothingEmitted),
      mergeMap(({ events }) => events),
    );
  });
}

/** A URL that is asked again and again. */
interface Endpoint {
  readonly url: string;
  readonly times: Pick<QueryTimes, 'wait' | 'place$'>;
}

/**
 * Returns a function that follows an endpoint: it emits an event for each answer, and one for each
 * failure, after which it asks again.
 */
const followed =
  (server: ConsulServer, random: () => number, scheduler: SchedulerLike) =>
  (
    { url, times }: Endpoint,
    eventOf: (body: unknown) => ConsulEvent,
    failureOf: (reason: string) => ConsulEvent,
  ): Observable<ConsulEvent> =>
    blockingQueries(
      forward(
        consulQuery(server, { url, wait: times.wait, largest: most.bytes, stateOf: eventOf }),
      ),
      { ...times, timeout, random, spacing, scheduler },
    ).pipe(
      errorsOf(url),
      supervise((error): ConsulEvent => failureOf(reasonOf(error)), random, scheduler),
    );

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/**
 * Returns a query that errors if the index goes back: then Consul has other data than before. An
 * index of 0 counts as 1, as in `blockingQueries`.
 */
const forward = <T>(queried: Queried<T>): Queried<T> => ({
  query: (from) =>
    queried.query(from).pipe(
      tap(({ index }) => {
        if (Math.max(index, 1) < from)
          throw new Error(
            `its index has gone back from ${from} to ${index}: it has other data now`,
          );
      }),
    ),
});

/** Returns the names in an answer to `catalog/services`. */
function namesOf(body: unknown): readonly string[] {
  if (!isMap(body)) throw new Error('its answer is not an object of services');
  const names = Object.keys(body);
  if (names.length > most.services)
    throw new Error(`it has ${names.length} services, and ${most.services} are read at most`);
  return names.sort();
}

/**
 * Follows each service of the newest state, as long as the state has it and the catalog can be
 * read. If the services begin or cease to share connections, each is asked for again.
 */
function eachService(
  state$: Observable<ConsulState>,
  follow$: (service: string, state: ConsulState) => Observable<ConsulEvent>,
): Observable<ConsulEvent> {
  const wanted$ = state$.pipe(
    distinctUntilChanged(
      (a, b) =>
        a.catalog.type === b.catalog.type &&
        a.services.size === b.services.size &&
        a.connections === b.connections &&
        [...a.services.keys()].every((name) => b.services.has(name)),
    ),
    share(),
  );
  const has = ({ catalog, services, connections }: ConsulState, name: string, as: ConsulState) =>
    catalog.type === 'read' && services.has(name) && connections === as.connections;
  return wanted$.pipe(
    startWith(unknownConsul),
    pairwise(),
    mergeMap(([before, state]) =>
      [...state.services.keys()]
        .filter((name) => has(state, name, state) && !has(before, name, state))
        .map((name) => ({ name, state })),
    ),
    mergeMap(({ name, state }) =>
      follow$(name, state).pipe(
        takeUntil(wanted$.pipe(filter((newest) => !has(newest, name, state)))),
      ),
    ),
  );
}
