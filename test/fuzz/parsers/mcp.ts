import { create } from '@bufbuild/protobuf';
import { type Any, AnySchema } from '@bufbuild/protobuf/wkt';
import * as fc from 'fast-check';
import { configKinds } from '../../../src/pilot-discovery/mcp/config-types.ts';
import { specMessages } from '../../../src/pilot-discovery/mcp/spec-messages.ts';
import { documentType } from '../../../src/pilot-discovery/mcp/write-body.ts';
import { readAnswer } from '../../../src/pilot-discovery/registry/mcp/read-answer.ts';
import { atOnce } from '../../../src/shared/text/steps.ts';
import { rawResource, resourceAny } from '../../support/fake-config-server.ts';
import { istioObjects } from '../../contract/registry-objects.ts';
import { fuzzed } from '../parser.ts';

const odd = fc.oneof(
  fc.constantFrom('shop/a', 'shop/b', '/', 'a', 'a/b/c', '', '__proto__', '__proto__/a'),
  fc.string(),
);
const real = istioObjects.all.map(resourceAny);
const kind = fc.constantFrom(...configKinds);
const bodyType = fc.oneof(
  kind.map((configKind) => `type.googleapis.com/${specMessages[configKind].typeName}`),
  fc.constant(documentType),
  odd,
);
const json = fc
  .oneof(
    fc.jsonValue({ maxDepth: 4 }),
    fc.record({
      apiVersion: odd,
      kind,
      metadata: fc.oneof(odd, fc.dictionary(odd, odd, { maxKeys: 3 })),
      spec: fc.jsonValue({ maxDepth: 4 }),
    }),
  )
  .map((value) => Buffer.from(JSON.stringify(value)));

/** The bytes of a real resource, some of them changed. */
const broken = fc
  .tuple(
    fc.constantFrom(...real),
    fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 6 }),
  )
  .map(([any, changes]): Any => {
    const value = Uint8Array.from(any.value);
    for (const [index, byte] of changes) value[index % value.length] = byte;
    return create(AnySchema, { typeUrl: any.typeUrl, value });
  });
const resource = fc.oneof(
  broken,
  fc
    .tuple(odd, bodyType, fc.oneof(fc.uint8Array({ maxLength: 40 }), json))
    .map(([name, typeUrl, value]) => rawResource(name, typeUrl, value)),
  fc.tuple(odd, fc.uint8Array()).map(([typeUrl, value]) => create(AnySchema, { typeUrl, value })),
);

interface Answer {
  readonly configKind: (typeof configKinds)[number];
  readonly resources: Any[];
  readonly bodies: 'kept' | 'dropped';
}

/**
 * Reads an answer. Returns undefined if the answer is refused as a whole, because a resource cannot
 * be decoded or is not one of Istio.
 */
function read({ configKind, resources, bodies }: Answer): unknown {
  const place = { source: 'xds', path: '', namespaces: new Set<string>(), bodies };
  try {
    return atOnce(readAnswer(configKind, { resources }, new Map(), place));
  } catch (error) {
    if (/cannot be decoded|is not a resource of Istio/.test((error as Error).message))
      return undefined;
    throw error;
  }
}

const answerOf = (value: Uint8Array): Answer => ({
  configKind: 'AuthorizationPolicy',
  resources: [rawResource('shop/a', documentType, value)],
  bodies: 'kept',
});

/** Parsers of answers of another control plane. */
export const mcp = [
  fuzzed({
    name: 'answers of a control plane (MCP)',
    inputs: fc.record({
      configKind: kind,
      resources: fc.array(resource, { maxLength: 6 }),
      bodies: fc.constantFrom('kept', 'dropped'),
    }),
    parse: read,
    growing: {
      resources: (size): Answer => ({
        configKind: 'ServiceEntry',
        resources: Array.from({ length: size }, (_, index) =>
          rawResource(`shop/a-${index}`, documentType, Buffer.from('{}')),
        ),
        bodies: 'kept',
      }),
      'a deep document': (size) => answerOf(Buffer.from('['.repeat(size) + ']'.repeat(size))),
      'a wide document': (size) =>
        answerOf(
          Buffer.from(
            JSON.stringify({
              kind: 'AuthorizationPolicy',
              spec: { rules: Array.from({ length: size }, () => ({ from: [{}] })) },
            }),
          ),
        ),
    },
  }),
];
