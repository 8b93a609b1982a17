import { create } from '@bufbuild/protobuf';
import { AnySchema } from '@bufbuild/protobuf/wkt';
import { firstValueFrom, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { buildEnvironment } from '../../../../src/pilot-discovery/environment/build-environment.ts';
import { emptyStore, reduceStore } from '../../../../src/pilot-discovery/environment/store.ts';
import {
  noResources,
  withResources,
} from '../../../../src/pilot-discovery/environment/resources.ts';
import { readNode } from '../../../../src/pilot-discovery/generate/scope/read-node.ts';
import { viewer } from '../../../../src/pilot-discovery/generate/view-of.ts';
import { type AnyResource, keyOf } from '../../../../src/pilot-discovery/istio/documents/model.ts';
import { readResources } from '../../../../src/pilot-discovery/istio/documents/read-resources.ts';
import { readMeshConfig } from '../../../../src/pilot-discovery/istio/mesh/read-mesh-config.ts';
import { configKinds, configTypeUrl } from '../../../../src/pilot-discovery/mcp/config-types.ts';
import { configViews } from '../../../../src/pilot-discovery/mcp/config-views.ts';
import { writeBody } from '../../../../src/pilot-discovery/mcp/write-body.ts';
import { type TypedView, xdsTypes } from '../../../../src/pilot-discovery/push/view.ts';
import { readAnswer } from '../../../../src/pilot-discovery/registry/mcp/read-answer.ts';
import { atOnce } from '../../../../src/shared/text/steps.ts';
import { type Case, cases } from '../../../differential/cases.ts';

const isConfig = ({ kind }: AnyResource) => (configKinds as readonly string[]).includes(kind);

const used = ({ resources, closing }: ReturnType<typeof readResources>) => [
  ...closing,
  ...resources,
];

/**
 * Returns the resources as another control plane reads them, in the order in which they are sent.
 */
async function readOver(resources: readonly AnyResource[]): Promise<readonly AnyResource[]> {
  const edits = new Map(resources.map((resource) => [keyOf(resource), resource]));
  const environment = { resources: withResources(noResources, edits) };
  const { types } = await firstValueFrom(configViews(of({ number: 1, environment })), {
    defaultValue: { types: new Map<string, TypedView>() },
  });
  return configKinds.flatMap((kind) => {
    const anys = [...(types.get(configTypeUrl(kind))?.resources.values() ?? [])].map(
      ({ body, bodyType = '' }) => create(AnySchema, { typeUrl: bodyType, value: body }),
    );
    const place = { source: 'test', path: '', namespaces: new Set<string>(), bodies: 'dropped' };
    const read = readAnswer(kind, { resources: anys }, new Map(), place as never);
    return [...atOnce(read).values()].flatMap(({ content }) => used(content));
  });
}

/** Returns all bytes that the proxy of a case gets. */
function bytesOf({ id, metadata, locality, mesh = '' }: Case, upserts: readonly AnyResource[]) {
  const node = readNode({ id, cluster: 'test', metadata }, locality);
  if (typeof node === 'string') throw new Error(node);
  const empty = { ...emptyStore(['test']), mesh: readMeshConfig(mesh, 'mesh.yaml').mesh };
  const event = { type: 'changed', source: 'test', upserts, removes: [] } as const;
  const [store, changes] = reduceStore(empty, event);
  const environment = buildEnvironment(undefined, store, changes, 'cluster.local', 'reached');
  const view = viewer(() => undefined).view({ number: 1, environment }, node);
  return xdsTypes.flatMap((type) =>
    [...view[type].resources].map(
      ([name, { body }]) => `${type} ${name} ${Buffer.from(body).toString('base64')}`,
    ),
  );
}

describe('what a proxy gets from a control plane that reads from another one', () => {
  it.each(cases)('has the same bytes as from the folder: $name', async (testCase) => {
    const place = { source: 'test', path: '', defaultNamespace: 'default', writeBody };
    const direct = used(readResources(testCase.yaml, place));
    const over = [...direct.filter((resource) => !isConfig(resource)), ...(await readOver(direct))];
    const bytes = bytesOf(testCase, direct);
    expect(bytes.length).toBeGreaterThan(0);
    expect(bytesOf(testCase, over)).toEqual(bytes);
  });
});
