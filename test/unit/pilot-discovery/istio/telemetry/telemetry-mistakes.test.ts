import { describe, expect, it } from 'vitest';
import { readMeshConfig } from '../../../../../src/pilot-discovery/istio/mesh/read-mesh-config.ts';
import { readResources } from '../../../../../src/pilot-discovery/istio/documents/read-resources.ts';
import type { Flaw } from '../../../../../src/pilot-discovery/istio/documents/model.ts';

const flawLines = (flaws: readonly Flaw[]) =>
  flaws.map(
    ({ origin, field, reason, severity }) => `${severity} ${origin.line} ${field}: ${reason}`,
  );

/** Returns the flaws of a Telemetry: the severity, the line, the field and a sentence. */
const flawsOf = (spec: string) =>
  flawLines(
    readResources(
      `apiVersion: telemetry.istio.io/v1\nkind: Telemetry\nmetadata: { name: a }\nspec:\n${spec.replace(/^/gm, '  ')}\n`,
      { source: 'files', path: 'a.yaml', defaultNamespace: 'default' },
    ).flaws,
  );

const logging = (entry: string) => `accessLogging:\n  - ${entry}`;
const filter = (expression: string) =>
  logging(`{ providers: [{ name: a }], filter: { expression: ${JSON.stringify(expression)} } }`);
const refusedAtCharacter =
  '6 spec.accessLogging[0].filter.expression: Envoy refuses it: at character';

