import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromBinary } from '@bufbuild/protobuf';
import { type Any, AnySchema } from '@bufbuild/protobuf/wkt';
import { create } from '@bufbuild/protobuf';
import { from, lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import {
  noResources,
  withResources,
} from '../../../../src/pilot-discovery/environment/resources.ts';
import { isSameContent } from '../../../../src/pilot-discovery/istio/documents/is-same-content.ts';
import { type AnyResource, keyOf } from '../../../../src/pilot-discovery/istio/documents/model.ts';
import {
  readObject,
  readResources,
  type ReadText,
} from '../../../../src/pilot-discovery/istio/documents/read-resources.ts';
import { configViews, inNamespaces } from '../../../../src/pilot-discovery/mcp/config-views.ts';
import { configKinds, configTypeUrl } from '../../../../src/pilot-discovery/mcp/config-types.ts';
import { documentType, writeBody } from '../../../../src/pilot-discovery/mcp/write-body.ts';
import { readAnswer } from '../../../../src/pilot-discovery/registry/mcp/read-answer.ts';
import type { ConfigView } from '../../../../src/pilot-discovery/push/config-view.ts';
import { ResourceSchema } from '../../../../src/shared/proto/istio/mcp/v1alpha1/resource_pb.ts';
import { atOnce } from '../../../../src/shared/text/steps.ts';
import { cases, resourceOf } from '../../../verdicts/cases.ts';

const folder = 'test/differential/folders';
const place = { source: 'test', path: '', defaultNamespace: 'default', writeBody };

/** All resources of the tests that compare with istiod, each with a name of its own. */
const objects = [
  ...readdirSync(folder).flatMap((file) =>
    parseAllDocuments(readFileSync(join(folder, file), 'utf8')).map(
      (document) => document.toJS() as ReturnType<typeof resourceOf>,
    ),
  ),
  ...cases.map(resourceOf),
].map((object, index) => ({
  ...object,
  metadata: { ...object.metadata, name: `r-${index}`, namespace: index % 2 === 0 ? 'a' : 'b' },
}));

const used = ({ resources, closing }: ReadText) => [...resources, ...closing];

function snapshotOf(number: number, resources: readonly AnyResource[]) {
  const edits = new Map(resources.map((resource) => [keyOf(resource), resource]));
  return { number, environment: { resources: withResources(noResources, edits) } };
}

const viewsOf = (...snapshots: readonly ReturnType<typeof snapshotOf>[]) =>
  lastValueFrom(configViews(from(snapshots)).pipe(toArray()), { defaultValue: [] });

function there(view: ConfigView | undefined): ConfigView {
  if (view === undefined) throw new Error('there is no view');
  return view;
}

const anyOf = (view: ConfigView, typeUrl: string): Any[] =>
  [...(view.types.get(typeUrl)?.resources.values() ?? [])].map(({ body, bodyType = '' }) =>
    create(AnySchema, { typeUrl: bodyType, value: body }),
  );

/** Returns the resources that another control plane reads from a view. */
const readFrom = (view: ConfigView, bodies: 'kept' | 'dropped' = 'dropped') =>
  configKinds.flatMap((kind) => {
    const answer = { resources: anyOf(view, configTypeUrl(kind)) };
    const answerPlace = { source: 'test', path: '', namespaces: new Set<string>(), bodies };
    const read = atOnce(readAnswer(kind, answer, new Map(), answerPlace));
    return [...read.values()].flatMap(({ content }) => used(content));
  });

/** Removes fields that are not sent, and zeros: a message does not record a 0. */
const shown = (resources: readonly AnyResource[]) =>
  Object.fromEntries(
    resources.map((resource) => [
      keyOf(resource),
      JSON.parse(
        JSON.stringify({ ...resource, origin: 0, body: 0 }, (_, member: unknown) =>
          member === 0 ? undefined : member,
        ),
      ) as unknown,
    ]),
  );

describe('what other control planes read', () => {
  const all = objects.flatMap((object) => used(readObject(object, place)));
  const config = all.filter(({ kind }) => (configKinds as readonly string[]).includes(kind));

  it('is what this one has, also what is refused and closes: all resources of other tests', async () => {
    const [view] = await viewsOf(snapshotOf(1, all));
    if (view === undefined) throw new Error('there is no view');
    expect(config.filter(({ closes }) => closes === undefined).length).toBeGreaterThan(500);
    expect(config.filter(({ closes }) => closes !== undefined).length).toBeGreaterThan(100);
    expect(shown(readFrom(view))).toEqual(shown(config));
  });

  it('is the same over one more control plane', async () => {
    const [view] = await viewsOf(snapshotOf(1, all));
    const [second] = await viewsOf(snapshotOf(1, readFrom(there(view), 'kept')));
    expect(shown(readFrom(there(second)))).toEqual(shown(config));
  });

  it('is a message of Istio for each good resource', () => {
    const good = config.filter(({ closes }) => closes === undefined);
    expect(good.filter(({ body }) => body?.typeUrl === documentType)).toEqual([]);
    const refused = config.filter(({ closes }) => closes !== undefined);
    expect(refused.every(({ body }) => body?.typeUrl === documentType)).toBe(true);
  });

  const text = (name: string, host: string, namespace = 'shop') =>
    JSON.stringify({
      apiVersion: 'networking.istio.io/v1',
      kind: 'VirtualService',
      metadata: {
        ...{ name, namespace, labels: { app: name }, annotations: { note: name } },
        creationTimestamp: '2024-01-01T00:00:00Z',
      },
      spec: { hosts: [host], http: [{ route: [{ destination: { host } }] }] },
    });
  const virtualServices = (...texts: readonly string[]) =>
    texts.flatMap((document) => readResources(document, place).resources);
  const typeUrl = 'networking.istio.io/v1/VirtualService';

  it('is named and dated as istiod does', async () => {
    const [view] = await viewsOf(snapshotOf(7, virtualServices(text('a', 'a.shop'))));
    const [any] = anyOf(there(view), typeUrl);
    expect(view?.snapshot).toBe(7);
    expect(any?.typeUrl).toBe('type.googleapis.com/istio.mcp.v1alpha1.Resource');
    const { metadata, body } = fromBinary(ResourceSchema, any?.value ?? new Uint8Array());
    expect(metadata).toMatchObject({
      name: 'shop/a',
      labels: { app: 'a' },
      annotations: { note: 'a' },
      createTime: { seconds: 1_704_067_200n },
    });
    expect(body?.typeUrl).toBe('type.googleapis.com/istio.networking.v1alpha3.VirtualService');
  });

  it('has a version of each kind, also of a kind without resources', async () => {
    const [view] = await viewsOf(snapshotOf(1, virtualServices(text('a', 'a.shop'))));
    const versions = [...there(view).types.values()].map(({ version }) => version);
    expect(versions).toHaveLength(configKinds.length);
    expect(versions).not.toContain('');
  });

  it('keeps what has not changed as the same object', async () => {
    const [a, b, c] = virtualServices(text('a', 'a'), text('b', 'b'), text('b', 'c'));
    if (a === undefined || b === undefined || c === undefined) throw new Error('not read');
    const views = await viewsOf(
      snapshotOf(1, [a, b]),
      snapshotOf(2, [a, b]),
      snapshotOf(3, [a, c]),
      snapshotOf(4, [a]),
    );
    const [first, same, changed, less] = views.map(({ types }) => types.get(typeUrl));
    expect(same).toBe(first);
    expect(changed?.version).not.toBe(first?.version);
    expect(changed?.resources.get('shop/a')).toBe(first?.resources.get('shop/a'));
    expect(changed?.resources.get('shop/b')).not.toBe(first?.resources.get('shop/b'));
    expect([...(less?.resources.keys() ?? [])]).toEqual(['shop/a']);
  });

  it('is other content if only a field that is not served has changed', () => {
    const virtualServiceText = text('a', 'a');
    const spec = (more: object) =>
      JSON.stringify({
        ...(JSON.parse(virtualServiceText) as object),
        spec: { ...(JSON.parse(virtualServiceText) as { spec: object }).spec, ...more },
      });
    const [before, after] = [virtualServiceText, spec({ exportTo: ['.'], gateways: ['mesh'] })].map(
      (written) => readResources(written, place).resources[0],
    );
    expect(isSameContent(before, after)).toBe(false);
  });

  it('is restricted to namespaces, and the same object if nothing in a kind has changed', async () => {
    const [a, b, c] = virtualServices(text('a', 'a'), text('b', 'b', 'bank'), text('a', 'c'));
    if (a === undefined || b === undefined || c === undefined) throw new Error('not read');
    const whole = await viewsOf(
      snapshotOf(1, [a, b]),
      snapshotOf(2, [a, b]),
      snapshotOf(3, [c, b]),
    );
    const parts = await lastValueFrom(
      inNamespaces(from(whole), new Set(['shop'])).pipe(toArray()),
      { defaultValue: [] },
    );
    const [first, same, changed] = parts.map(({ types }) => types.get(typeUrl));
    expect([...(first?.resources.keys() ?? [])]).toEqual(['shop/a']);
    expect(same).toBe(first);
    expect(changed?.resources.get('shop/a')).not.toBe(first?.resources.get('shop/a'));
    expect(parts.map(({ snapshot }) => snapshot)).toEqual([1, 2, 3]);
    const all$ = from(whole);
    expect(inNamespaces(all$, new Set())).toBe(all$);
  });
});
