import { describe, expect, it } from 'vitest';
import { readMeshConfig } from '../../../../../src/pilot-discovery/istio/mesh/read-mesh-config.ts';
import { readResources } from '../../../../../src/pilot-discovery/istio/documents/read-resources.ts';
import type { Flaw } from '../../../../../src/pilot-discovery/istio/documents/model.ts';

const flawLines = (flaws: readonly Flaw[]) =>
  flaws.map(
    ({ origin, field, reason, severity }) => `${severity} ${origin.line} ${field}: ${reason}`,
  );

/**
 * Returns the flaws of the `tracing` of a Telemetry: the severity, the line, the field, a sentence.
 */
const flawsOf = (tracing: string) =>
  flawLines(
    readResources(
      `apiVersion: telemetry.istio.io/v1\nkind: Telemetry\nmetadata: { name: a }\nspec:\n  tracing: ${tracing}\n`,
      { source: 'files', path: 'a.yaml', defaultNamespace: 'default' },
    ).flaws,
  );
const entry = 'spec.tracing[0]';

describe('a mistake in the tracing of a Telemetry', () => {
  it.each<[tracing: string, reason: string]>([
    ['{}', 'error 5 spec.tracing: {} is not a list'],
    ['[~]', `error 5 ${entry}: it is null: leave it out, or say what it is`],
    ['[a]', `error 5 ${entry}: 'a' is not an object`],
    [
      '[{ provider: [] }]',
      `warning 5 ${entry}.provider: there is no such field: did you mean providers?`,
    ],
    ['[{ providers: a }]', `error 5 ${entry}.providers: 'a' is not a list`],
    ['[{ providers: [{}] }]', `error 5 ${entry}.providers[0].name: it is missing`],
    [
      '[{ providers: [{ name: a }, { name: b }] }]',
      `warning 5 ${entry}.providers: only the first one, a, has an effect`,
    ],
    [
      '[{ match: { mode: BOTH } }]',
      `error 5 ${entry}.match.mode: 'BOTH' is not one of CLIENT_AND_SERVER, CLIENT, SERVER`,
    ],
    ['[{ match: CLIENT }]', `error 5 ${entry}.match: 'CLIENT' is not an object`],
    [
      '[{ disableSpanReporting: "true" }]',
      `error 5 ${entry}.disableSpanReporting: 'true' is not true or false`,
    ],
    ['[{ enableIstioTags: 1 }]', `error 5 ${entry}.enableIstioTags: 1 is not true or false`],
    [
      '[{ useRequestIdForTraceSampling: no_ }]',
      `error 5 ${entry}.useRequestIdForTraceSampling: 'no_' is not true or false`,
    ],
    [
      '[{ randomSamplingPercentage: 101 }]',
      `error 5 ${entry}.randomSamplingPercentage: 101 is not a percentage from 0 to 100`,
    ],
    [
      '[{ randomSamplingPercentage: -1 }]',
      `error 5 ${entry}.randomSamplingPercentage: -1 is not a percentage from 0 to 100`,
    ],
    [
      '[{ randomSamplingPercentage: "5" }]',
      `error 5 ${entry}.randomSamplingPercentage: '5' is not a percentage from 0 to 100`,
    ],
    ['[{ randomSampling: 5 }]', `warning 5 ${entry}.randomSampling: there is no such field`],
    ['[{ customTags: [a] }]', `error 5 ${entry}.customTags: ["a"] is not an object`],
    ['[{ customTags: { a: b } }]', `error 5 ${entry}.customTags.a: 'b' is not an object`],
    [
      '[{ customTags: { a: {} } }]',
      `error 5 ${entry}.customTags.a: it needs exactly one of literal, environment, header`,
    ],
    [
      '[{ customTags: { a: ~ } }]',
      `error 5 ${entry}.customTags.a: it needs exactly one of literal, environment, header`,
    ],
    [
      '[{ customTags: { a: { literal: { value: a }, header: { name: a } } } }]',
      `error 5 ${entry}.customTags.a: it needs exactly one of literal, environment, header`,
    ],
    [
      '[{ customTags: { "": { literal: { value: a } } } }]',
      `error 5 ${entry}.customTags: a tag has no name`,
    ],
    [
      '[{ customTags: { a: { literal: { value: "" } } } }]',
      `error 5 ${entry}.customTags.a.literal.value: it is missing`,
    ],
    [
      '[{ customTags: { a: { literal: a } } }]',
      `error 5 ${entry}.customTags.a.literal: 'a' is not an object`,
    ],
    [
      '[{ customTags: { a: { environment: {} } } }]',
      `error 5 ${entry}.customTags.a.environment.name: it is missing`,
    ],
    [
      '[{ customTags: { a: { header: { defaultValue: b } } } }]',
      `error 5 ${entry}.customTags.a.header.name: it is missing`,
    ],
    [
      '[{ customTags: { a: { header: { name: a b } } } }]',
      `error 5 ${entry}.customTags.a.header.name: 'a b' is not a valid name of a header`,
    ],
    [
      '[{ customTags: { a: { header: { name: a, default: b } } } }]',
      `warning 5 ${entry}.customTags.a.header.default: there is no such field`,
    ],
  ])('%s', (tracing, reason) => {
    expect(flawsOf(tracing)).toContain(reason);
  });

  it('is none in what is right', () => {
    expect(
      flawsOf(`
    - match: { mode: CLIENT_AND_SERVER }
      providers: [{ name: a }]
      randomSamplingPercentage: 33.3
      disableSpanReporting: false
      enableIstioTags: true
      useRequestIdForTraceSampling: false
      customTags:
        a: { literal: { value: a } }
        b: { header: { name: ":path", defaultValue: b } }
        c: { environment: { name: HOME } }
    - customTags: {}`),
    ).toEqual([]);
  });
});

