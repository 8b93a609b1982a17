// Why: docs/decisions/094-consul-is-read-as-a-whole.md
import type { StoreEvent } from '../../environment/store-event.ts';
import { isSameContent } from '../../istio/documents/is-same-content.ts';
import type { AnyResource, Flaw, ResourceKey } from '../../istio/documents/model.ts';
import {
  type ConsulPlace,
  type ConsulResources,
  consulResources,
  hasHost,
  serviceFlaw,
} from './consul-resources.ts';
import type { ReadInstances } from './read-instances.ts';

/** An answer of Consul, or a failure to get one. */
export type ConsulEvent =
  | { readonly type: 'catalog'; readonly names: readonly string[] }
  | { readonly type: 'catalog-failed'; readonly reason: string }
  | { readonly type: 'instances'; readonly service: string; readonly read: ReadInstances }
  | {
      readonly type: 'instances-failed';
      readonly service: string;
      readonly reason: string;
      /** In ms since 1970. */
      readonly at: number;
    };

/** The state of one service since the catalog could be read. */
type Answer =
  | { readonly type: 'awaited' }
  | { readonly type: 'current' }
  | { readonly type: 'failed'; readonly reason: string; readonly times: number };

interface FollowedService extends ConsulResources {
  readonly answer: Answer;
}

/** The state of a datacenter. Immutable. */
export interface ConsulState {
  readonly catalog:
    | { readonly type: 'awaited' | 'read' }
    /** The services of the last answer stay, but Consul is not asked for them. */
    | { readonly type: 'lost'; readonly reason: string };
  /** Grows when Consul must be asked for the catalog and each service again. */
  readonly turn: number;
  /** When the turn began, in ms since 1970; -Infinity for the first one. */
  readonly turnAt: number;
  readonly services: ReadonlyMap<string, FollowedService>;
  /** Names of services in the catalog that cannot be a host. */
  readonly nameless: readonly string[];
  /** Whether each service has its own connection, or the services share them. */
  readonly connections: 'one-each' | 'shared';
}

/** A datacenter before the first answer. */
export const unknownConsul: ConsulState = {
  catalog: { type: 'awaited' },
  turn: 0,
  turnAt: -Infinity,
  services: new Map(),
  nameless: [],
  connections: 'one-each',
};

/** The largest number of connections to Consul, which accepts 200 from one address. */
export const mostConnections = 128;

/**
 * The shortest time between two turns because of a service that fails, in ms. If one failed all the
 * time, Consul would be asked for everything without a pause, and might never get to the end.
 */
const apart = 30_000;

/** The servers of Consul itself. Nobody calls them through the mesh. */
const ofConsul = 'consul';

const unread: FollowedService = {
  resources: new Map(),
  flaws: [],
  answer: { type: 'awaited' },
};

/** Returns the state after an event. Pure. */
export function foldConsul(
  state: ConsulState,
  event: ConsulEvent,
  place: ConsulPlace,
): ConsulState {
  switch (event.type) {
    case 'catalog':
      return withNames(state, event.names);
    case 'catalog-failed':
      return { ...state, catalog: { type: 'lost', reason: event.reason } };
    case 'instances': {
      const resources = consulResources(place, event.service, event.read);
      return withService(state, event.service, { ...resources, answer: { type: 'current' } });
    }
    case 'instances-failed':
      return withFailure(state, event);
  }
}

function withFailure(
  state: ConsulState,
  { service: name, reason, at: failedAt }: Extract<ConsulEvent, { type: 'instances-failed' }>,
): ConsulState {
  const { answer, ...before } = state.services.get(name) ?? unread;
  const times = answer.type === 'failed' ? answer.times + 1 : 1;
  const after = withService(state, name, { ...before, answer: { type: 'failed', reason, times } });
  const isLate = Math.abs(failedAt - state.turnAt) >= apart; // the clock may be set back
  // Other services may fail soon too, and Consul may come back without its data.
  return answer.type === 'current' && isLate
    ? { ...after, catalog: { type: 'awaited' }, turn: state.turn + 1, turnAt: failedAt }
    : after;
}

function withService(state: ConsulState, name: string, service: FollowedService): ConsulState {
  return state.services.has(name)
    ? { ...state, services: new Map(state.services).set(name, service) }
    : state;
}

