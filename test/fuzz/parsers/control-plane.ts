import { isDeepStrictEqual } from 'node:util';
import { create, type JsonObject, toBinary } from '@bufbuild/protobuf';
import * as fc from 'fast-check';
import { proxyOf } from '../../../src/pilot-discovery/run/proxy-of.ts';
import { readNode } from '../../../src/pilot-discovery/generate/scope/read-node.ts';
import { viewer } from '../../../src/pilot-discovery/generate/view-of.ts';
import { afterPiece, noMessage } from '../../../src/shared/grpc/message-progress.ts';
import { readMeshConfig } from '../../../src/pilot-discovery/istio/mesh/read-mesh-config.ts';
import { readMeshNetworks } from '../../../src/pilot-discovery/istio/mesh/read-mesh-networks.ts';
import { readResources } from '../../../src/pilot-discovery/istio/documents/read-resources.ts';
import {
  DeltaDiscoveryRequestSchema,
  DiscoveryRequestSchema,
} from '../../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { adsDefinition } from '../../../src/pilot-discovery/push/ads-definition.ts';
import type { StreamMessage } from '../../../src/pilot-discovery/push/first-request.ts';
import {
  newProxyStream,
  type ProxyEvent,
  type ProxyStream,
} from '../../../src/pilot-discovery/push/proxy-stream.ts';
import { reduceProxy } from '../../../src/pilot-discovery/push/reduce-proxy.ts';
import { typeUrls } from '../../../src/pilot-discovery/push/view.ts';
import { readRequest, type Variant } from '../../../src/shared/xds/messages.ts';
import { quickYaml } from '../../../src/shared/text/quick-yaml.ts';
import { environmentOf } from '../../support/generated.ts';
import { slowYaml, withLines } from '../../support/slow-yaml.ts';
import { yamlTexts } from '../../support/yaml-texts.ts';
import { fuzzed, textOf } from '../parser.ts';

const place = { source: 'files', path: 'a.yaml', defaultNamespace: 'default' };
const times = (count: number) => Array.from({ length: count }, (_, index) => index);
const odd = fc.oneof(
  fc.constantFrom(
    'a',
    '*',
    '*.a',
    '10.0.0.1',
    '__proto__',
    'constructor',
    '',
    '80',
    'outbound|80||a.mesh',
  ),
  fc.string(),
);
/** Any JSON, in which some names are real ones. */
const value = fc.oneof(odd, fc.integer(), fc.jsonValue({ maxDepth: 3 }));
const fieldName = fc.oneof(
  fc.constantFrom(
    'hosts',
    'ports',
    'number',
    'name',
    'protocol',
    'endpoints',
    'http',
    'match',
    'uri',
    'route',
    'destination',
    'host',
    'selector',
    'subsets',
    'trafficPolicy',
    'tls',
    'mode',
    'egress',
    'ingress',
    'servers',
    'port',
    'rules',
    'accessLogging',
    'providers',
    'filter',
    'expression',
    'tracing',
    'concurrency',
    'environmentVariables',
    'image',
    'customTags',
    'literal',
    'environment',
    'header',
    'name',
    'value',
    '__proto__',
  ),
  fc.string({ maxLength: 5 }),
);
const spec = fc.letrec((tie) => ({
  one: fc.oneof(
    { depthSize: 'small' },
    value,
    fc.array(tie('one'), { maxLength: 3 }),
    fc.dictionary(fieldName, tie('one'), { maxKeys: 4 }),
  ),
})).one;
const kind = fc.constantFrom(
  'ServiceEntry',
  'WorkloadEntry',
  'VirtualService',
  'DestinationRule',
  'Sidecar',
  'PeerAuthentication',
  'AuthorizationPolicy',
  'RequestAuthentication',
  'Telemetry',
  'ProxyConfig',
  'WorkloadGroup',
  'Gateway',
  'Service',
  'EndpointSlice',
  'Endpoints',
  'Pod',
  'Node',
  'Namespace',
  '__proto__',
);
const resource = fc
  .record({ kind, name: odd, spec: fc.dictionary(fieldName, spec, { maxKeys: 5 }) })
  .map(({ name, kind: kindName, spec: specFields }) => {
    const group = /Authentication|Authorization/.test(kindName)
      ? 'security'
      : kindName === 'Telemetry'
        ? 'telemetry'
        : 'networking';
    const ofKubernetes: Readonly<Record<string, string>> = {
      Service: 'v1',
      EndpointSlice: 'discovery.k8s.io/v1',
      Endpoints: 'v1',
      Pod: 'v1',
      Node: 'v1',
      Namespace: 'v1',
    };
    return JSON.stringify({
      ...specFields,
      apiVersion: Object.hasOwn(ofKubernetes, kindName)
        ? ofKubernetes[kindName]
        : `${group}.istio.io/v1`,
      kind: kindName,
      metadata: { name, labels: { 'kubernetes.io/service-name': name } },
      spec: specFields,
    });
  });
