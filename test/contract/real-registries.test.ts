import { afterAll, beforeAll, describe, it } from 'vitest';
import { consulSource } from '../../src/pilot-discovery/registry/consul/consul-source.ts';
import { kubernetesSource } from '../../src/pilot-discovery/registry/kubernetes/kubernetes-source.ts';
import { findAccess } from '../../src/shared/kube/find-access.ts';
import { kubeApi } from '../../src/shared/kube/kube-api.ts';
import { type Consul, hasConsul, startConsul } from '../support/consul.ts';
import {
  kubeProgram,
  type KubeServer,
  made,
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
  kubernetesObjects,
  registrationOf,
  serviceEntries,
} from './registry-objects.ts';

if (kubeProgram === undefined)
  leftOut('the contract of registries over a Kubernetes API', 'a program');
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
      put: async (object) => void objects.set(pathOf(object), await made(kube, object)),
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