function withNames(state: ConsulState, names: readonly string[]): ConsulState {
  const isBack = state.catalog.type !== 'read';
  const services = new Map(
    names
      .filter((name) => name !== ofConsul && hasHost(name))
      .map((name) => {
        const before = state.services.get(name) ?? unread;
        return [name, isBack ? { ...before, answer: unread.answer } : before] as const;
      }),
  );
  // The limit for the way back is lower, so that one more or less service does not change the mode.
  const limit = state.connections === 'shared' ? mostConnections / 2 : mostConnections;
  return {
    ...state,
    catalog: { type: 'read' },
    services,
    nameless: names.filter((name) => !hasHost(name)),
    connections: services.size >= limit ? 'shared' : 'one-each',
  };
}

/** The resources and flaws that the source has emitted so far. Immutable. */
export interface Emitted {
  readonly resources: ReadonlyMap<ResourceKey, AnyResource>;
  readonly flaws: readonly Flaw[];
  readonly status: 'reading' | 'synced' | { readonly lost: string };
  /** The events of the last step. */
  readonly events: readonly StoreEvent[];
}

export const nothingEmitted: Emitted = {
  resources: new Map(),
  flaws: [],
  status: 'reading',
  events: [],
};

/**
 * Returns what the source has emitted after a state, with the new events. Resources are removed if
 * all services have answered since the catalog could be read, and all removals are one event: so a
 * Consul that comes back without its data causes one large removal. Pure.
 */
export function emitConsul(before: Emitted, state: ConsulState, place: ConsulPlace): Emitted {
  const { source } = place;
  const now = new Map([...state.services.values()].flatMap(({ resources }) => [...resources]));
  const upserts = [...now].flatMap(([key, resource]) =>
    isSameContent(before.resources.get(key), resource) ? [] : [resource],
  );
  const isWhole = state.catalog.type === 'read' && [...state.services.values()].every(isTried);
  const removes = isWhole ? [...before.resources.keys()].filter((key) => !now.has(key)) : [];
  const flaws = flawsOf(before.flaws, state, place);
  const status = statusOf(before.status, state, isWhole);
  return {
    resources: isWhole ? now : new Map([...before.resources, ...now]),
    flaws,
    status,
    events: [
      ...(upserts.length + removes.length === 0
        ? []
        : [{ type: 'changed', source, upserts, removes } as const]),
      ...(flaws === before.flaws ? [] : [{ type: 'flaws', source, flaws } as const]),
      ...statusEvents(before.status, status, source),
    ],
  };
}

/** Whether a service has answered, or has failed twice: one failure may be an interruption. */
const isTried = ({ answer }: FollowedService): boolean =>
  answer.type === 'current' || hasFailed(answer);

const hasFailed = (answer: Answer): answer is Extract<Answer, { readonly type: 'failed' }> =>
  answer.type === 'failed' && answer.times > 1;

function flawsOf(
  before: readonly Flaw[],
  { catalog, services, nameless }: ConsulState,
  place: ConsulPlace,
): readonly Flaw[] {
  if (catalog.type !== 'read') return before;
  const flaws = [
    ...nameless.map((name) =>
      serviceFlaw(
        place,
        name,
        `its name '${name}' cannot be part of a DNS name, so it has no host and is not served`,
        'warning',
      ),
    ),
    ...[...services].flatMap(([name, { answer, flaws: serviceFlaws }]) => [
      ...serviceFlaws,
      ...(hasFailed(answer) ? [serviceFlaw(place, name, answer.reason, 'error')] : []),
    ]),
  ];
  return JSON.stringify(flaws) === JSON.stringify(before) ? before : flaws;
}

function statusOf(
  before: Emitted['status'],
  { catalog, services }: ConsulState,
  isWhole: boolean,
): Emitted['status'] {
  if (catalog.type === 'lost') return { lost: catalog.reason };
  const failures = [...services.values()].flatMap(({ answer }) =>
    hasFailed(answer) ? [answer.reason] : [],
  );
  // If no service can be read, Consul as a whole cannot.
  const [reason] = failures;
  if (reason !== undefined && failures.length === services.size) return { lost: reason };
  return isWhole ? 'synced' : before;
}

function statusEvents(
  before: Emitted['status'],
  now: Emitted['status'],
  source: string,
): readonly StoreEvent[] {
  if (JSON.stringify(before) === JSON.stringify(now) || now === 'reading') return [];
  return now === 'synced'
    ? [{ type: 'synced', source }]
    : [{ type: 'lost', source, reason: now.lost }];
}