const yaml = textOf(
  'apiVersion: networking.istio.io/v1\n',
  'kind: ServiceEntry\n',
  'metadata: { name: a }\n',
  'spec:\n',
  '  hosts: [a]\n',
  '  - ',
  '---\n',
  '[',
  ']',
  '{',
  '}',
  '&a ',
  '*a',
  '|\n',
  '? ',
  ': ',
  '!t ',
  '"',
  "'",
  '%YAML 1.2\n',
  '\t',
  '<<: ',
);

const environment = environmentOf(`apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: a, namespace: default }
spec: { hosts: [a.mesh], resolution: DNS, ports: [{ number: 80, name: http, protocol: HTTP }] }
`);

const typeUrl = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...Object.values(typeUrls)) },
  odd,
);
const names = fc.array(odd, { maxLength: 5 });
const errorDetail = fc.option(
  fc.record({ code: fc.integer({ min: 0, max: 16 }), message: fc.string() }),
  { nil: undefined },
);
const id = fc.oneof(
  fc.constantFrom(
    'sidecar~10.0.0.1~a.default~default.svc.cluster.local',
    'router~~a.b~c',
    '~~~',
    '',
  ),
  fc.string(),
);
const withError = <T extends { readonly errorDetail?: unknown }>({
  errorDetail: error,
  ...rest
}: T) => ({
  ...rest,
  ...(error !== undefined && { errorDetail: error }),
});
const whole = fc
  .record({
    typeUrl,
    responseNonce: odd,
    versionInfo: odd,
    resourceNames: names,
    errorDetail,
    node: id.map((nodeId) => ({ id: nodeId })),
  })
  .map((fields) => create(DiscoveryRequestSchema, withError(fields) as object));
const delta = fc
  .record({
    typeUrl,
    responseNonce: odd,
    resourceNamesSubscribe: names,
    resourceNamesUnsubscribe: names,
    initialResourceVersions: fc.dictionary(odd, odd, { maxKeys: 3 }),
    errorDetail,
    node: id.map((nodeId) => ({ id: nodeId })),
  })
  .map((fields) => create(DeltaDiscoveryRequestSchema, withError(fields) as object));

interface Play {
  readonly variant: Variant;
  readonly events: readonly ProxyEvent[];
}

const proxy = readNode({ id: 'sidecar~10.0.0.1~a.default~default.svc.cluster.local' }, '');
const view =
  typeof proxy === 'string'
    ? undefined
    : viewer(() => undefined).view({ number: 1, environment }, proxy);
const others: readonly ProxyEvent[] = [
  { type: 'introduced' },
  { type: 'warmed' },
  ...(view === undefined ? [] : [{ type: 'view', view } as const]),
];
const playOf = (variant: Variant) =>
  fc
    .array(
      fc.oneof(
        (variant === 'delta' ? delta : whole).map((message): ProxyEvent => ({
          type: 'request',
          request: readRequest(message),
        })),
        fc.constantFrom(...others),
      ),
      { maxLength: 12 },
    )
    .map((events): Play => ({ variant, events }));