describe('a mistake in the access logs of a Telemetry', () => {
  it.each<[spec: string, reason: string]>([
    ['accessLog: []', 'warning 5 spec.accessLog: there is no such field'],
    ['accessLogging: {}', 'error 5 spec.accessLogging: {} is not a list'],
    [logging(''), 'error 6 spec.accessLogging[0]: it is null: leave it out, or say what it is'],
    [logging('{ providers: a }'), "error 6 spec.accessLogging[0].providers: 'a' is not a list"],
    [
      logging('{ providers: [{}] }'),
      'error 6 spec.accessLogging[0].providers[0].name: it is missing',
    ],
    [
      logging('{ providers: [{ nmae: a }] }'),
      'error 6 spec.accessLogging[0].providers[0].name: it is missing',
    ],
    [
      logging('{ provider: [{ name: a }] }'),
      'warning 6 spec.accessLogging[0].provider: there is no such field: did you mean providers?',
    ],
    [
      logging('{ match: { mode: BOTH } }'),
      "error 6 spec.accessLogging[0].match.mode: 'BOTH' is not one of CLIENT_AND_SERVER, CLIENT, SERVER",
    ],
    [
      logging('{ disabled: "true" }'),
      "error 6 spec.accessLogging[0].disabled: 'true' is not true or false",
    ],
    [
      logging('{ filter: { expression: response.code >= 400 } }'),
      'warning 6 spec.accessLogging[0].filter: it applies only to the providers of this entry, and there are none',
    ],
    [filter(''), 'error 6 spec.accessLogging[0].filter.expression: it is missing'],
    [filter('response.code >='), `error ${refusedAtCharacter} 17: it ends too early`],
    [filter('response.code = 400'), `error ${refusedAtCharacter} 15: = cannot be here`],
    [filter('response.code & 400'), `error ${refusedAtCharacter} 15: & cannot be here`],
    [filter("request.path == 'a"), `error ${refusedAtCharacter} 17: ' cannot be here`],
    [filter('true and false'), `error ${refusedAtCharacter} 6: and cannot be here`],
    [filter('for == 1'), `error ${refusedAtCharacter} 1: for is a reserved word of CEL`],
    [filter('string(1)'), `error ${refusedAtCharacter} 1: Envoy has no string() of 1 arguments`],
    [filter('a.b(1)'), `error ${refusedAtCharacter} 3: Envoy has no .b() of 1 arguments`],
    [
      filter('[1].exists(x, x > 0)'),
      `error ${refusedAtCharacter} 5: Envoy has no loops such as exists()`,
    ],
    [
      filter("request.path.matches('(')"),
      `error ${refusedAtCharacter} 14: '(' is not a regular expression of RE2: a ) is missing`,
    ],
    [
      filter('has(request)'),
      `error ${refusedAtCharacter} 1: has() takes a field: has(request.headers.name)`,
    ],
    [
      filter('9'.repeat(20)),
      `error ${refusedAtCharacter} 1: ${'9'.repeat(20)} is more than 9223372036854775807`,
    ],
    [filter('a.B{}'), `error ${refusedAtCharacter} 4: a message cannot be made here`],
    [
      filter(`${'('.repeat(99)}1${')'.repeat(99)}`),
      `error ${refusedAtCharacter} 25: it has more than 24 levels`,
    ],
    [
      filter('1+'.repeat(3_000)),
      'error 6 spec.accessLogging[0].filter.expression: Envoy refuses it: it has more than 4096 characters',
    ],
    [
      filter('code >= 400'),
      "warning 6 spec.accessLogging[0].filter.expression: Envoy knows no 'code', so nothing is logged: one of request, response, connection, source, destination, upstream, metadata, filter_state, upstream_filter_state, xds",
    ],
    ['selector: {}', 'warning 5 spec.selector: it has no labels, so it selects all workloads'],
    [
      'targetRefs: [{ kind: Gateway, name: a }]',
      "error 5 spec.targetRefs[0]: 'Gateway' is not one of Service, networking.istio.io/ServiceEntry, gateway.networking.k8s.io/Gateway, gateway.networking.k8s.io/GatewayClass",
    ],
    [
      'targetRefs: [{ kind: Service, name: a, namespace: b }]',
      'error 5 spec.targetRefs[0].namespace: it may only name resources of its own namespace: leave it out',
    ],
    [
      'targetRefs: [{ kind: Service, name: a }]',
      'warning 4 spec: it is for gateways or services (targetRefs), and has no effect',
    ],
    [
      'targetRefs: [{ kind: Service, name: a }]\nselector: { matchLabels: { a: b } }',
      'error 4 spec: it cannot have both a selector and targetRefs',
    ],
    [
      'targetRefs: [{ kind: Service, name: a }]\ntargetRef: { kind: Service, name: a }',
      'error 4 spec: it has both targetRef and targetRefs',
    ],
    [
      'metrics: [{}]',
      "warning 5 spec.metrics: Envoy has no filter for Istio's metrics: it has no effect, and Envoy's own statistics stay",
    ],
    [
      'metrics: [{ overrides: [{ tagOverrides: { a: {} } }] }]',
      'error 5 spec.metrics[0].overrides[0].tagOverrides.a: it needs the value of the tag',
    ],
    [
      'metrics: [{ overrides: [{ match: { metric: REQUESTS } }] }]',
      "error 5 spec.metrics[0].overrides[0].match.metric: 'REQUESTS' is not one of ALL_METRICS, REQUEST_COUNT, REQUEST_DURATION, REQUEST_SIZE, RESPONSE_SIZE, TCP_OPENED_CONNECTIONS, TCP_CLOSED_CONNECTIONS, TCP_SENT_BYTES, TCP_RECEIVED_BYTES, GRPC_REQUEST_MESSAGES, GRPC_RESPONSE_MESSAGES",
    ],
  ])('%s', (spec, reason) => {
    expect(flawsOf(spec)).toContain(reason);
  });

  it('is none in what is right', () => {
    const right = `selector: { matchLabels: { app: a } }
accessLogging:
  - match: { mode: CLIENT }
    providers: [{ name: a }, { name: b }]
    filter: { expression: "!(request.url_path in ['/a', '/b']) && response.code >= 400u" }
  - disabled: true`;
    expect(flawsOf(right)).toEqual([]);
  });
});

/** Returns the flaws of a MeshConfig. */
const meshFlawsOf = (mesh: string) => flawLines(readMeshConfig(mesh, 'mesh.yaml').flaws);
const provider = (kind: string) => `extensionProviders:\n  - name: a\n    ${kind}`;
const firstProvider = 'extensionProviders[0]';

