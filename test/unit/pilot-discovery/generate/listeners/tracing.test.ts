import { describe, expect, it } from 'vitest';
import { HttpConnectionManagerSchema } from '../../../../../src/shared/proto/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts';
import {
  canonical,
  messageYaml,
  proxyIn,
  replacing,
  reportingIn,
  resourceText,
} from '../../../../support/golden.ts';

const dryRun = (tag: string, key: string) => `
    - tag: istio.authorization.dry_run.${tag}
      metadata:
        kind: { request: {} }
        metadata_key: { key: envoy.filters.http.rbac, path: [{ key: istio_dry_run_${key} }] }`;

const tagsOf = (
  service: string,
  revision: string,
  cluster: string,
  mesh: string,
  namespace: string,
) => `
  custom_tags:${dryRun('allow_policy.name', 'allow_shadow_effective_policy_id')}${dryRun('allow_policy.result', 'allow_shadow_engine_result')}${dryRun('deny_policy.name', 'deny_shadow_effective_policy_id')}${dryRun('deny_policy.result', 'deny_shadow_engine_result')}
    - { tag: istio.canonical_revision, literal: { value: ${revision} } }
    - { tag: istio.canonical_service, literal: { value: ${service} } }
    - { tag: istio.cluster_id, literal: { value: ${cluster} } }
    - { tag: istio.mesh_id, literal: { value: ${mesh} } }
    - { tag: istio.namespace, literal: { value: ${namespace} } }`;

const spans = (sampling: number, further: string) => `
tracing:
  client_sampling: { value: 100 }
  random_sampling: { value: ${sampling} }
  overall_sampling: { value: 100 }
  ${further.trim()}
`;
const usual = tagsOf('unknown', 'latest', 'unknown', 'unknown', 'default');
const none = '{}';

const collector = resourceText(
  'ServiceEntry',
  'collector',
  '{ hosts: [collector.mesh], resolution: STATIC, ports: [{ number: 9411, name: http }] }',
);
const collectorPort = 'service: collector.mesh, port: 9411';
const telemetry = (spec: string, namespace = 'istio-system') =>
  resourceText('Telemetry', `in-${namespace}`, spec, { namespace });

interface Given {
  readonly mesh?: string;
  readonly telemetries?: readonly string[];
  readonly metadata?: string;
  readonly side?: 'client' | 'server';
}

const reportingOf = ({ mesh = '', telemetries = [], metadata = '', side = 'client' }: Given) =>
  reportingIn(mesh, [collector, ...telemetries].join('---\n'), {
    side,
    node: { ...proxyIn(metadata), cluster: 'app.default' },
  });

/** Returns the tracing of a manager; its tags are as they are written, or `TAGS`. */
const tracingOf = (given: Given, tags: 'whole' | 'short' = 'short') => {
  const { spans: tracing } = reportingOf(given).tracing;
  const shorten = replacing('custom_tags', () => 'TAGS');
  return messageYaml(
    HttpConnectionManagerSchema,
    tracing === undefined ? {} : { tracing },
    ...(tags === 'short' ? [shorten] : []),
  );
};
const short = 'custom_tags: TAGS';

