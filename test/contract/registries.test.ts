import { mkdtempSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'vitest';
import { readResourcesInSteps } from '../../src/pilot-discovery/istio/documents/read-resources.ts';
import { consulSource } from '../../src/pilot-discovery/registry/consul/consul-source.ts';
import { filesSource } from '../../src/pilot-discovery/registry/files/files-source.ts';
import { mcpAt } from '../support/mcp-at.ts';
import { kubernetesSource } from '../../src/pilot-discovery/registry/kubernetes/kubernetes-source.ts';
import { configParent } from '../support/config-parent.ts';
import { startFakeConfigServer } from '../support/fake-config-server.ts';
import { startFakeConsul } from '../support/fake-consul.ts';
import { fakeKube, type KubeDocument } from '../support/fake-kube.ts';
import { freePorts } from '../support/free-ports.ts';
import {
  anyTextContract,
  contractNamespace,
  registryContract,
  type RegistryStage,
} from './registry-contract.ts';
import {
  type ConsulInstanceObject,
  consulObjects,
  istioObjects,
  kubernetesObjects,
  registrationOf,
  serviceEntries,
} from './registry-objects.ts';

const keyOf = ({ kind, metadata: { namespace = '', name } }: KubeDocument) =>
  `${kind}-${namespace}-${name}`;

/** Makes the changes of a registry at once, and returns the objects that it has after them. */
function atOnce<T>(
  key: (object: T) => string,
  apply: { readonly put: (object: T) => void; readonly remove: (object: T) => void },
) {
  const objects = new Map<string, T>();
  return {
    objects: () => [...objects.values()],
    put: (object: T) => {
      objects.set(key(object), object);
      apply.put(object);
      return Promise.resolve();
    },
    remove: (object: T) => {
      objects.delete(key(object));
      apply.remove(object);
      return Promise.resolve();
    },
  };
}

/** Makes a step of a stage that is done when it returns. */
const done = (step: () => void) => (): Promise<void> => {
  step();
  return Promise.resolve();
};

function files(): RegistryStage<KubeDocument> & { readonly folder: string } {
  const root = mkdtempSync(join(tmpdir(), 'pilot-discovery-contract-'));
  const folder = join(root, 'config');
  mkdirSync(folder);
  const place = (object: KubeDocument) => join(folder, `${keyOf(object)}.json`);
  const { objects, ...changes } = atOnce(keyOf, {
    put: (object) => writeFileSync(place(object), JSON.stringify(object)),
    remove: (object) => rmSync(place(object)),
  });
  return {
    ...changes,
    folder,
    source: 'files',
    event$: filesSource(folder, { read: readResourcesInSteps }),
    written: objects,
    outage: {
      begin: done(() => renameSync(folder, join(root, 'away'))),
      end: done(() => renameSync(join(root, 'away'), folder)),
    },
    dispose: done(() => rmSync(root, { recursive: true })),
  };
}

function kubernetes(): RegistryStage<KubeDocument> {
  const kube = fakeKube();
  const { objects, ...changes } = atOnce(keyOf, kube);
  return {
    ...changes,
    source: 'Kubernetes',
    event$: kubernetesSource(kube.api),
    written: objects,
    outage: { begin: done(kube.stop), end: done(kube.start) },
    dispose: done(() => undefined),
  };
}

async function consul(): Promise<RegistryStage<ConsulInstanceObject>> {
  const server = await startFakeConsul();
  const { objects, ...changes } = atOnce<ConsulInstanceObject>(({ id }) => id, {
    put: (object) => server.register(registrationOf(object)),
    remove: ({ id }) => server.deregister(id),
  });
  return {
    ...changes,
    source: 'Consul',
    event$: consulSource({
      server: { address: server.address },
      datacenter: '',
      namespace: contractNamespace,
      name: 'Consul',
    }),
    written: () => serviceEntries(objects(), 'dc1'),
    outage: { begin: () => server.stop(), end: () => server.start() },
    dispose: () => server.stop(),
  };
}

async function controlPlane(): Promise<RegistryStage<KubeDocument>> {
  const server = await startFakeConfigServer();
  const { objects, ...changes } = atOnce(keyOf, server);
  const { address } = server;
  return {
    ...changes,
    source: 'xds',
    event$: mcpAt(address),
    written: objects,
    outage: { begin: () => server.stop(), end: () => server.start() },
    dispose: () => server.stop(),
  };
}

async function another(): Promise<RegistryStage<KubeDocument>> {
  const folderStage = files();
  const [port = 0] = await freePorts(1);
  const parent = configParent(folderStage.folder, port);
  await parent.start();
  return {
    ...folderStage,
    source: 'xds',
    event$: mcpAt(`127.0.0.1:${port}`),
    outage: { begin: () => parent.stop(), end: () => parent.start() },
    async dispose() {
      await parent.stop();
      await folderStage.dispose();
    },
  };
}

describe.each([
  ['files', files],
  ['Kubernetes', kubernetes],
])('a registry: %s', (_, stage) => {
  for (const { name, check } of registryContract(stage, kubernetesObjects)) it(name, check);
  for (const { name, check } of anyTextContract(stage)) it(name, check);
});

describe('a registry: Consul', () => {
  for (const { name, check } of registryContract(consul, consulObjects)) it(name, check);
});

describe.each([
  ['another control plane', controlPlane],
  ['another pilot-discovery', another],
])('a registry: %s', (_, stage) => {
  for (const { name, check } of registryContract(stage, istioObjects)) it(name, check);
});
