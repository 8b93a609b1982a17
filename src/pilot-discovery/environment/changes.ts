import type { AnyResource, Resource, ResourceKey } from '../istio/model.ts';

/** From what touches least to what touches most. */
const classes = ['none', 'endpoints', 'config', 'mesh'] as const;

export type ChangeClass = (typeof classes)[number];

/**
 * What an event has changed. The class says how long a change may wait for others, and nothing of
 * what it may lead to: an endpoint with a new account changes clusters too.
 */
export interface Changes {
  readonly class: ChangeClass;
  /** Of what has come, gone, or says something else. */
  readonly keys: ReadonlySet<ResourceKey>;
}

export const noChanges: Changes = { class: 'none', keys: new Set() };

/** What both have changed, one after the other. */
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

/** The class of two changes. */
export function widerOf(first: ChangeClass, second: ChangeClass): ChangeClass {
  return classes.indexOf(first) < classes.indexOf(second) ? second : first;
}

/** The class of the change of one resource, which may have come or gone. */
export function changeClass(
  before: AnyResource | undefined,
  after: AnyResource | undefined,
): ChangeClass {
  if (before?.version === after?.version) return 'none';
  const kind = (before ?? after)?.kind;
  if (kind === 'WorkloadEntry' || kind === 'EndpointSlice' || kind === 'Pod') return 'endpoints';
  if (before?.kind !== 'ServiceEntry' || after?.kind !== 'ServiceEntry') return 'config';
  return withoutEndpoints(before) === withoutEndpoints(after) ? 'endpoints' : 'config';
}

/** All that a ServiceEntry says but of static endpoints; those of DNS are in its clusters. */
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
