import { afterAll, beforeAll, describe, it } from 'vitest';
import { kube } from '../../src/pilot-agent/sources/kube.ts';
import { sourceContract } from '../../src/testing/source-contract.ts';
import { leftOut } from '../support/left-out.ts';
import { kubeProgram, type KubeServer, startKubeServer } from '../support/e2e/kube-server.ts';

if (kubeProgram === undefined)
  leftOut('the contract of a source of Kubernetes: there is no API server');

describe.runIf(kubeProgram !== undefined)('kube()', () => {
  let server: KubeServer;
  let version = 0;
  const change = async () => {
    version += 1;
    await server.apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'default', name: 'settings' },
      data: { version: String(version) },
    });
  };
  beforeAll(async () => {
    server = await startKubeServer();
    await change();
  });
  afterAll(() => server.dispose());

  const stage = () => ({
    source: kube(
      { resource: 'ConfigMap', namespace: 'default', object: 'settings' },
      { kubeconfig: server.kubeconfig },
    ),
    change,
    outage: { begin: () => server.stop(), end: () => server.start() },
    within: 40_000,
  });
  for (const { name, check } of sourceContract(stage)) it(name, check);
});
