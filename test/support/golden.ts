import { create, type DescMessage, fromBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { parse, stringify } from 'yaml';
import { messageJson } from '../../src/pilot-discovery/generate/config-dump.ts';
import {
  type Reporting,
  reportingOf,
} from '../../src/pilot-discovery/generate/listeners/reporting.ts';
import type { ProxyNode } from '../../src/pilot-discovery/generate/scope/proxy-node.ts';
import { type RequestNode, readNode } from '../../src/pilot-discovery/generate/scope/read-node.ts';
import type { MeshConfig } from '../../src/pilot-discovery/istio/mesh/mesh-config.ts';
import type { Kind, Specs } from '../../src/pilot-discovery/istio/documents/model.ts';
import { readMeshConfig } from '../../src/pilot-discovery/istio/mesh/read-mesh-config.ts';
import { readResources } from '../../src/pilot-discovery/istio/documents/read-resources.ts';
import type { CallSide } from '../../src/pilot-discovery/istio/telemetry/telemetry.ts';
import type { HttpRoute } from '../../src/pilot-discovery/istio/traffic/virtual-service.ts';
import type { XdsResource } from '../../src/pilot-discovery/push/view.ts';
import { environmentOf } from './generated.ts';

/** YAML in one spelling: two texts that say the same become the same text. */
export const canonical = (yaml: string): string => spelled(parse(yaml));

const spelled = (value: unknown): string => stringify(value, { sortMapEntries: true });

/** A message as it is, or with parts that another test shows in full cut short. */
type Shorten = (message: unknown) => unknown;
const inFull: Shorten = (message) => message;

/** A message of Envoy as canonical YAML, with the field names of Envoy; `none` if there is none. */
export function messageYaml<D extends DescMessage>(
  schema: D,
  init: MessageInitShape<D> | undefined,
  shorten = inFull,
): string {
  return spelled(init === undefined ? 'none' : shorten(messageJson(schema, create(schema, init))));
}

/** The messages of all resources as canonical YAML, by name. */
export const resourcesYaml = (
  schema: DescMessage,
  resources: readonly XdsResource[],
  shorten = inFull,
): string =>
  spelled(
    Object.fromEntries(
      resources.map(({ name, body }) => [
        name,
        shorten(messageJson(schema, fromBinary(schema, body))),
      ]),
    ),
  );

/** Puts something else in place of the members with a name, at any depth. */
export const replacing =
  (name: string, instead: (value: unknown) => unknown): Shorten =>
  (message) => {
    if (Array.isArray(message)) return message.map(replacing(name, instead));
    if (typeof message !== 'object' || message === null) return message;
    return Object.fromEntries(
      Object.entries(message).map(([key, value]: [string, unknown]) => [
        key,
        key === name ? instead(value) : replacing(name, instead)(value),
      ]),
    );
  };

/** Each source of secrets as a word: who is asked, and how long Envoy waits for it. */
export const shortSources = replacing('sds_config', (source) => {
  const { ads, initial_fetch_timeout: wait } = source as Readonly<Record<string, unknown>>;
  return [ads === undefined ? 'agent' : 'ads', ...(typeof wait === 'string' ? [wait] : [])].join();
});

type Fields = Readonly<Record<string, unknown>>;
interface Extension {
  readonly name: string;
  readonly typed_config: Fields;
  readonly filter_disabled?: unknown;
}

/** The cluster of a proxy of TCP, or its clusters with their weights. */
function clustersIn({ cluster, weighted_clusters: weighted }: Fields): string {
  if (weighted === undefined) return String(cluster);
  const { clusters } = weighted as { readonly clusters: readonly Fields[] };
  return clusters.map(({ name, weight }) => `${String(name)} ${String(weight)}`).join(', ');
}

/** Where a filter of a connection leads: `HTTP, routes 80`, `HTTP to CLUSTER`, `TCP to CLUSTER`. */
function wayOf({ name, typed_config: config }: Extension): string {
  const kind = name.split('.').pop();
  if (kind === 'tcp_proxy') return `TCP to ${clustersIn(config)}`;
  if (kind !== 'http_connection_manager') return String(kind);
  const { rds, route_config: routeConfig } = config as Readonly<Record<string, Fields | undefined>>;
  return rds === undefined
    ? `HTTP to ${String(routeConfig?.['name'])}`
    : `HTTP, routes ${String(rds['route_config_name'])}`;
}

/** A listener with a word for each filter and each socket, which have tests of their own. */
export const shortFilters: Shorten = (message) =>
  [
    replacing('filters', (filters) => (filters as readonly Extension[]).map(wayOf)),
    replacing('transport_socket', (socket) =>
      JSON.stringify(socket).includes('"name":"default"') ? 'TLS of the mesh' : 'TLS of its own',
    ),
    replacing('listener_filters', (filters) =>
      (filters as readonly Extension[]).map(({ name, filter_disabled: disabled }) => {
        const kind = name.split('.').pop() ?? '';
        return disabled === undefined ? kind : { [kind]: { but_for: disabled } };
      }),
    ),
  ].reduce((shorter, shorten) => shorten(shorter), message);

const security: readonly Kind[] = [
  'PeerAuthentication',
  'AuthorizationPolicy',
  'RequestAuthentication',
];

/** A resource of the namespace `default` as YAML, from the YAML of its spec. */
export function resourceText(
  kind: Kind,
  name: string,
  spec: string,
  metadata: Readonly<Record<string, unknown>> = {},
): string {
  const group = security.includes(kind)
    ? 'security'
    : kind === 'Telemetry'
      ? 'telemetry'
      : 'networking';
  return stringify({
    apiVersion: `${group}.istio.io/v1`,
    kind,
    metadata: { name, namespace: 'default', ...metadata },
    spec: parse(spec) as unknown,
  });
}

/** What a resource says, from the YAML of its spec. */
export function specIn<K extends Kind>(kind: K, spec: string): Specs[K] {
  const { resources, flaws } = readResources(resourceText(kind, 'a', spec), {
    source: 'test',
    path: 'test.yaml',
    defaultNamespace: 'default',
  });
  const [resource] = resources;
  if (resource === undefined || flaws.length > 0)
    throw new Error(flaws.map(({ field, reason }) => `${field}: ${reason}`).join('\n'));
  return resource.spec as Specs[K];
}

/** A member of `http` of a VirtualService, from its YAML; it leads to a.mesh if none is said. */
export function httpRouteIn(yaml: string): HttpRoute {
  const fields = parse(yaml) as Readonly<Record<string, unknown>> | null;
  const leads = ['route', 'redirect', 'directResponse'].some((name) => name in (fields ?? {}));
  const route = [{ destination: { host: 'a.mesh' } }];
  const spec = { hosts: ['a.mesh'], http: [{ ...(leads ? {} : { route }), ...fields }] };
  const [http] = specIn('VirtualService', stringify(spec)).http;
  if (http === undefined) throw new Error('it has no route');
  return http;
}

/** Of a proxy that says nothing of its calls. */
export const noReporting: Reporting = {
  accessLog: [],
  listenerLog: [],
  tracing: { spans: undefined, sampledBy: 'request-id' },
  resourceKeys: [],
};

/** What a proxy says of its calls, from the YAML of a MeshConfig and of resources. */
export function reportingIn(
  mesh: string,
  resources = '',
  {
    side = 'client',
    node = proxyIn(''),
  }: { readonly side?: CallSide; readonly node?: ProxyNode } = {},
): Reporting {
  return reportingOf(environmentOf(resources, { mesh: meshIn(mesh) }), node, side);
}

export function meshIn(yaml: string): MeshConfig {
  const { mesh, flaws } = readMeshConfig(yaml, 'mesh.yaml');
  if (flaws.length > 0) throw new Error(flaws.map(({ reason }) => reason).join('\n'));
  return mesh;
}

/** A proxy, from the YAML of its `metadata`; it is at 10.0.0.1 if its id says nothing else. */
export function proxyIn(
  metadata: string,
  { id = 'sidecar~10.0.0.1~app.default~default.svc.cluster.local', locality = '' } = {},
): ProxyNode {
  const fields = parse(metadata) as RequestNode['metadata'] | null;
  const node = readNode({ id, metadata: { LABELS: { app: 'app' }, ...fields } }, locality);
  if (typeof node === 'string') throw new Error(node);
  return node;
}