/** Returns the flaws of a MeshConfig. */
const meshFlawsOf = (mesh: string) => flawLines(readMeshConfig(mesh, 'mesh.yaml').flaws);
const provider = (kind: string) => `extensionProviders:\n  - name: a\n    ${kind}`;
const firstProvider = 'extensionProviders[0]';
const serviceAndPort = 'service: a, port: 80';

describe('a mistake in the tracing of a MeshConfig', () => {
  it.each<[mesh: string, reason: string]>([
    ['enableTracing: "no"', "error 1 enableTracing: 'no' is not true or false"],
    ['defaultProviders: { tracing: a }', "error 1 defaultProviders.tracing: 'a' is not a list"],
    ['defaultProviders: { tracing: [""] }', 'error 1 defaultProviders.tracing[0]: it is missing'],
    [
      'defaultProviders: { tracing: [a, b] }',
      'warning 1 defaultProviders.tracing: only the first one, a, has an effect',
    ],
    [
      'defaultProviders: { tracing: [a] }',
      'warning 1 defaultProviders.tracing[0]: no extensionProvider that is served has the name a',
    ],
    [
      'defaultProviders: { tracing: [Envoy] }',
      'warning 1 defaultProviders.tracing[0]: the extensionProvider Envoy takes no spans',
    ],
    [
      `defaultProviders: { accessLogging: [a, b] }\n${provider(`zipkin: { ${serviceAndPort} }`)}`,
      'warning 1 defaultProviders.accessLogging[0]: the extensionProvider a takes no access logs',
    ],
    [
      `defaultProviders: { accessLogging: [a, b] }\n${provider(`zipkin: { ${serviceAndPort} }`)}`,
      'warning 1 defaultProviders.accessLogging[1]: no extensionProvider that is served has the name b',
    ],
    ['defaultConfig: a', "error 1 defaultConfig: 'a' is not an object"],
    [
      'defaultConfig: { concurrency: 2 }',
      'warning 1 defaultConfig: only its tracing has an effect here: agents read the rest',
    ],
    [
      'defaultConfig: { tracing: { sampling: 300 } }',
      'error 1 defaultConfig.tracing.sampling: 300 is not a percentage from 0 to 100',
    ],
    [
      'defaultConfig: { tracing: { maxPathTagLength: -1 } }',
      'error 1 defaultConfig.tracing.maxPathTagLength: -1 is not a whole number from 0 to 4294967295',
    ],
    [
      'defaultConfig: { tracing: { zipkin: { address: a:1 } } }',
      'warning 1 defaultConfig.tracing.zipkin: it has no effect here: an agent reads it',
    ],
    [
      'defaultConfig: { tracing: { samplng: 3 } }',
      'warning 1 defaultConfig.tracing.samplng: it has no effect here',
    ],
    [
      'defaultConfig: { tracing: { customTags: { a: {} } } }',
      'error 1 defaultConfig.tracing.customTags.a: it needs exactly one of literal, environment, header',
    ],
    [provider('zipkin: { port: 80 }'), `error 3 ${firstProvider}.zipkin.service: it is missing`],
    [provider('zipkin: { service: a }'), `error 3 ${firstProvider}.zipkin.port: it is missing`],
    [
      provider(`zipkin: { ${serviceAndPort}, path: /a b }`),
      `error 3 ${firstProvider}.zipkin.path: '/a b' is not a path: it has no spaces`,
    ],
    [
      provider(`zipkin: { ${serviceAndPort}, enable64bitTraceId: 1 }`),
      `error 3 ${firstProvider}.zipkin.enable64bitTraceId: 1 is not true or false`,
    ],
    [
      provider(`zipkin: { ${serviceAndPort}, maxTagLength: 4294967296 }`),
      `error 3 ${firstProvider}.zipkin.maxTagLength: 4294967296 is not a whole number from 0 to 4294967295`,
    ],
    [
      provider(`zipkin: { ${serviceAndPort}, adress: a }`),
      `warning 3 ${firstProvider}.zipkin.adress: it has no effect here`,
    ],
    [
      provider('datadog: { service: "*.a", port: 80 }'),
      `error 3 ${firstProvider}.datadog.service: '*.a' is not a service: give HOST, or NAMESPACE/HOST`,
    ],
    [
      provider(`lightstep: { ${serviceAndPort}, accessToken: "a\\nb" }`),
      `error 3 ${firstProvider}.lightstep.accessToken: a line end or NUL cannot be in a header`,
    ],
    [
      provider(`lightstep: { ${serviceAndPort}, accessToken: "%TOKEN%" }`),
      `error 3 ${firstProvider}.lightstep.accessToken: Envoy has no %TOKEN%: write %% for a percent sign`,
    ],
    [
      provider(`skywalking: { ${serviceAndPort}, accessToken: a }`),
      `warning 3 ${firstProvider}.skywalking: its accessToken has no effect, as with istiod`,
    ],
    [
      provider(`opencensus: { ${serviceAndPort} }`),
      `warning 3 ${firstProvider}.opencensus: Envoy no longer has a tracer for it, so it has no effect: use opentelemetry`,
    ],
    [
      provider(`opentelemetry: { ${serviceAndPort}, http: {}, grpc: {} }`),
      `error 3 ${firstProvider}.opentelemetry: it has both http and grpc: one of them counts`,
    ],
    [
      provider(`opentelemetry: { ${serviceAndPort}, http: { timeout: 0s } }`),
      `error 3 ${firstProvider}.opentelemetry.http.timeout: '0s' is not a duration of 1ms or more (such as '500ms' or '1.5s')`,
    ],
    [
      provider(`opentelemetry: { ${serviceAndPort}, http: { headers: [{ value: a }] } }`),
      `error 3 ${firstProvider}.opentelemetry.http.headers[0].name: it is missing`,
    ],
    [
      provider(`opentelemetry: { ${serviceAndPort}, http: { headers: [{ name: a b }] } }`),
      `error 3 ${firstProvider}.opentelemetry.http.headers[0]: 'a b' is not a valid name of a header`,
    ],
    [
      provider(
        `opentelemetry: { ${serviceAndPort}, grpc: { initialMetadata: [{ name: a, envName: TOKEN }] } }`,
      ),
      `error 3 ${firstProvider}.opentelemetry.grpc.initialMetadata[0]: envName is not read: give value, the header as the proxy sends it`,
    ],
    [
      provider(`opentelemetry: { ${serviceAndPort}, resourceDetectors: { enviroment: {} } }`),
      `warning 3 ${firstProvider}.opentelemetry.resourceDetectors.enviroment: it has no effect here`,
    ],
    [
      provider(`opentelemetry: { ${serviceAndPort}, dynatraceSampler: { tenant: a } }`),
      `warning 3 ${firstProvider}.opentelemetry.dynatraceSampler: dynatraceSampler is not served yet, and has no effect`,
    ],
  ])('%s', (mesh, reason) => {
    expect(meshFlawsOf(mesh)).toContain(reason);
  });

  it('is none in what is right', () => {
    const right = `defaultProviders: { tracing: [a] }
enableTracing: true
defaultConfig: { tracing: { sampling: 100, maxPathTagLength: 64, customTags: { a: { literal: { value: b } } }, enableIstioTags: true } }
extensionProviders:
  - { name: a, zipkin: { service: shop/collector.example.com, port: 9411, maxTagLength: 256 } }
  - { name: b, datadog: { service: agent.example.com, port: 8126 } }
  - { name: c, opentelemetry: { service: otel.example.com, port: 4318, http: { path: /v1/traces, timeout: 5s, headers: [{ name: authorization, value: Bearer a }] }, resourceDetectors: { environment: {} } } }
  - { name: d, skywalking: { service: sky.example.com, port: 11800 } }`;
    expect(meshFlawsOf(right)).toEqual([]);
  });
});
