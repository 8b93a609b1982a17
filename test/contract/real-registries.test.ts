import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consulSource } from '../../src/pilot-discovery/registry/consul/consul-source.ts';
import { mcpAt } from '../support/mcp-at.ts';
import { kubernetesSource } from '../../src/pilot-discovery/registry/kubernetes/kubernetes-source.ts';
import { findAccess } from '../../src/shared/kube/find-access.ts';
import { kubeApi } from '../../src/shared/kube/kube-api.ts';
import { type Consul, hasConsul, startConsul } from '../support/consul.ts';
import { controlPlane } from '../support/control-plane.ts';
import { type Istiod, makeIstiod } from '../support/e2e/istiod.ts';
import { freePorts } from '../support/free-ports.ts';
import {
  kubeProgram,
  type KubeServer,
  applyWithStatus,
  pathOf,
  type Resource,
  startKubeServer,
} from '../support/e2e/kube-server.ts';
import type { KubeDocument } from '../support/fake-kube.ts';
import { leftOut } from '../support/left-out.ts';
import { contractNamespace, registryContract, type RegistryStage } from './registry-contract.ts';
import {
  type ConsulInstanceObject,
  consulObjects,
  istioObjects,
  kubernetesObjects,
  registrationOf,
  serviceEntries,
} from './registry-objects.ts';

if (kubeProgram === undefined)
  leftOut('the contract of registries over a Kubernetes API', 'a program');
if (controlPlane === undefined)
  leftOut('the contract of registries over a real istiod', 'a program');
if (!hasConsul) leftOut('the contract of registries over Consul', 'a program');

describe.skipIf(kubeProgram === undefined)('a registry: a Kubernetes API server', () => {
  let kube: KubeServer;
  beforeAll(async () => {
    kube = await startKubeServer();
    const metadata = { name: contractNamespace };
    await kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata });
  });
  afterAll(() => kube.dispose());

  const stage = (): RegistryStage<KubeDocument> => {
    const objects = new Map<string, Resource>();
    const remove = async (path: string) => {
      objects.delete(path);
      await kube.ask('DELETE', `${path}?gracePeriodSeconds=0`);
    };
    return {
      source: 'Kubernetes',
      event$: kubernetesSource(kubeApi(findAccess(kube.kubeconfig), 'pilot-discovery')),
      put: async (object) => void objects.set(pathOf(object), await applyWithStatus(kube, object)),
      remove: (object) => remove(pathOf(object)),
      written: () => [...objects.values()],
      outage: { begin: () => kube.stop(), end: () => kube.start() },
      dispose: async () => {
        for (const path of objects.keys()) await remove(path);
      },
    };
  };
  for (const { name, check } of registryContract(stage, kubernetesObjects)) it(name, check);
});

describe.skipIf(!hasConsul)('a registry: a server of Consul', () => {
  let consul: Consul;
  beforeAll(async () => {
    consul = await startConsul({ keeps: true });
  });
  afterAll(() => consul.dispose());

  const stage = (): RegistryStage<ConsulInstanceObject> => {
    const objects = new Map<string, ConsulInstanceObject>();
    const remove = async ({ id }: ConsulInstanceObject) => {
      objects.delete(id);
      await consul.ask('PUT', `agent/service/deregister/${id}`, '');
    };
    return {
      source: 'Consul',
      event$: consulSource({
        server: { address: consul.address },
        datacenter: '',
        namespace: contractNamespace,
        name: 'Consul',
      }),
      put: async (object) => {
        objects.set(object.id, object);
        await consul.ask('PUT', 'agent/service/register', registrationOf(object));
      },
      remove,
      written: () => serviceEntries([...objects.values()], 'dc1'),
      outage: { begin: () => consul.stop(), end: () => consul.start() },
      dispose: async () => {
        for (const object of objects.values()) await remove(object);
      },
    };
  };
  for (const { name, check } of registryContract(stage, consulObjects)) it(name, check);
});

describe.skipIf(controlPlane === undefined)('a registry: a real istiod over a folder', () => {
  let istiod: Istiod;
  let port = 0;
  beforeAll(async () => {
    [port = 0] = await freePorts(3);
    istiod = makeIstiod(controlPlane ?? '', port);
    await istiod.start();
  });
  afterAll(() => istiod.dispose());

  const stage = (): RegistryStage<KubeDocument> => {
    const objects = new Map<string, KubeDocument>();
    const nameOf = ({ kind, metadata }: Pick<KubeDocument, 'kind' | 'metadata'>) =>
      `${kind}-${metadata.name}`;
    /** Resolves when istiod has read its folder: then it has this content for the object. */
    const shown = async (name: string, spec: unknown) => {
      const specIn = async () => {
        const all = await fetch(`http://127.0.0.1:${port + 1}/debug/configz`);
        const configs = (await all.json()) as readonly KubeDocument[];
        return configs.find((config) => nameOf(config) === name)?.['spec'];
      };
      await expect.poll(specIn).toEqual(spec);
    };
    const remove = async (object: KubeDocument) => {
      objects.delete(nameOf(object));
      istiod.remove(nameOf(object));
      await shown(nameOf(object), undefined);
    };
    return {
      source: 'xds',
      event$: mcpAt(`127.0.0.1:${port}`),
      async put(object) {
        objects.set(nameOf(object), object);
        istiod.put(nameOf(object), object);
        await shown(nameOf(object), object['spec']);
      },
      remove,
      written: () => [...objects.values()],
      outage: { begin: () => istiod.stop(), end: () => istiod.start() },
      async dispose() {
        for (const object of objects.values()) await remove(object);
      },
    };
  };
  for (const { name, check } of registryContract(stage, istioObjects)) it(name, check);
});