describe('a mistake in the providers of a MeshConfig', () => {
  it.each<[mesh: string, reason: string]>([
    ['extensionProviders: a', "error 1 extensionProviders: 'a' is not a list"],
    ['extensionProviders: [{ prometheus: {} }]', `error 1 ${firstProvider}.name: it is missing`],
    [
      `${provider('prometheus: {}')}\n  - name: a\n    stackdriver: {}`,
      "error 4 extensionProviders[1].name: 'a' is there twice",
    ],
    [
      provider('envoyFileAccessLog: {}\n    prometheus: {}'),
      `error 2 ${firstProvider}: it is of several kinds: envoyFileAccessLog, prometheus`,
    ],
    [
      provider('envoyFileLog: {}'),
      `warning 2 ${firstProvider}: it has no effect: give one of envoyFileAccessLog, envoyHttpAls, envoyTcpAls, envoyOtelAls, prometheus, stackdriver, zipkin, lightstep, datadog, skywalking, opentelemetry, opencensus, sds`,
    ],
    [
      provider('envoyFileAccessLog: { path: 1 }'),
      `error 3 ${firstProvider}.envoyFileAccessLog.path: 1 is not a text`,
    ],
    [
      provider('envoyFileAccessLog: { logFormat: { text: "%NOTHING%" } }'),
      `error 3 ${firstProvider}.envoyFileAccessLog.logFormat.text: Envoy has no %NOTHING%: write %% for a percent sign`,
    ],
    [
      provider('envoyFileAccessLog: { logFormat: { labels: { a: { b: ["%REQ%"] } } } }'),
      `error 3 ${firstProvider}.envoyFileAccessLog.logFormat.labels.a.b[0]: %REQ% needs arguments: %REQ(...)%`,
    ],
    [
      provider('envoyFileAccessLog: { logFormat: { labels: a } }'),
      `error 3 ${firstProvider}.envoyFileAccessLog.logFormat.labels: it is not an object`,
    ],
    [
      provider(
        `envoyFileAccessLog: { logFormat: { labels: ${'{ a: '.repeat(12)}b${' }'.repeat(12)} } }`,
      ),
      `error 3 ${firstProvider}.envoyFileAccessLog.logFormat.labels.a.a.a.a.a.a.a.a.a.a: it is more than 10 levels deep`,
    ],
    [
      provider('envoyFileAccessLog: { logFormat: { text: a, labels: {} } }'),
      `error 3 ${firstProvider}.envoyFileAccessLog.logFormat: it has both text and labels: one of them counts`,
    ],
    [
      provider('envoyHttpAls: { port: 80 }'),
      `error 3 ${firstProvider}.envoyHttpAls.service: it is missing`,
    ],
    [
      provider('envoyHttpAls: { service: a }'),
      `error 3 ${firstProvider}.envoyHttpAls.port: it is missing`,
    ],
    [
      provider('envoyTcpAls: { service: a/b/c, port: 80 }'),
      `error 3 ${firstProvider}.envoyTcpAls.service: 'a/b/c' is not a service: give HOST, or NAMESPACE/HOST`,
    ],
    [
      provider('envoyTcpAls: { service: "*.a", port: 80 }'),
      `error 3 ${firstProvider}.envoyTcpAls.service: '*.a' is not a service: give HOST, or NAMESPACE/HOST`,
    ],
    [
      provider('envoyOtelAls: { service: a, port: 65536 }'),
      `error 3 ${firstProvider}.envoyOtelAls.port: 65536 is not a whole number from 1 to 65535`,
    ],
    [
      provider('envoyOtelAls: { service: a, port: 80, logFormat: { labels: { a: "%REQ%" } } }'),
      `error 3 ${firstProvider}.envoyOtelAls.logFormat.labels.a: %REQ% needs arguments: %REQ(...)%`,
    ],
    [
      provider('envoyHttpAls: { service: a, port: 80, additionalRequestHeadersToLog: ["a b"] }'),
      `error 3 ${firstProvider}.envoyHttpAls.additionalRequestHeadersToLog[0]: 'a b' is not a valid name of a header`,
    ],
    [
      provider('prometheus: {}'),
      `warning 3 ${firstProvider}.prometheus: Envoy has no filter for Istio's metrics: it has no effect, and Envoy's own statistics stay`,
    ],
    [
      'defaultProviders: { accessLogging: a }',
      "error 1 defaultProviders.accessLogging: 'a' is not a list",
    ],
    [
      'defaultProviders: { accesLogging: [a] }',
      'warning 1 defaultProviders.accesLogging: it has no effect here',
    ],
  ])('%s', (mesh, reason) => {
    expect(meshFlawsOf(mesh)).toContain(reason);
  });

  it('is none in what is right', () => {
    const right = `defaultProviders: { accessLogging: [a, envoy] }
extensionProviders:
  - { name: a, envoyFileAccessLog: { logFormat: { labels: { a: "%REQ_WITHOUT_QUERY(:PATH)%", b: [1, true, null] } } } }
  - { name: b, envoyTcpAls: { service: shop/collector.example.com, port: 4317 } }
  - { name: c, envoyHttpAls: { service: 192.0.2.1, port: 4317 } }`;
    expect(meshFlawsOf(right)).toEqual([]);
  });
});
