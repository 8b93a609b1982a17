import { describe, expect, it } from 'vitest';
import { bootstrap } from '../../../../src/pilot-agent/bootstrap/envoy-bootstrap.ts';
import type { BootstrapInputs } from '../../../../src/pilot-agent/bootstrap/bootstrap-inputs.ts';
import type {
  ProxyConfig,
  RemoteService,
  Tracing,
} from '../../../../src/pilot-agent/config/proxy-config.ts';
import { activeFilter } from '../../../../src/proxy/admin-questions.ts';
import { readinessFilter } from '../../../../src/pilot-agent/status/probe/readiness.ts';
import { type GoldenCase, inputsOf, tls } from '../../../golden/cases.ts';

/** The part of Envoy's bootstrap that these tests read. */
interface Document {
  readonly admin: { readonly address: unknown };
  readonly static_resources: {
    readonly clusters: readonly {
      readonly name: string;
      readonly load_assignment: { readonly cluster_name: string; readonly endpoints: unknown };
    }[];
    readonly listeners: readonly {
      readonly name: string;
      readonly stat_prefix: string;
      readonly address: unknown;
    }[];
  };
  readonly stats_config: {
    readonly stats_tags: readonly { readonly tag_name: string; readonly regex: string }[];
    readonly stats_matcher: { readonly inclusion_list: { readonly patterns: readonly Pattern[] } };
  };
  readonly tracing?: unknown;
  readonly cluster_manager?: unknown;
}
interface Pattern {
  readonly prefix?: string;
  readonly suffix?: string;
  readonly safe_regex?: { readonly regex: string };
}

const noTracer: Tracing = {
  zipkin: undefined,
  lightstep: undefined,
  datadog: undefined,
  stackdriver: undefined,
  openTelemetry: undefined,
  tlsSettings: undefined,
};
const service: RemoteService = {
  address: 'reports:1',
  tlsSettings: undefined,
  tcpKeepalive: undefined,
};
const lightstep = { address: 'lightstep:1', accessToken: 'token', secure: false, cacertPath: '' };

function bootstrapOf(golden: GoldenCase = {}, more: Partial<BootstrapInputs> = {}) {
  const result = bootstrap({ ...inputsOf(golden), ...more });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return {
    document: result.bootstrap as unknown as Document,
    text: JSON.stringify(result.bootstrap),
    warnings: result.warnings,
  };
}
function problems(
  config: Partial<ProxyConfig>,
  more: Partial<BootstrapInputs> = {},
): readonly string[] {
  const result = bootstrap({ ...inputsOf({ config }), ...more });
  return result.ok ? [] : result.problems.map(({ place, text }) => `${place}: ${text}`);
}
const cluster = ({ document }: ReturnType<typeof bootstrapOf>, name: string) =>
  JSON.stringify(document.static_resources.clusters.find((candidate) => candidate.name === name));
const annotated = (annotations: Readonly<Record<string, string>>): GoldenCase => ({
  metadata: { annotations },
});

