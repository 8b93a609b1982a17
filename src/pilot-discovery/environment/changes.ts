import { isSameContent } from '../istio/documents/is-same-content.ts';
import type { AnyResource, Kind, Resource, ResourceKey } from '../istio/documents/model.ts';

/** From the class that affects least to the class that affects most. */
const classes = ['none', 'endpoints', 'config', 'mesh'] as const;

export type ChangeClass = (typeof classes)[number];

/**
 * The changes of an event. The class says how long a change may wait for others. It does not say
 * what the change may affect: an endpoint with a new account changes clusters too.
 */
export interface Changes {
  readonly class: ChangeClass;
  /** The keys of resources that were added, removed or changed. */
  readonly keys: ReadonlySet<ResourceKey>;
}

export const noChanges: Changes = { class: 'none', keys: new Set() };

/** Returns the changes of both events together. */
export function mergeChanges(first: Changes, second: Changes): Changes {
  if (first.class === 'none') return second;
  if (second.class === 'none') return first;
  const [small, large] =
    first.keys.size < second.keys.size ? [first.keys, second.keys] : [second.keys, first.keys];
  const isWithin = small.size === 0 || [...small].every((key) => large.has(key));
  return {
    class: widerOf(first.class, second.class),
    keys: isWithin ? large : new Set([...large, ...small]),
  };
}

/** Returns the class of two changes. */
export function widerOf(first: ChangeClass, second: ChangeClass): ChangeClass {
  return classes.indexOf(first) < classes.indexOf(second) ? second : first;
}

/** The kinds that declare only endpoints. */
const ofEndpoints: ReadonlySet<Kind> = new Set<Kind>([
  'WorkloadEntry',
  'EndpointSlice',
  'Endpoints',
  'Pod',
  'Node',
  'ConsulInstance',
]);

/** Returns the class of the change of one resource, which may be added or removed. */
export function changeClass(
  before: AnyResource | undefined,
  after: AnyResource | undefined,
): ChangeClass {
  if (isSameContent(before, after)) return 'none';
  const kind = (before ?? after)?.kind;
  if (kind !== undefined && ofEndpoints.has(kind)) return 'endpoints';
  if (before?.kind !== 'ServiceEntry' || after?.kind !== 'ServiceEntry') return 'config';
  return withoutEndpoints(before) === withoutEndpoints(after) ? 'endpoints' : 'config';
}

/**
 * Returns the text of a ServiceEntry without its static endpoints. Endpoints of DNS are part of
 * clusters.
 */
function withoutEndpoints({
  labels,
  annotations,
  createdMs,
  spec,
}: Resource<'ServiceEntry'>): string {
  return JSON.stringify([
    labels,
    annotations,
    createdMs,
    spec.resolution === 'static' ? { ...spec, endpoints: [] } : spec,
  ]);
}
