import { createHash } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { AnySchema, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { filter, map, type Observable, scan } from 'rxjs';
import { changedKeys, SortedMap } from '../../shared/maps/sorted-map.ts';
import { ResourceSchema } from '../../shared/proto/istio/mcp/v1alpha1/resource_pb.ts';
import type { Resources } from '../environment/resources.ts';
import type { Snapshot } from '../environment/snapshots.ts';
import {
  encodeResource,
  noResources,
  type SortedView,
  withResources,
} from '../generate/encoding/encode-resource.ts';
import { type AnyResource, keyOf } from '../istio/documents/model.ts';
import type { ConfigView } from '../push/config-view.ts';
import type { TypedView, XdsResource } from '../push/view.ts';
import { configKinds, configTypeUrl } from './config-types.ts';

/** The part of a snapshot that other control planes read. */
type ConfigSnapshot = Pick<Snapshot, 'number'> & {
  readonly environment: Pick<Snapshot['environment'], 'resources'>;
};

/** The resources of the last snapshot, and the view of them. */
interface Known {
  readonly resources: Resources;
  readonly view: SortedConfigView;
}

interface SortedConfigView extends ConfigView {
  readonly types: ReadonlyMap<string, SortedView>;
}

const nothing: Known = {
  resources: new Map(),
  view: {
    snapshot: 0,
    types: new Map(configKinds.map((kind) => [configTypeUrl(kind), noResources])),
  },
};

/**
 * Emits the resources of Istio in each snapshot, for other control planes. The cost of a snapshot
 * is that of the differences. Cold; completes and errors with its source.
 */
export function configViews(snapshot$: Observable<ConfigSnapshot>): Observable<ConfigView> {
  return snapshot$.pipe(
    scan(after, nothing),
    map(({ view }) => view),
  );
}

function after({ resources: before, view }: Known, snapshot: ConfigSnapshot): Known {
  const { resources } = snapshot.environment;
  const types = configKinds.map((kind) => {
    const typeUrl = configTypeUrl(kind);
    const [earlier = empty, later = empty] = [before.get(kind), resources.get(kind)];
    const edits = changedKeys(earlier, later).flatMap((namespace) => {
      const [ofEarlier = none, ofLater = none] = [earlier.get(namespace), later.get(namespace)];
      return changedKeys(ofEarlier, ofLater).map((name) => {
        const resource = ofLater.get(name);
        return [`${namespace}/${name}`, resource && sent(resource)] as const;
      });
    });
    return [typeUrl, withResources(view.types.get(typeUrl) ?? noResources, edits)] as const;
  });
  return { resources, view: { snapshot: snapshot.number, types: new Map(types) } };
}

const empty = SortedMap.empty<SortedMap<AnyResource>>();
const none = SortedMap.empty<AnyResource>();

/** Returns a hash of the content: istiod reads a resource again only if its version differs. */
const versionOf = ({ labels, annotations, body }: AnyResource): string =>
  createHash('sha256')
    .update(JSON.stringify([labels, annotations]))
    .update(body?.value ?? '')
    .digest('hex')
    .slice(0, 32);

/** Returns a resource as an istio.mcp.v1alpha1.Resource, as istiod sends it. */
function sent(resource: AnyResource): XdsResource {
  const { namespace, name: ownName, labels, annotations, createdMs, body } = resource;
  const name = `${namespace}/${ownName}`;
  const message = {
    metadata: {
      ...{ name, version: versionOf(resource), labels, annotations },
      ...(createdMs > 0 && { createTime: timestampFromMs(createdMs) }),
    },
    ...(body && { body: create(AnySchema, { typeUrl: body.typeUrl, value: body.value }) }),
  };
  return {
    ...encodeResource(ResourceSchema, name, message, [keyOf(resource)]),
    bodyType: 'type.googleapis.com/istio.mcp.v1alpha1.Resource',
  };
}

/**
 * Emits the parts of views that are in some namespaces; the views themselves if no namespace is
 * given. Cold; completes and errors with its source.
 */
export function inNamespaces(
  view$: Observable<ConfigView>,
  namespaces: ReadonlySet<string>,
): Observable<ConfigView> {
  if (namespaces.size === 0) return view$;
  return view$.pipe(
    scan((before: Part | undefined, whole): Part | undefined => {
      const types = [...whole.types].map(([typeUrl, typed]) => {
        const isSame = before?.whole.types.get(typeUrl) === typed;
        const earlier = isSame ? before.part.types.get(typeUrl) : undefined;
        return [typeUrl, earlier ?? partOf(typed, namespaces)] as const;
      });
      return { whole, part: { snapshot: whole.snapshot, types: new Map(types) } };
    }, undefined),
    filter((step) => step !== undefined),
    map(({ part }) => part),
  );
}

interface Part {
  readonly whole: ConfigView;
  readonly part: ConfigView;
}

const partOf = ({ version, resources }: TypedView, namespaces: ReadonlySet<string>): TypedView => ({
  version,
  resources: new Map(
    [...resources].filter(([name]) => namespaces.has(name.slice(0, name.indexOf('/')))),
  ),
});
