import { filter, type Observable } from 'rxjs';
import { findAccess, isAccessNamed } from '../../shared/kube/find-access.ts';
import { kubeApi } from '../../shared/kube/kube-api.ts';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';
import type { StoreEvent } from '../environment/store-event.ts';
import type { ConfigServer } from '../istio/mesh/config-server.ts';
import { readMeshConfig } from '../istio/mesh/read-mesh-config.ts';
import { readMeshNetworks } from '../istio/mesh/read-mesh-networks.ts';
import { readResourcesInSteps } from '../istio/documents/read-resources.ts';
import type { WriteBody } from '../istio/documents/model.ts';
import { consulSource } from '../registry/consul/consul-source.ts';
import { filesSource } from '../registry/files/files-source.ts';
import { settingSource } from '../registry/files/setting-source.ts';
import { mcpSource } from '../registry/mcp/mcp-source.ts';
import { kubernetesName, kubernetesSource } from '../registry/kubernetes/kubernetes-source.ts';
import { meshMapSource } from '../registry/kubernetes/mesh-map-source.ts';
import type { DiscoveryConfig, ServiceRegistry } from './discovery-config.ts';
import type { NamedMesh, NamedNetworks } from './named-settings.ts';

/** A source of the store. Its events have its name. */
export interface ContentSource {
  readonly name: string;
  readonly event$: Observable<StoreEvent>;
}

/** The settings of the sources. */
export interface ContentSettings {
  readonly config: DiscoveryConfig;
  readonly mesh: NamedMesh;
  readonly networks: NamedNetworks;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Undefined if no other control plane may read the resources. */
  readonly writeBody: WriteBody | undefined;
}

interface RegistrySource {
  /** Returns why the registry cannot be read at all, for a person; undefined if it can. */
  readonly lack: (settings: ContentSettings) => string | undefined;
  readonly sources: (settings: ContentSettings) => readonly ContentSource[];
}

/** By name in `--registries`. The names of the sources begin with it. */
const registrySources: Readonly<Record<ServiceRegistry, RegistrySource>> = {
  Kubernetes: {
    lack: ({ config, env }) =>
      isAccessNamed(config.kubeconfig, env)
        ? undefined
        : 'name a kubeconfig (--kubeconfig, KUBECONFIG), or run in a pod',
    sources: (settings) => [
      {
        name: kubernetesName,
        event$: kubernetesSource(kubernetesApi(settings), written(settings)),
      },
    ],
  },
  Consul: {
    lack: () => undefined,
    sources: ({ config: { consul, namespace } }) =>
      (consul.datacenters.length === 0 ? [''] : consul.datacenters).map((datacenter) => {
        const name = datacenter === '' ? 'Consul' : `Consul/${datacenter}`;
        return { name, event$: consulSource({ server: consul, datacenter, namespace, name }) };
      }),
  },
};

/** Returns the API of `--kubeconfig`, or that of the pod. */
export const kubernetesApi = ({ config, env }: ContentSettings) =>
  kubeApi(findAccess(config.kubeconfig, undefined, env), 'pilot-discovery');

/** The places that are read, each in order of precedence. */
export interface ContentPlaces {
  readonly folders: readonly string[];
  readonly servers: readonly ConfigServer[];
  readonly registries: readonly ServiceRegistry[];
}

/**
 * Returns the places to read. If no setting names a place, Kubernetes is read.
 *
 * @throws Fatal if there is nothing to read
 */
export function contentPlaces(settings: ContentSettings): ContentPlaces {
  const { config, mesh } = settings;
  const folders = [...(config.configDir === '' ? [] : [config.configDir]), ...mesh.folders];
  const { servers } = mesh;
  const namedCount = folders.length + servers.length;
  const registries = config.registries ?? (namedCount > 0 ? [] : (['Kubernetes'] as const));
  const lacks = registries.flatMap((name) => {
    const lack = registrySources[name].lack(settings);
    return lack === undefined ? [] : [`--registries ${name}: ${lack}`];
  });
  const isUnnamed = namedCount === 0 && config.registries === undefined;
  if (namedCount + registries.length === 0 || (isUnnamed && lacks.length > 0))
    throw new Fatal(
      '--configDir is missing: name the folder of YAML files with the resources, or read them from Kubernetes (--kubeconfig)',
      exitCodes.usage,
    );
  if (lacks.length > 0) throw new Fatal(lacks.join('; '), exitCodes.usage);
  return { folders, servers, registries };
}

/**
 * Returns the sources, in order of precedence: the MeshConfig, folders, other control planes,
 * registries. If two sources have one resource, the first source counts. The MeshConfig of the API
 * is used if there is no file.
 */
export function contentSources(
  settings: ContentSettings,
  { folders, servers, registries }: ContentPlaces,
): readonly ContentSource[] {
  const { config, mesh } = settings;
  const isMapUsed = mesh.origin === 'none' && registries.includes('Kubernetes');
  return [
    ...(isMapUsed ? mapSources(settings) : [meshFile(settings), networksFile(settings)]),
    ...folders.map((path, index) => {
      const name = index === 0 ? 'files' : path;
      const read = readResourcesInSteps;
      return {
        name,
        event$: filesSource(path, {
          ...{ name, read, defaultNamespace: config.namespace },
          ...written(settings),
        }),
      };
    }),
    ...servers.map((server) => serverSource(settings, server)),
    ...registries.flatMap((name) => registrySources[name].sources(settings)),
  ];
}

const written = ({ writeBody }: ContentSettings) => (writeBody === undefined ? {} : { writeBody });

/** Returns the source of a server. It always needs the root namespace, whose rules are for all. */
function serverSource(
  { config, mesh, writeBody }: ContentSettings,
  server: ConfigServer,
): ContentSource {
  const name = `xds://${server.address}`;
  const { namespaces } = server;
  const needed = namespaces.length === 0 ? [] : [...namespaces, mesh.mesh.rootNamespace];
  const bodies = writeBody === undefined ? 'dropped' : 'kept';
  const self = { name: config.podName, namespace: config.podNamespace };
  return {
    name,
    event$: mcpSource({ server: { ...server, namespaces: needed }, name, self, bodies }),
  };
}

/**
 * Returns the source of the ConfigMap, which has the MeshConfig and the MeshNetworks; a file of
 * MeshNetworks replaces the latter.
 */
function mapSources(settings: ContentSettings): readonly ContentSource[] {
  const event$ = meshMapSource(kubernetesApi(settings), settings.config.podNamespace);
  return settings.networks.origin === 'none'
    ? [{ name: 'mesh', event$ }]
    : [
        { name: 'mesh', event$: event$.pipe(filter(({ type }) => type !== 'networks')) },
        networksFile(settings),
      ];
}

const meshFile = ({ config, mesh }: ContentSettings): ContentSource => ({
  name: 'mesh',
  event$: settingSource({
    source: 'mesh',
    path: config.meshConfig,
    first: { mesh: mesh.mesh },
    read: readMeshConfig,
    eventOf: (content) => ({ type: 'mesh', mesh: content.mesh }),
  }),
});

const networksFile = ({ config, networks }: ContentSettings): ContentSource => ({
  name: 'networks',
  event$: settingSource({
    source: 'networks',
    path: config.networksConfig,
    first: { networks: networks.networks },
    read: readMeshNetworks,
    eventOf: (content) => ({ type: 'networks', source: 'networks', networks: content.networks }),
  }),
});