describe('bootstrap', () => {
  it('asks the status port for readiness, whatever its number (the Go agent 1.6 asks 15020)', () => {
    const result = bootstrapOf({ config: { statusPort: 16_020 } });
    expect(cluster(result, 'agent')).toContain('"port_value":16020');
    expect(
      result.document.static_resources.clusters.find(({ name }) => name === 'agent')
        ?.load_assignment.cluster_name,
    ).toBe('agent');
  });

  it.each<{
    what: string;
    inputs: Partial<BootstrapInputs>;
    config?: Partial<ProxyConfig>;
    listeners: readonly string[];
  }>([
    { what: 'for statistics and for probes', inputs: {}, listeners: ['stats', 'agent'] },
    {
      what: 'none for probes without a status port',
      inputs: {},
      config: { statusPort: 0 },
      listeners: ['stats'],
    },
    { what: 'none at a port of 0', inputs: { prometheusPort: 0, healthPort: 0 }, listeners: [] },
  ])('has listeners $what', ({ inputs, config = {}, listeners }) => {
    expect(
      bootstrapOf({ config }, inputs).document.static_resources.listeners.map(({ name }) => name),
    ).toEqual(listeners);
  });

  it('has listeners whose names and statistics the drain knows', () => {
    for (const { name, stat_prefix: prefix } of bootstrapOf().document.static_resources.listeners) {
      expect(prefix).toBe(name);
      expect(['stats', 'agent']).toContain(name);
    }
  });

  it('listens on IPv6, and asks the admin endpoint there, on a node without IPv4', () => {
    const { document, text } = bootstrapOf({}, { ipv6: true });
    expect(document.admin.address).toEqual({
      socket_address: { address: '::1', port_value: 15_000 },
    });
    expect(document.static_resources.listeners.map(({ address }) => address)).toEqual([
      { socket_address: { address: '::', port_value: 15_090 } },
      { socket_address: { address: '::', port_value: 15_021 } },
    ]);
    expect(text).not.toContain('127.0.0.1');
  });

  it('does not look up what is an address, and names no address in a TLS handshake', () => {
    for (const [discoveryAddress = '', host = ''] of [
      ['10.0.0.1:1', '10.0.0.1'],
      ['[2001:db8::1]:1', '2001:db8::1'],
    ]) {
      const xds = cluster(
        bootstrapOf({ config: { discoveryAddress, controlPlaneAuthPolicy: 'MUTUAL_TLS' } }),
        'xds-grpc',
      );
      expect(xds).toContain('"type":"STATIC"');
      expect(xds).toContain(`"address":"${host}"`);
      expect(xds).not.toContain('sni');
    }
    expect(
      cluster(
        bootstrapOf({
          config: { discoveryAddress: 'pilot:1', controlPlaneAuthPolicy: 'MUTUAL_TLS' },
        }),
        'xds-grpc',
      ),
    ).toContain('"sni":"pilot"');
  });

  it('takes connectTimeout and dnsRefreshRate, the latter as seldom as Envoy allows', () => {
    const config = { connectTimeout: 7_000, dnsRefreshRate: 1, envoyMetricsService: service };
    for (const name of ['xds-grpc', 'envoy_metrics_service']) {
      expect(cluster(bootstrapOf({ config }), name)).toContain('"connect_timeout":"7s"');
      expect(cluster(bootstrapOf({ config }), name)).toContain('"dns_refresh_rate":"0.002s"');
    }
    expect(cluster(bootstrapOf({ config: { dnsRefreshRate: 0 } }), 'xds-grpc')).not.toContain(
      'dns_refresh_rate',
    );
  });

  it('keeps connections alive as Linux can', () => {
    const tcpKeepalive = { probes: 1_000, time: 2 ** 31, interval: 1 };
    expect(
      cluster(
        bootstrapOf({ config: { envoyMetricsService: { ...service, tcpKeepalive } } }),
        'envoy_metrics_service',
      ),
    ).toContain('{"keepalive_probes":127,"keepalive_time":32767,"keepalive_interval":1}');
  });

  it('writes the outlier log where it is told (the Go agent makes no JSON of it)', () => {
    const outlierLogPath = '/var/log/"outliers".log';
    expect(bootstrapOf({}, { outlierLogPath }).document.cluster_manager).toEqual({
      outlier_detection: { event_log_path: outlierLogPath },
    });
    expect(bootstrapOf({}, { outlierLogPath: '' }).document).not.toHaveProperty('cluster_manager');
  });

  it.each([
    ['true', ['local_cluster']],
    ['1', ['local_cluster']],
    ['false', []],
    [undefined, []],
  ])('has a cluster of its own workload if the metadata says so: %s', (given, names) => {
    const metadata = given === undefined ? {} : { ENABLE_SELF_DISCOVERY: given };
    const { document } = bootstrapOf({}, { outlierLogPath: '', metadata });
    const all = document.static_resources.clusters.map(({ name }) => name);
    expect(all.filter((name) => name === 'local_cluster')).toEqual(names);
    expect(document.cluster_manager).toEqual(
      names.length === 0 ? undefined : { local_cluster_name: 'local_cluster' },
    );
  });

  it('matches digits in response codes (the Go agent: the letter d)', () => {
    const regex =
      bootstrapOf().document.stats_config.stats_tags.find(
        ({ tag_name }) => tag_name === 'response_code',
      )?.regex ?? '';
    expect('cluster.a.upstream_rq_503').toMatch(new RegExp(regex));
  });

  it.each<{ what: string; tracing: Tracing; tracer: string; collector: string | undefined }>([
    {
      what: 'zipkin',
      tracing: { ...noTracer, zipkin: { address: 'a:1' }, lightstep, datadog: { address: 'b:1' } },
      tracer: 'zipkin',
      collector: 'zipkin',
    },
    {
      what: 'lightstep',
      tracing: { ...noTracer, lightstep, datadog: { address: 'b:1' } },
      tracer: 'opentelemetry',
      collector: 'lightstep',
    },
    {
      what: 'datadog',
      tracing: { ...noTracer, datadog: { address: 'b:1' }, openTelemetry: { address: 'c:1' } },
      tracer: 'datadog',
      collector: 'datadog_agent',
    },
    {
      what: 'OpenTelemetry',
      tracing: { ...noTracer, openTelemetry: { address: 'c:1' } },
      tracer: 'opentelemetry',
      collector: 'opentelemetry_collector',
    },
    { what: 'none', tracing: noTracer, tracer: '', collector: undefined },
  ])('has one tracer: $what', ({ tracing, tracer, collector }) => {
    const { document } = bootstrapOf({ config: { tracing } });
    expect(JSON.stringify(document.tracing ?? '')).toContain(tracer);
    const others = ['prometheus_stats', 'agent', 'xds-grpc'];
    expect(document.static_resources.clusters.map(({ name }) => name)).toEqual([
      ...others,
      ...(collector === undefined ? [] : [collector]),
    ]);
  });

  it('hands the token to LightStep in a header, and says that it speaks OpenTelemetry', () => {
    const result = bootstrapOf({ config: { tracing: { ...noTracer, lightstep } } });
    expect(result.text).toContain('{"key":"lightstep-access-token","value":"token"}');
    expect(result.warnings).toEqual([
      'tracing.lightstep: Envoy no longer has a LightStep tracer: traces go to its address as OpenTelemetry (OTLP over gRPC)',
    ]);
    expect(cluster(result, 'lightstep')).not.toContain('transport_socket');
  });

  it('speaks TLS to LightStep if it is told to, in the old way or the new', () => {
    const old = cluster(
      bootstrapOf({
        config: {
          tracing: { ...noTracer, lightstep: { ...lightstep, secure: true, cacertPath: 'ca' } },
        },
      }),
      'lightstep',
    );
    expect(old).toContain('"trusted_ca":{"filename":"ca"}');
    expect(old).toContain('"sni":"lightstep"');
    expect(
      cluster(
        bootstrapOf({ config: { tracing: { ...noTracer, lightstep, tlsSettings: tls } } }),
        'lightstep',
      ),
    ).toContain('"alpn_protocols":["h2"]');
  });

  it('sends what was for Stackdriver to Google Cloud, and says so', () => {
    const stackdriver = {
      debug: true,
      maxNumberOfAttributes: 200,
      maxNumberOfAnnotations: 201,
      maxNumberOfMessageEvents: 201,
    };
    const { warnings, text } = bootstrapOf({ config: { tracing: { ...noTracer, stackdriver } } });
    expect(warnings).toEqual([
      'tracing.stackdriver: Envoy no longer has a Stackdriver tracer: traces go to telemetry.googleapis.com as OpenTelemetry, without its debug output and its limits',
    ]);
    expect(text).not.toContain('x-goog-user-project');
  });

  it('keeps what readiness and the drain look at, whatever annotations ask for', () => {
    const wanted = [
      'server.state',
      'listener_manager.workers_started',
      'listener_manager.lds.update_success',
      'cluster_manager.cds.update_rejected',
      'http.inbound_0.0.0.0_80.downstream_rq_active',
      'listener.0.0.0.0_80.downstream_cx_active',
      'listener.0.0.0.0_80.http.inbound_0.0.0.0_80.downstream_rq_completed',
      'listener.[__]_80.http.[__]_80.downstream_rq_completed',
      'http.inbound.downstream_cx_upgrades_active',
    ];
    for (const name of wanted.slice(0, 4)) expect(name).toMatch(new RegExp(readinessFilter));
    for (const name of wanted.slice(4, -1)) expect(name).toMatch(new RegExp(activeFilter));
    for (const golden of [
      {},
      annotated({
        'sidecar.istio.io/statsInclusionPrefixes': 'x',
        'sidecar.istio.io/statsInclusionRegexps': 'y',
      }),
    ]) {
      const { patterns } = bootstrapOf(golden).document.stats_config.stats_matcher.inclusion_list;
      const included = (name: string) =>
        patterns.some(({ prefix, suffix, safe_regex: expression }) =>
          prefix !== undefined
            ? name.startsWith(prefix)
            : suffix !== undefined
              ? name.endsWith(suffix)
              : new RegExp(`^(?:${expression?.regex ?? ''})$`).test(name),
        );
      expect(wanted.filter((name) => !included(name))).toEqual([]);
      expect(
        [
          'http.a.downstream_rq_total',
          'cluster.a.upstream_rq_total',
          'http.a.downstream_rq_completed',
        ].filter(included),
      ).toEqual([]);
    }
  });

  it('writes the addresses of the node into patterns as Envoy does into names, each once', () => {
    const golden = annotated({
      'sidecar.istio.io/statsInclusionSuffixes': ' {pod_ip}.x ,,y',
      'sidecar.istio.io/statsInclusionRegexps': 'http\\.{pod_ip}_.*',
    });
    const { patterns } = bootstrapOf(golden, { addresses: ['10.0.0.1', '2001:db8::1', '10.0.0.1'] })
      .document.stats_config.stats_matcher.inclusion_list;
    expect(patterns.flatMap(({ suffix }) => suffix ?? []).slice(0, 3)).toEqual([
      '10.0.0.1.x',
      '2001_db8__1.x',
      'y',
    ]);
    expect(
      patterns.flatMap(({ safe_regex: expression }) => expression?.regex ?? []).slice(0, 2),
    ).toEqual(['http\\.10\\.0\\.0\\.1_.*', 'http\\.2001_db8__1_.*']);
  });

  it('leaves out an expression that Envoy would not take, with a warning', () => {
    const { warnings, text } = bootstrapOf(
      annotated({ 'sidecar.istio.io/statsInclusionRegexps': 'good.*,(?=bad)' }),
    );
    expect(warnings).toEqual([
      "sidecar.istio.io/statsInclusionRegexps: '(?=bad)' is left out: '(?=b' is not known to RE2",
    ]);
    expect(text).toContain('"good.*"');
    expect(text).not.toContain('"(?=bad)"}');
  });

  it('takes a label for what it is, and leaves out one that is too long for Envoy', () => {
    const { document, warnings } = bootstrapOf({
      config: { extraStatTags: ['a.b', 'reporter', '', 'x'.repeat(1_100)] },
    });
    const tags = document.stats_config.stats_tags;
    expect(tags.find(({ tag_name }) => tag_name === 'a.b')?.regex).toBe('(a\\.b=\\.=(.*?);\\.;)');
    expect(tags).toHaveLength(44);
    expect(warnings).toEqual([
      `extraStatTags: '${'x'.repeat(40)}…' is left out: it is too long for Envoy`,
    ]);
  });

  it.each<{
    config?: Partial<ProxyConfig>;
    inputs?: Partial<BootstrapInputs>;
    messages: readonly string[];
  }>([
    {
      config: { discoveryAddress: 'pilot' },
      messages: ["discoveryAddress: 'pilot' is not host:port"],
    },
    {
      config: { controlPlaneAuthPolicy: 'MUTUAL_TLS' },
      inputs: { sans: [] },
      messages: [
        'controlPlaneAuthPolicy: MUTUAL_TLS needs a name that the certificate of the control plane has',
      ],
    },
    {
      inputs: { prometheusPort: 15_000 },
      messages: [
        'ENVOY_PROMETHEUS_PORT: 15000 is the port of proxyAdminPort already: give one of them another',
      ],
    },
    {
      inputs: { healthPort: 15_090 },
      messages: [
        'ENVOY_STATUS_PORT: 15090 is the port of ENVOY_PROMETHEUS_PORT already: give one of them another',
      ],
    },
    {
      config: { statusPort: 15_000 },
      messages: [
        'statusPort: 15000 is the port of proxyAdminPort already: give one of them another',
      ],
    },
    { config: { statusPort: 0 }, inputs: { prometheusPort: 0, healthPort: 15_000 }, messages: [] },
  ])('says what keeps it from being made: $messages', ({ config = {}, inputs = {}, messages }) => {
    expect(problems(config, inputs)).toEqual(messages);
  });

  it('says all of it at once', () => {
    expect(problems({ discoveryAddress: 'x', statusPort: 15_000 })).toHaveLength(2);
  });

  it.each<{ config: Partial<ProxyConfig>; messages: readonly string[] }>([
    {
      config: { statsdUdpAddress: 'statsd:9125' },
      messages: ["statsdUdpAddress: 'statsd:9125' is not ip:port: nothing is sent to it"],
    },
    {
      config: { tracing: { ...noTracer, zipkin: { address: 'x' } } },
      messages: ["tracing.zipkin.address: 'x' is not host:port: no traces are sent"],
    },
    {
      config: { tracing: { ...noTracer, lightstep: { ...lightstep, accessToken: 'a\nb' } } },
      messages: [
        'tracing.lightstep.accessToken: has a character that no HTTP header can carry: no traces are sent',
      ],
    },
    {
      config: {
        tracing: {
          ...noTracer,
          datadog: { address: 'd:1' },
          tlsSettings: { ...tls, mode: 'SIMPLE', sni: 'a b' },
        },
      },
      messages: ['tracing.tlsSettings.sni: is not the name of a server: no traces are sent'],
    },
  ])('serves without what is not needed, with a warning: $messages', ({ config, messages }) => {
    const { warnings, document } = bootstrapOf({ config });
    expect(warnings.filter((text) => !text.startsWith('tracing.lightstep: '))).toEqual(messages);
    expect({ ...document, node: {} }).toEqual({ ...bootstrapOf().document, node: {} });
  });

  it.each<{ config: Partial<ProxyConfig>; messages: readonly string[] }>([
    {
      config: { envoyMetricsService: { ...service, address: 'x' } },
      messages: ["envoyMetricsService.address: 'x' is not host:port"],
    },
    {
      config: { envoyAccessLogService: { ...service, address: 'x' } },
      messages: ["envoyAccessLogService.address: 'x' is not host:port"],
    },
    {
      config: { envoyMetricsService: { ...service, tlsSettings: { ...tls, mode: 'MUTUAL' } } },
      messages: [
        'envoyMetricsService.tlsSettings.clientCertificate: is missing: MUTUAL wants the certificate of the client',
        'envoyMetricsService.tlsSettings.privateKey: is missing: MUTUAL wants the key of the client',
      ],
    },
  ])(
    'has a cluster without endpoints for a service that is wrong, which listeners may name: $messages',
    ({ config, messages }) => {
      const { warnings, document } = bootstrapOf({ config });
      expect(warnings).toEqual(messages.map((text) => `${text}: nothing is reported to it`));
      const empty = document.static_resources.clusters.filter(({ name }) =>
        /^envoy_(?:metrics|accesslog)_service$/.test(name),
      );
      expect(empty).toEqual([
        {
          name: expect.any(String) as unknown,
          type: 'STATIC',
          connect_timeout: expect.any(String) as unknown,
          load_assignment: { cluster_name: empty[0]?.name, endpoints: [] },
        },
      ]);
    },
  );
});
