import { create, fromBinary } from '@bufbuild/protobuf';
import type { Any } from '@bufbuild/protobuf/wkt';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { type Resource, ResourceSchema } from '../proto/envoy/service/discovery/v3/discovery_pb.ts';
import { ownMember } from '../text/own-member.ts';

const prefix = 'type.googleapis.com/envoy';

/** The types of Envoy's dynamic configuration, by their names in the log and in documents. */
export const typeUrls = {
  clusters: `${prefix}.config.cluster.v3.Cluster`,
  endpoints: `${prefix}.config.endpoint.v3.ClusterLoadAssignment`,
  listeners: `${prefix}.config.listener.v3.Listener`,
  routes: `${prefix}.config.route.v3.RouteConfiguration`,
  'scoped routes': `${prefix}.config.route.v3.ScopedRouteConfiguration`,
  extensions: `${prefix}.config.core.v3.TypedExtensionConfig`,
} as const;

const shortNames: Readonly<Record<string, string>> = {
  [typeUrls.clusters]: 'cds',
  [typeUrls.endpoints]: 'eds',
  [typeUrls.listeners]: 'lds',
  [typeUrls.routes]: 'rds',
  [typeUrls['scoped routes']]: 'srds',
  [typeUrls.extensions]: 'ecds',
};

/** Returns the name of a type in metrics, as in the Go agent; `other` if the type is not known. */
export function shortName(typeUrl: string): string {
  return ownMember(shortNames, typeUrl) ?? 'other';
}

/**
 * The types that an Envoy requests first. A state-of-the-world answer has all resources of such a
 * type.
 */
export const mainTypes: readonly string[] = [typeUrls.clusters, typeUrls.listeners];

/** Returns the name of a type for people. */
export function typeName(typeUrl: string): string {
  return Object.entries(typeUrls).find(([, url]) => url === typeUrl)?.[0] ?? typeUrl;
}

/** Stands for all resources of a type in a set of subscribed names. */
export const wildcard = '*';

/** The known resources of one type, by name. */
export interface TypeResources {
  /** The version of the answer that last changed them. */
  readonly version: string;
  readonly resources: ReadonlyMap<string, Resource>;
  /** Names for which the control plane has said that there is no such resource. */
  readonly absent: ReadonlySet<string>;
}

export const noResources: TypeResources = { version: '', resources: new Map(), absent: new Set() };

/** An answer of the control plane, of either variant of the protocol. */
export interface Update {
  readonly typeUrl: string;
  readonly version: string;
  readonly nonce: string;
  readonly resources: readonly Resource[];
  readonly removed: readonly string[];
  /** Whether it has all resources of its type: a resource that it lacks was removed. */
  readonly isWhole: boolean;
  /** The identifier of the control plane; empty if it has none. */
  readonly controlPlane: string;
}

/**
 * Returns the resources after an update. A resource that has not changed stays the same object.
 * Pure.
 */
export function updated(
  before: TypeResources,
  { version, resources, removed, isWhole }: Update,
): TypeResources {
  const next = new Map(isWhole ? [] : before.resources);
  const absent = new Set(isWhole ? [] : before.absent);
  for (const resource of resources) {
    const previous = before.resources.get(resource.name);
    next.set(
      resource.name,
      previous !== undefined && isSame(previous, resource) ? previous : resource,
    );
    absent.delete(resource.name);
  }
  for (const name of removed) {
    next.delete(name);
    absent.add(name);
  }
  return { version, resources: next, absent };
}

function isSame(previous: Resource, next: Resource): boolean {
  const [a, b] = [previous.resource?.value, next.resource?.value];
  return (
    previous.version === next.version &&
    a !== undefined &&
    b !== undefined &&
    Buffer.compare(a, b) === 0
  );
}

/**
 * Returns only the resources with these names, or all if all are subscribed; and only these names
 * as absent. Pure.
 */
export function pruned(before: TypeResources, names: ReadonlySet<string>): TypeResources {
  const resources = names.has(wildcard)
    ? before.resources
    : new Map([...before.resources].filter(([name]) => names.has(name)));
  if (resources.size === before.resources.size && before.absent.size === 0) return before;
  const absent = new Set([...before.absent].filter((name) => names.has(name)));
  return { ...before, resources, absent };
}

/**
 * Returns a resource of a state-of-the-world answer with its name. Nothing else in it is read.
 * Throws if it cannot be read. Pure.
 */
export function namedResource(resource: Any): Resource {
  // A resource with a time to live comes in the envelope of the incremental variant.
  if (resource.typeUrl.endsWith('.discovery.v3.Resource'))
    return fromBinary(ResourceSchema, resource.value);
  return create(ResourceSchema, { name: nameIn(resource.value), resource });
}

/** Reads the name: it is field 1 in all discovered types. */
function nameIn(bytes: Uint8Array): string {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === 1 && wireType === WireType.LengthDelimited) return reader.string();
    reader.skip(wireType, field);
  }
  return '';
}
