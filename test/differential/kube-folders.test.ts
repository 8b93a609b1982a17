import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { groupedBy } from '../../src/pilot-discovery/environment/grouped.ts';
import { kubeProgram, type Resource } from '../support/e2e/kube-server.ts';
import type { Told } from '../support/ads-client.ts';
import { leftOut } from '../support/left-out.ts';
import { type Case, cases, files, gateways } from './cases.ts';
import { servedTo, ours } from './compare.ts';
import { differences } from './differences.ts';
import { type KubeMesh, startKubeMesh } from './kube-mesh.ts';

if (kubeProgram === undefined) leftOut('the folders in a real Kubernetes API', 'a program');

interface Folder {
  readonly name: string;
  readonly yaml: string;
  /** The cases of the folder, which share its objects. */
  readonly asking: readonly Case[];
}

const folders: readonly Folder[] = [
  ...groupedBy([...cases, ...files, ...gateways], ({ yaml }) => yaml),
].map(([yaml, asking]) => ({ name: asking[0]?.name.replace(/,.*/, '') ?? '', yaml, asking }));

const namespaceOf = ({ metadata: { namespace = 'default' } }: Resource): string => namespace;

function objectsOf(yaml: string): readonly Resource[] {
  return parseAllDocuments(yaml).flatMap((document) => {
    const object = document.toJS() as Resource | null;
    if (object === null) return [];
    return [{ ...object, metadata: { ...object.metadata, namespace: namespaceOf(object) } }];
  });
}

/**
 * Keeps the first of several listeners with one name, as a control plane does when it serves them.
 */
const served = (resources: Told): Told => ({
  ...resources,
  listener: resources.listener.filter(
    ({ name }, index) => resources.listener.findIndex((other) => other['name'] === name) === index,
  ),
});

const textOf = (objects: readonly Resource[]): string =>
  objects.map((object) => JSON.stringify(object)).join('\n---\n');

/**
 * Compares the same objects in a folder and in a real Kubernetes API, which has objects of its own
 * too.
 */
describe.skipIf(kubeProgram === undefined)('an API has the configuration of a folder', () => {
  let mesh: KubeMesh;
  let always: readonly Resource[];
  beforeAll(async () => {
    const namespaces = folders.flatMap(({ yaml }) => objectsOf(yaml).map(namespaceOf));
    mesh = await startKubeMesh(new Set(namespaces));
    const { items } = (await mesh.kube.ask('GET', '/api/v1/namespaces')) as {
      readonly items: readonly Resource[];
    };
    const service = '/api/v1/namespaces/default/services/kubernetes';
    always = [
      ...items.map((item): Resource => ({ ...item, apiVersion: 'v1', kind: 'Namespace' })),
      (await mesh.kube.ask('GET', service)) as Resource,
    ];
  });
  afterAll(() => mesh.dispose());

  it.each(folders)('$name', async ({ yaml, asking }) => {
    const objects = await mesh.make(objectsOf(yaml));
    const text = textOf([...always, ...objects]);
    try {
      for (const each of asking) {
        const ofFolder = served(ours({ ...each, yaml: text }, 'REDIRECT'));
        const differing = async () =>
          differences(ofFolder, await servedTo(each, mesh.port, 'REDIRECT'));
        await expect.poll(differing, { interval: 100, message: each.name }).toEqual([]);
      }
    } finally {
      await mesh.remove(objects);
    }
  });
});