describe('the tags of spans', () => {
  it.each<[what: string, given: Given, tags: string]>([
    [
      'name the workload, its cluster, its mesh and its namespace',
      {
        metadata: `
NAMESPACE: shop
CLUSTER_ID: east
MESH_ID: mesh1
LABELS: { service.istio.io/canonical-name: reviews, service.istio.io/canonical-revision: v2 }`,
      },
      tagsOf('reviews', 'v2', 'east', 'mesh1', 'shop'),
    ],
    ['say what is not known', {}, usual],
    [
      'are those of the mesh too, in order of their names',
      {
        mesh: 'defaultConfig: { tracing: { customTags: { z: { header: { name: X-A } }, j: { literal: { value: a } }, istio.canonical_service: { literal: { value: own } } } } }',
      },
      usual
        .replace(
          /\n {4}- { tag: istio.cluster_id/,
          '\n    - { tag: istio.canonical_service, literal: { value: own } }$&',
        )
        .concat('\n    - { tag: j, literal: { value: a } }')
        .concat('\n    - { tag: z, request_header: { name: X-A } }'),
    ],
    [
      'are not those of Istio, if the mesh says so',
      {
        mesh: 'defaultConfig: { tracing: { enableIstioTags: false, customTags: { e: { environment: { name: HOME, defaultValue: none } } } } }',
      },
      'custom_tags: [{ tag: e, environment: { name: HOME, default_value: none } }]',
    ],
  ])('%s', (_, given, tags) => {
    expect(tracingOf(given, 'whole')).toBe(canonical(spans(1, tags)));
  });

  const mesh = `
defaultProviders: { tracing: [a] }
defaultConfig: { tracing: { enableIstioTags: false, customTags: { m: { literal: { value: a } } } } }
extensionProviders: [{ name: a, zipkin: { ${collectorPort} } }]`;
  const namesOf = (telemetries: readonly string[]) =>
    reportingOf({ mesh, telemetries }).tracing.spans?.customTags?.map(({ tag }) => tag);
  const tag = (name: string) => `customTags: { ${name}: { literal: { value: a } } }`;
  const withoutIstios = 'enableIstioTags: false';

  it.each<[what: string, telemetries: readonly string[], names: readonly string[]]>([
    ['are those of the mesh', [telemetry(`{ tracing: [{ ${withoutIstios} }] }`)], ['m']],
    [
      'are those of a Telemetry alone',
      [telemetry(`{ tracing: [{ ${withoutIstios}, ${tag('a')} }] }`)],
      ['a'],
    ],
    [
      'are those of the last Telemetry that has some',
      [
        telemetry(`{ tracing: [{ ${withoutIstios}, ${tag('a')} }] }`),
        telemetry(`{ tracing: [{ ${tag('b')} }, {}] }`, 'default'),
      ],
      ['b'],
    ],
    [
      'are those of the mesh, if a Telemetry has an empty list',
      [
        telemetry(`{ tracing: [{ ${withoutIstios}, ${tag('a')} }] }`),
        telemetry(`{ tracing: [{ customTags: {} }] }`, 'default'),
      ],
      ['m'],
    ],
  ])('%s, if there is a provider', (_, telemetries, names) => {
    expect(namesOf(telemetries)).toEqual(names);
  });

  it('have those of Istio, if there is a provider and no Telemetry says otherwise', () => {
    expect(namesOf([])).toContain('istio.namespace');
    expect(
      namesOf([
        telemetry(`{ tracing: [{ ${withoutIstios} }] }`),
        telemetry('{ tracing: [{ enableIstioTags: true }] }', 'default'),
      ]),
    ).toContain('istio.namespace');
  });
});

describe('the sampling of spans', () => {
  it.each<[what: string, given: Given, sampling: number]>([
    ['is 1 %', {}, 1],
    ['is that of the mesh', { mesh: 'defaultConfig: { tracing: { sampling: 42.5 } }' }, 42.5],
    ['is 1 % for 0', { mesh: 'defaultConfig: { tracing: { sampling: 0 } }' }, 1],
    [
      'is that of the ProxyConfig of the proxy',
      {
        mesh: 'defaultConfig: { tracing: { sampling: 42.5 } }',
        metadata: 'PROXY_CONFIG: { tracing: { sampling: 7, zipkin: { address: z:1 } } }',
      },
      7,
    ],
    [
      'is 1 % if its ProxyConfig has none',
      {
        mesh: 'defaultConfig: { tracing: { sampling: 42.5 } }',
        metadata: 'PROXY_CONFIG: { concurrency: 2 }',
      },
      1,
    ],
    [
      'is 1 % if its ProxyConfig is wrong',
      { metadata: 'PROXY_CONFIG: { tracing: { sampling: 101 } }' },
      1,
    ],
  ])('%s', (_, given, sampling) => {
    expect(tracingOf(given)).toBe(canonical(spans(sampling, short)));
  });

  it('is 0 if a Telemetry says so', () => {
    const mesh = `
defaultProviders: { tracing: [a] }
defaultConfig: { tracing: { sampling: 50 } }
extensionProviders: [{ name: a, zipkin: { ${collectorPort} } }]`;
    const samplingOf = (telemetries: readonly string[]) =>
      reportingOf({ mesh, telemetries }).tracing.spans?.randomSampling?.value;
    expect(samplingOf([])).toBe(50);
    expect(samplingOf([telemetry('{ tracing: [{ randomSamplingPercentage: 0 }] }')])).toBe(0);
    expect(
      samplingOf([
        telemetry('{ tracing: [{ randomSamplingPercentage: 0 }] }'),
        telemetry('{ tracing: [{ randomSamplingPercentage: 33.3333 }] }', 'default'),
      ]),
    ).toBe(33.3333);
  });

  it('goes by the id of a request, or by each proxy', () => {
    const mesh = `extensionProviders: [{ name: a, zipkin: { ${collectorPort} } }]`;
    const telemetries = [
      telemetry(
        '{ tracing: [{ providers: [{ name: a }] }, { match: { mode: SERVER }, useRequestIdForTraceSampling: false }] }',
      ),
    ];
    const sampledBy = (side: 'client' | 'server') =>
      reportingOf({ mesh, telemetries, side }).tracing.sampledBy;
    expect(sampledBy('client')).toBe('request-id');
    expect(sampledBy('server')).toBe('proxy');
    expect(reportingOf({}).tracing.sampledBy).toBe('request-id');
  });
});

const grpc =
  'grpc_service: { envoy_grpc: { cluster_name: outbound|9411||collector.mesh, authority: collector.mesh }';
const openTelemetry = (fields: string) =>
  `provider: { name: envoy.tracers.opentelemetry, typed_config: { "@type": type.googleapis.com/envoy.config.trace.v3.OpenTelemetryConfig, ${fields} } }`;
const detector = (kind: string, message: string) =>
  `{ name: envoy.tracers.opentelemetry.resource_detectors.${kind}, typed_config: { "@type": type.googleapis.com/envoy.extensions.tracers.opentelemetry.resource_detectors.v3.${message} } }`;
const zipkin = (path: string, further = '') =>
  `provider: { name: envoy.tracers.zipkin, typed_config: { "@type": type.googleapis.com/envoy.config.trace.v3.ZipkinConfig, collector_cluster: outbound|9411||collector.mesh, collector_endpoint: ${path}, shared_span_context: false, collector_endpoint_version: HTTP_JSON, collector_hostname: collector.mesh${further} } }`;
const limited = (length: number) => `max_path_tag_length: ${length}`;
const together = (...lines: readonly string[]) => [short, ...lines].join('\n  ');

describe('the tracer of a provider', () => {
  it.each<[kind: string, provider: string, tracing: string]>([
    [
      'Zipkin',
      `zipkin: { ${collectorPort} }`,
      together(zipkin('/api/v2/spans', ', trace_id_128bit: true')),
    ],
    [
      'Zipkin, with all its settings',
      `zipkin: { ${collectorPort}, path: spans, maxTagLength: 55, enable64bitTraceId: true }`,
      together(limited(55), zipkin('/spans')),
    ],
    [
      'Datadog',
      `datadog: { ${collectorPort}, maxTagLength: 56 }`,
      together(
        limited(56),
        'provider: { name: envoy.tracers.datadog, typed_config: { "@type": type.googleapis.com/envoy.config.trace.v3.DatadogConfig, collector_cluster: outbound|9411||collector.mesh, collector_hostname: collector.mesh, service_name: app.default } }',
      ),
    ],
    [
      'LightStep, by OpenTelemetry',
      `lightstep: { ${collectorPort}, accessToken: secret }`,
      together(
        openTelemetry(
          `${grpc}, initial_metadata: [{ key: lightstep-access-token, value: secret }] }`,
        ),
      ),
    ],
    [
      'SkyWalking, which has a span for each upstream call',
      `skywalking: { ${collectorPort} }`,
      together(
        'spawn_upstream_span: true',
        `provider: { name: envoy.tracers.skywalking, typed_config: { "@type": type.googleapis.com/envoy.config.trace.v3.SkyWalkingConfig, ${grpc} } } }`,
      ),
    ],
    [
      'OpenTelemetry, over gRPC',
      `opentelemetry: { ${collectorPort}, maxTagLength: 0 }`,
      together(openTelemetry(`${grpc} }, service_name: app.default`)),
    ],
    [
      'OpenTelemetry, over gRPC with headers and a timeout',
      `opentelemetry: { ${collectorPort}, maxTagLength: 9, grpc: { timeout: 2s, initialMetadata: [{ name: a, value: b }] } }`,
      together(
        limited(9),
        openTelemetry(
          `${grpc}, timeout: 2s, initial_metadata: [{ key: a, value: b }] }, service_name: app.default`,
        ),
      ),
    ],
    [
      'OpenTelemetry, over HTTP with detectors',
      `opentelemetry: { ${collectorPort}, http: { path: v1/traces, headers: [{ name: a, value: b }] }, resourceDetectors: { dynatrace: {}, environment: {} } }`,
      together(
        openTelemetry(
          `http_service: { http_uri: { uri: collector.mesh/v1/traces, cluster: outbound|9411||collector.mesh, timeout: 3s }, request_headers_to_add: [{ header: { key: a, value: b }, append_action: OVERWRITE_IF_EXISTS_OR_ADD }] }, service_name: app.default, resource_detectors: [${detector('environment', 'EnvironmentResourceDetectorConfig')}, ${detector('dynatrace', 'DynatraceResourceDetectorConfig')}]`,
        ),
      ),
    ],
  ])('is that of %s', (_, provider, tracing) => {
    const mesh = `
defaultProviders: { tracing: [A] }
extensionProviders: [{ name: a, ${provider} }]
enableTracing: false`;
    expect(tracingOf({ mesh })).toBe(canonical(spans(1, tracing)));
  });

  const providers = `
extensionProviders:
  - { name: a, zipkin: { ${collectorPort}, path: /a } }
  - { name: b, zipkin: { ${collectorPort}, path: /b } }
  - { name: nowhere, zipkin: { service: nowhere.mesh, port: 9411 } }
  - { name: file, envoyFileAccessLog: { path: /tmp/a.log } }`;
  const standard = 'defaultProviders: { tracing: [a] }';
  const to = (path: string, sampling = 1) =>
    spans(sampling, together(zipkin(path, ', trace_id_128bit: true')));

  it.each<[what: string, given: Given, tracing: string]>([
    ['is that of the bootstrap, if nobody names one', { mesh: providers }, spans(1, short)],
    ['is none, if tracing is off', { mesh: `enableTracing: false\n${providers}` }, none],
    ['is that of the mesh', { mesh: `${standard}\n${providers}` }, to('/a')],
    [
      'is that of the mesh, if a Telemetry names none',
      {
        mesh: `${standard}\n${providers}`,
        telemetries: [telemetry('{ tracing: [{ randomSamplingPercentage: 5 }] }')],
      },
      to('/a', 5),
    ],
    [
      'is none, if a Telemetry names none and the mesh has none',
      { mesh: providers, telemetries: [telemetry('{ tracing: [{}] }')] },
      none,
    ],
    [
      'is that of the last Telemetry, however its name is written',
      {
        mesh: `${standard}\n${providers}`,
        telemetries: [
          telemetry('{ tracing: [{ providers: [{ name: a }] }] }'),
          telemetry('{ tracing: [{ providers: [{ name: B }] }, {}] }', 'default'),
        ],
      },
      to('/b'),
    ],
    [
      'is none, if nobody knows its name',
      {
        mesh: `${standard}\n${providers}`,
        telemetries: [telemetry('{ tracing: [{ providers: [{ name: c }] }] }')],
      },
      none,
    ],
    [
      'is none, if it takes no spans',
      {
        mesh: `${standard}\n${providers}`,
        telemetries: [telemetry('{ tracing: [{ providers: [{ name: file }] }] }')],
      },
      none,
    ],
    [
      'is none, if its service is not there',
      {
        mesh: `${standard}\n${providers}`,
        telemetries: [telemetry('{ tracing: [{ providers: [{ name: nowhere }] }] }')],
      },
      none,
    ],
    [
      'is none, if it is off',
      {
        mesh: `${standard}\n${providers}`,
        telemetries: [telemetry('{ tracing: [{ disableSpanReporting: true }] }')],
      },
      none,
    ],
    [
      'is there again, if a later Telemetry says so',
      {
        mesh: `${standard}\n${providers}`,
        telemetries: [
          telemetry('{ tracing: [{ disableSpanReporting: true }] }'),
          telemetry('{ tracing: [{ disableSpanReporting: false }] }', 'default'),
        ],
      },
      to('/a'),
    ],
    [
      'may differ between the sides: that of the client',
      {
        mesh: providers,
        telemetries: [
          telemetry(
            '{ tracing: [{ match: { mode: CLIENT }, providers: [{ name: a }] }, { match: { mode: SERVER }, providers: [{ name: b }] }] }',
          ),
        ],
      },
      to('/a'),
    ],
  ])('%s', (_, given, tracing) => {
    expect(tracingOf(given)).toBe(canonical(tracing));
  });
});