/** ACKs every second answer that the stream sends, so that more answers follow. */
function play({ variant, events }: Play): ProxyStream {
  return events.reduce((state, event) => {
    const [after, effects] = reduceProxy(state, event);
    return effects.reduce((before, effect, index) => {
      if (effect.type !== 'answer' || index % 2 === 1) return before;
      const { typeUrl: answeredType, nonce } = effect.answer;
      const fields = { typeUrl: answeredType, responseNonce: nonce };
      const message =
        variant === 'delta'
          ? create(DeltaDiscoveryRequestSchema, fields)
          : create(DiscoveryRequestSchema, fields);
      return reduceProxy(before, { type: 'request', request: readRequest(message) })[0];
    }, after);
  }, newProxyStream(variant));
}

const methods = adsDefinition();
/** Decodes a message. Returns undefined if that fails: gRPC ends the stream then. */
function messageOf(
  decode: (bytes: Buffer) => unknown,
  bytes: Uint8Array,
): StreamMessage | undefined {
  try {
    return decode(Buffer.from(bytes)) as StreamMessage;
  } catch {
    return undefined;
  }
}

function decoded(bytes: Uint8Array): readonly unknown[] {
  return Object.values(methods).map(({ requestDeserialize }) => {
    const message = messageOf(requestDeserialize, bytes);
    if (message?.type !== 'request') return message;
    return play({ variant: 'delta', events: [{ type: 'request', request: message.request }] });
  });
}

/** The bytes of a request, some of them changed. */
const bytes = fc
  .tuple(
    fc.oneof(
      whole.map((message) => toBinary(DiscoveryRequestSchema, message)),
      delta.map((message) => toBinary(DeltaDiscoveryRequestSchema, message)),
      fc.uint8Array(),
    ),
    fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 4 }),
  )
  .map(([message, changes]) => {
    const changed = Uint8Array.from(message);
    for (const [index, byte] of changes)
      if (changed.length > 0) changed[index % changed.length] = byte;
    return changed;
  });

const metadata = fc.dictionary(
  fc.oneof(
    fc.constantFrom(
      'NAMESPACE',
      'LABELS',
      'INSTANCE_IPS',
      'INTERCEPTION_MODE',
      'NETWORK',
      'ENVOY_STATUS_PORT',
      'HTTP10',
      'TLS_CLIENT_KEY',
      '__proto__',
    ),
    fc.string({ maxLength: 4 }),
  ),
  fc.oneof(odd, fc.dictionary(odd, odd, { maxKeys: 3 }), fc.jsonValue({ maxDepth: 2 })),
  { maxKeys: 5 },
);

const noLocality = new Uint8Array();
const locality = fc.oneof(fc.constant(noLocality), fc.uint8Array({ maxLength: 12 }));

function allOf(node: Parameters<typeof proxyOf>[0]): unknown {
  const read = proxyOf(node);
  if (typeof read === 'string') return read;
  const { cluster, endpoint, listener, route } = viewer(() => undefined).view(
    { number: 1, environment },
    read,
  );
  return [cluster.version, endpoint.version, listener.version, route.version];
}

