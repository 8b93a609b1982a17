import type { JsonValue } from '@bufbuild/protobuf';
import { jsonOf } from '../../shared/text/json-of.ts';
import { readNode } from '../generate/scope/read-node.ts';
import type { MeshNetworks } from '../istio/mesh/mesh-networks.ts';
import { type XdsType, xdsTypes } from '../push/view.ts';
import type { ComparedProxy } from './described-proxies.ts';
import type { DumpedResource, ViewBefore } from './view-before.ts';
import { isObject } from '../../shared/text/is-object.ts';

/** A proxy that is connected to a control plane, with the versions of its views there. */
export interface RunningProxy {
  readonly proxy: ComparedProxy;
  readonly versions: Readonly<Record<XdsType, string>>;
}

/** Reads the answer to `/debug/proxyz`; undefined if the text is not such an answer. Pure. */
export function readProxies(body: string): readonly RunningProxy[] | undefined {
  const list = jsonValueOf(body);
  if (!Array.isArray(list)) return undefined;
  const proxies = list.map(readProxy);
  return proxies.every((proxy) => proxy !== undefined) ? proxies : undefined;
}

function readProxy(value: JsonValue): RunningProxy | undefined {
  if (!isObject(value)) return undefined;
  const [metadata, versions] = [memberOf(value, 'metadata'), memberOf(value, 'versions')];
  if (!isObject(metadata) || !isObject(versions)) return undefined;
  const node = readNode({ id: textOf(value, 'id'), metadata }, textOf(value, 'locality'));
  if (typeof node === 'string') return undefined;
  const [cluster, endpoint, listener, route] = xdsTypes.map((type) => textOf(versions, type));
  return {
    proxy: { node, presence: 'connected' },
    versions: {
      cluster: cluster ?? '',
      endpoint: endpoint ?? '',
      listener: listener ?? '',
      route: route ?? '',
    },
  };
}

/** Reads the answer to `/debug/keyz`; undefined if the text is not such an answer. Pure. */
export function readKeys(body: string): ReadonlyMap<string, string> | undefined {
  const keys = jsonValueOf(body);
  if (!isObject(keys)) return undefined;
  const entries = Object.entries(keys);
  const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return texts.length === entries.length ? new Map(texts) : undefined;
}

/** Reads the answer to `/debug/networkz`; undefined if the text is not such an answer. Pure. */
export function readNetworks(body: string): MeshNetworks | undefined {
  const value = jsonValueOf(body);
  const gateways = memberOf(value, 'gateways');
  const ranges = memberOf(value, 'ranges');
  const services = memberOf(value, 'services');
  if (!Array.isArray(gateways) || !Array.isArray(ranges) || !Array.isArray(services))
    return undefined;
  const portOf = (entry: JsonValue) => ({
    network: textOf(entry, 'network'),
    port: Number(memberOf(entry, 'port')),
  });
  return {
    gateways: gateways.map((entry) => ({
      ...portOf(entry),
      address: textOf(entry, 'address'),
      declaredBy: 'MeshNetworks',
    })),
    services: services.map((entry) => ({ ...portOf(entry), host: textOf(entry, 'host') })),
    ranges: ranges.map((entry) => {
      const selects = memberOf(entry, 'selects');
      const network = textOf(entry, 'network');
      return {
        network,
        selects: selects === 'cluster' ? selects : { range: textOf(selects, 'range') },
      };
    }),
  };
}

/** The fields of `/debug/config_dump` with the resources of a type. */
const lists: Readonly<Record<XdsType, readonly [list: string, resource: string, name: string]>> = {
  cluster: ['dynamic_active_clusters', 'cluster', 'name'],
  endpoint: ['dynamic_endpoint_configs', 'endpoint_config', 'cluster_name'],
  listener: ['dynamic_listeners', 'listener', 'name'],
  route: ['dynamic_route_configs', 'route_config', 'name'],
};

/** Reads the answer to `/debug/config_dump`; undefined if the text is not such an answer. Pure. */
export function readDump(body: string): Readonly<Record<XdsType, ViewBefore>> | undefined {
  const dump = jsonValueOf(body);
  const configs = isObject(dump) ? memberOf(dump, 'configs') : undefined;
  if (!Array.isArray(configs)) return undefined;
  const viewOf = (type: XdsType): ViewBefore => {
    const [list, resource, nameField] = lists[type];
    const entries = configs.flatMap((config) => {
      const resources = isObject(config) ? memberOf(config, list) : undefined;
      return Array.isArray(resources) ? resources : [];
    });
    const resources = new Map<string, DumpedResource>();
    for (const entry of entries) {
      const state = memberOf(entry, 'active_state') ?? entry;
      const json = memberOf(state, resource);
      if (!isObject(json)) continue;
      const name = textOf(json, nameField);
      resources.set(name, { version: textOf(state, 'version_info'), json });
    }
    return { resources };
  };
  return {
    cluster: viewOf('cluster'),
    endpoint: viewOf('endpoint'),
    listener: viewOf('listener'),
    route: viewOf('route'),
  };
}

const jsonValueOf = (body: string) => jsonOf(body) as JsonValue | undefined;

const memberOf = (value: JsonValue | undefined, name: string): JsonValue | undefined =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

function textOf(value: JsonValue | undefined, name: string): string {
  const text = memberOf(value, name);
  return typeof text === 'string' ? text : '';
}
