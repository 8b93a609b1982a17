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

/** Returns YAML in canonical form: two texts with the same content become the same text. */
export const canonical = (yaml: string): string => spelled(parse(yaml));

const spelled = (value: unknown): string => stringify(value, { sortMapEntries: true });

/** Returns a message, or a shorter form without the parts that another test shows in full. */
type Shorten = (message: unknown) => unknown;
const inFull: Shorten = (message) => message;

/**
 * Returns a message of Envoy as canonical YAML, with the field names of Envoy; `none` if there is
 * no message.
 */
export function messageYaml<D extends DescMessage>(
  schema: D,
  init: MessageInitShape<D> | undefined,
  shorten = inFull,
): string {
  return spelled(init === undefined ? 'none' : shorten(messageJson(schema, create(schema, init))));
}

/** Returns the messages of all resources as canonical YAML, by name. */
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

/** Returns a function that replaces the members with a name, at any depth. */
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

/**
 * Replaces each source of secrets by a word: the server of the secrets, and how long Envoy waits
 * for it.
 */
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

/** Returns the cluster of a TCP proxy, or its clusters with their weights. */
function clustersIn({ cluster, weighted_clusters: weighted }: Fields): string {
  if (weighted === undefined) return String(cluster);
  const { clusters } = weighted as { readonly clusters: readonly Fields[] };
  return clusters.map(({ name, weight }) => `${String(name)} ${String(weight)}`).join(', ');
}

/**
 * Returns where a network filter leads: `HTTP, routes 80`, `HTTP to ROUTES`, `TCP to CLUSTER`; the
 * name of the filter if it is another one.
 */
function wayOf({ name, typed_config: config }: Extension): string {
  const kind = name.split('.').pop();
  if (kind === 'tcp_proxy') return `TCP to ${clustersIn(config)}`;
  if (kind !== 'http_connection_manager') return String(kind);
  const { rds, route_config: routeConfig } = config as Readonly<Record<string, Fields | undefined>>;
  return rds === undefined
    ? `HTTP to ${String(routeConfig?.['name'])}`
    : `HTTP, routes ${String(rds['route_config_name'])}`;
}

/** Replaces each filter and each socket of a listener by a word: they have tests of their own. */
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

/** Returns a resource of the namespace `default` as YAML, from the YAML of its spec. */
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

/** Returns the spec of a resource, from its YAML. Throws if it has flaws. */
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

/**
 * Returns a member of `http` of a VirtualService, from its YAML. It leads to a.mesh if the YAML has
 * no destination.
 */
export function httpRouteIn(yaml: string): HttpRoute {
  const fields = parse(yaml) as Readonly<Record<string, unknown>> | null;
  const leads = ['route', 'redirect', 'directResponse'].some((name) => name in (fields ?? {}));
  const route = [{ destination: { host: 'a.mesh' } }];
  const spec = { hosts: ['a.mesh'], http: [{ ...(leads ? {} : { route }), ...fields }] };
  const [http] = specIn('VirtualService', stringify(spec)).http;
  if (http === undefined) throw new Error('it has no route');
  return http;
}

/** The reporting of a proxy that reports nothing about its calls. */
export const noReporting: Reporting = {
  accessLog: [],
  listenerLog: [],
  tracing: { spans: undefined, sampledBy: 'request-id' },
  resourceKeys: [],
};

/** Returns the reporting of a proxy, from the YAML of a MeshConfig and of resources. */
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

/** Returns a proxy from the YAML of its `metadata`; it is at 10.0.0.1 unless `id` is there. */
export function proxyIn(
  metadata: string,
  { id = 'sidecar~10.0.0.1~app.default~default.svc.cluster.local', locality = '' } = {},
): ProxyNode {
  const fields = parse(metadata) as RequestNode['metadata'] | null;
  const node = readNode({ id, metadata: { LABELS: { app: 'app' }, ...fields } }, locality);
  if (typeof node === 'string') throw new Error(node);
  return node;
}
