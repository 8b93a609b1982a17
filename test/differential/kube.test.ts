import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { connects } from '../support/connects.ts';
import {
  endKubeProgram,
  kubeProgram,
  type KubeServer,
  applyWithStatus,
  pathOf,
  portsInARow,
  type Resource,
  startKubeProgram,
  startKubeServer,
} from '../support/e2e/kube-server.ts';
import { eventually } from '../support/eventually.ts';
import { leftOut } from '../support/left-out.ts';
import { servedTo, ours } from './compare.ts';
import { deviations, kubeDeviations } from './deviations.ts';
import { differences } from './differences.ts';
import { kubeCases } from './kube-cases.ts';
import { type KubeReader, startKubeReader } from './kube-mesh.ts';
import { needless, unexplained } from './unexplained.ts';

if (kubeProgram === undefined)
  leftOut('the comparison with an istiod on a real Kubernetes API', 'a program');

const explained = new Set<RegExp>();

/**
 * Compares the same objects in a folder and in a real Kubernetes API, which pilot-discovery and an
 * istiod read.
 */
describe.skipIf(kubeProgram === undefined)(
  'proxies get from a folder and from a Kubernetes API what istiod sends',
  () => {
    let kube: KubeServer;
    let istiod: ChildProcess;
    let reader: KubeReader;
    let apiService: Resource;
    let port = 0;

    beforeAll(async () => {
      kube = await startKubeServer();
      port = await portsInARow(4);
      istiod = startKubeProgram('istiod', kube.folder, port);
      for (const name of ['other', 'third'])
        await kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      apiService = (await kube.ask(
        'GET',
        '/api/v1/namespaces/default/services/kubernetes',
      )) as Resource;
      reader = await startKubeReader(kube, { PILOT_FILTER_GATEWAY_CLUSTER_CONFIG: 'false' });
      await eventually(() => connects(port));
    });
    afterAll(async () => {
      await reader.dispose();
      await endKubeProgram(istiod);
      await kube.dispose();
      expect(needless(kubeDeviations, explained)).toEqual([]);
    });

    it.each(kubeCases)('$name', async ({ yaml, proxies }) => {
      const objects: Resource[] = [];
      for (const document of parseAllDocuments(yaml))
        objects.push(await applyWithStatus(kube, document.toJS() as Resource));
      // The objects are those of the API: with the times and addresses that it gives them, and with
      // its own objects.
      const text = [...objects, apiService].map((object) => JSON.stringify(object)).join('\n---\n');
      try {
        for (const proxy of proxies) {
          for (const mode of ['REDIRECT', 'NONE']) {
            const testCase = { ...proxy, yaml: text };
            const mine = ours(testCase, mode, 'all'); // istiod filters no clusters of a gateway
            const left = async () => {
              const differing = differences(mine, await servedTo(testCase, port, mode));
              return unexplained(differing, [...kubeDeviations, ...deviations], explained);
            };
            await expect
              .poll(left, { interval: 200, message: `${proxy.name}, ${mode}` })
              .toEqual([]);
            const ofApi = async () =>
              differences(mine, await servedTo(testCase, reader.port, mode));
            await expect
              .poll(ofApi, { interval: 200, message: `${proxy.name}, ${mode}, over the API` })
              .toEqual([]);
          }
        }
      } finally {
        for (const object of objects.toReversed())
          await kube.ask('DELETE', `${pathOf(object)}?gracePeriodSeconds=0`);
      }
    });
  },
);