/** Parsers of content that comes to `pilot-discovery` from outside. */
export const controlPlane = [
  fuzzed({
    name: 'resources of a folder',
    inputs: fc.oneof(resource, yaml),
    parse: (text) => readResources(text, place),
    growing: {
      hosts: (size) =>
        `{kind: ServiceEntry, metadata: {name: a}, spec: {hosts: [${times(size)
          .map((index) => `h${index}`)
          .join(', ')}]}}`,
      'fields that are not known': (size) =>
        `kind: ServiceEntry\nmetadata: {name: a}\nspec:\n${times(size)
          .map((index) => `  x${index}: 1\n`)
          .join('')}`,
      routes: (size) =>
        `kind: VirtualService\nmetadata: {name: a}\nspec:\n  http:\n${times(size)
          .map((index) => `  - match: [{uri: {prefix: /${index}}}]\n`)
          .join('')}`,
    },
  }),
  fuzzed({
    name: 'YAML that is read quickly',
    inputs: yamlTexts,
    parse: (text) => {
      const quick = quickYaml(text);
      if (quick === undefined) return;
      const slow = slowYaml(text);
      if (!isDeepStrictEqual(withLines(quick), slow && withLines(slow)))
        throw new Error('the package yaml says something else');
    },
    growing: {
      keys: (size) =>
        times(size)
          .map((index) => `k${index}: a\n`)
          .join(''),
      'keys in braces': (size) =>
        `a: {${times(size)
          .map((index) => `k${index}: a`)
          .join(', ')}}\n`,
      'a list': (size) => `a:\n${'- b\n'.repeat(size)}`,
      blanks: (size) => `a: b${' '.repeat(size)}c${' '.repeat(size)}\n`,
      quotes: (size) => `a: '${"''".repeat(size)}\n`,
      escapes: (size) => `a: "${'\\\\'.repeat(size)}"\n`,
      comments: (size) => `a: 1\n${'  # c\n'.repeat(size)}`,
      'empty lines among brackets': (size) => `a: [${'\n'.repeat(size)} 1]\n`,
    },
  }),
  fuzzed({
    name: 'MeshConfig',
    inputs: fc.oneof(
      fc.json(),
      textOf(
        'accessLogFile: ',
        'defaultConfig:\n',
        '  proxyMetadata: {}\n',
        'enableAutoMtls: ',
        'configSources:\n',
        '  - address: fs://a\n',
        '&a ',
        '*a',
        '[',
        ']',
        '{',
        '}',
        '1s',
        '\n',
      ),
    ),
    parse: (text) => readMeshConfig(text, 'mesh'),
    growing: {
      keys: (size) =>
        times(size)
          .map((index) => `k${index}: a\n`)
          .join(''),
    },
  }),
  fuzzed({
    name: 'MeshNetworks',
    inputs: fc.oneof(
      fc.json(),
      textOf(
        ...['networks:\n', '  one:\n', '  two: ', '    endpoints:\n', '    gateways:\n'],
        ...['    - fromCidr: 10.0.0.0/8\n', '    - address: 1.1.1.1\n', '      port: 1\n'],
        ...['&a ', '*a', '[', ']', '{', '}', '\n'],
      ),
    ),
    parse: (text) => readMeshNetworks(text, 'networks'),
    growing: {
      networks: (size) =>
        `networks:\n${times(size)
          .map((index) => `  n${index}: { gateways: [{ address: 1.1.1.1, port: 1 }] }\n`)
          .join('')}`,
    },
  }),
  fuzzed({
    name: 'streams of proxies',
    inputs: fc.oneof(playOf('delta'), playOf('state-of-the-world')),
    parse: play,
    growing: {
      'names in one request': (size): Play => ({
        variant: 'delta',
        events: [
          {
            type: 'request',
            request: readRequest(
              create(DeltaDiscoveryRequestSchema, {
                node: { id: '~' },
                typeUrl: typeUrls.endpoint,
                resourceNamesSubscribe: times(size).map((index) => `c${index}`),
              }),
            ),
          },
        ],
      }),
    },
  }),
  fuzzed({
    name: 'bytes of requests',
    inputs: bytes,
    parse: decoded,
    growing: {
      'names in one request': (size) => Buffer.alloc(size * 4, Buffer.from([0x1a, 2, 0x61, 0x62])),
    },
  }),
  fuzzed({
    name: 'nodes of proxies',
    inputs: fc.record({
      id,
      cluster: odd,
      metadata: metadata as fc.Arbitrary<JsonObject>,
      locality,
    }),
    parse: allOf,
    growing: {
      addresses: (size) => ({
        id: 'sidecar~10.0.0.1~a.b~c',
        cluster: 'a.b',
        metadata: {
          INSTANCE_IPS: times(size)
            .map((index) => `10.0.${index >> 8}.${index & 255}`)
            .join(','),
        },
        locality: noLocality,
      }),
      labels: (size) => ({
        id: 'sidecar~10.0.0.1~a.b~c',
        cluster: 'a.b',
        metadata: { LABELS: Object.fromEntries(times(size).map((index) => [`l${index}`, 'a'])) },
        locality: noLocality,
      }),
    },
  }),
  fuzzed({
    name: 'pieces of messages',
    inputs: fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 12 }),
    parse: (pieces) => pieces.reduce(afterPiece, noMessage),
    growing: { pieces: (size) => times(size).map(() => new Uint8Array(3)) },
  }),
];
