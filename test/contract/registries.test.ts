import { mkdtempSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'vitest';
import { readResourcesInSteps } from '../../src/pilot-discovery/istio/read-resources.ts';
import { filesSource } from '../../src/pilot-discovery/registry/files/files-source.ts';
import { kubernetesSource } from '../../src/pilot-discovery/registry/kubernetes/kubernetes-source.ts';
import { fakeKube, type KubeDocument } from '../support/fake-kube.ts';
import { registryContract, type RegistryStage } from './registry-contract.ts';

function files(): RegistryStage {
  const root = mkdtempSync(join(tmpdir(), 'pilot-discovery-contract-'));
  const folder = join(root, 'config');
  mkdirSync(folder);
  const place = ({ kind, metadata: { namespace = '', name } }: KubeDocument) =>
    join(folder, `${kind}-${namespace}-${name}.json`);
  return {
    source: 'files',
    event$: filesSource(folder, { read: readResourcesInSteps }),
    put: (object) => writeFileSync(place(object), JSON.stringify(object)),
    remove: (object) => rmSync(place(object)),
    outage: {
      begin: () => renameSync(folder, join(root, 'away')),
      end: () => renameSync(join(root, 'away'), folder),
    },
    dispose: () => rmSync(root, { recursive: true }),
  };
}

function kubernetes(): RegistryStage {
  const kube = fakeKube();
  return {
    source: 'Kubernetes',
    event$: kubernetesSource(kube.api),
    put: kube.put,
    remove: kube.remove,
    outage: { begin: kube.stop, end: kube.start },
    dispose: () => undefined,
  };
}

describe.each([
  ['files', files],
  ['Kubernetes', kubernetes],
])('a registry: %s', (_, stage) => {
  for (const { name, check } of registryContract(stage)) it(name, check);
});
