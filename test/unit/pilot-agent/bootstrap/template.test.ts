import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../../src/pilot-agent/bootstrap/proto-json.ts';
import { renderTemplate } from '../../../../src/pilot-agent/bootstrap/template.ts';
import {
  type TemplateInputs,
  templateVariables,
} from '../../../../src/pilot-agent/bootstrap/template-variables.ts';
import type {
  ProxyConfig,
  RemoteService,
  TlsSettings,
  Tracing,
} from '../../../../src/pilot-agent/config/proxy-config.ts';
import { type GoldenCase, inputsOf } from '../../../golden/cases.ts';

const noTracer: Tracing = {
  zipkin: undefined,
  lightstep: undefined,
  datadog: undefined,
  stackdriver: undefined,
  openTelemetry: undefined,
  tlsSettings: undefined,
};
const simple: TlsSettings = {
  mode: 'SIMPLE',
  caCertificates: '/etc/tracing/ca.pem',
  clientCertificate: '',
  privateKey: '',
  sni: '',
  subjectAltNames: [],
};
const service = (changes: Partial<RemoteService>): RemoteService => ({
  address: 'a:1',
  tlsSettings: undefined,
  tcpKeepalive: undefined,
  ...changes,
});

function variables(
  golden: GoldenCase = {},
  more: Partial<TemplateInputs> = {},
): ReadonlyMap<string, Json> {
  const result = templateVariables({ ...inputsOf(golden), ...more });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.variables;
}
const configured = (config: Partial<ProxyConfig>) => variables({ config });

describe('templateVariables', () => {
  it('has all variables of the Go agents, those without a value too', () => {
    const names = `config nodeID cluster region zone sub_zone meta_json_str pilot_SAN MixerSubjectAltName PodName PodNamespace PodIP ControlPlaneAuth
      DisableReportCalls outlier_log_path pilot_cert_provider provisioned_cert sts sts_port gcp_project_id localhost wildcard dns_lookup_family
      discovery_address pilot_grpc_address statsd zipkin lightstep datadog envoy_metrics_service_address envoy_accesslog_service_address
      lightstepToken lightstepSecure lightstepCacertPath stackdriver stackdriverProjectID stackdriverDebug stackdriverMaxAnnotations
      stackdriverMaxAttributes stackdriverMaxEvents tracing_tls envoy_metrics_service_tls envoy_accesslog_service_tls
      envoy_metrics_service_tcp_keepalive envoy_accesslog_service_tcp_keepalive extraStatTags inclusionPrefix inclusionSuffix inclusionRegexps
      connect_timeout dns_refresh_rate sds_uds_path sds_token_path`;
    expect([...variables().keys()].sort()).toEqual(names.trim().split(/\s+/).sort());
  });

  it.each<{ name: string; given: ReadonlyMap<string, Json>; value: Json }>([
    {
      name: 'pilot_SAN',
      given: variables({}, { sans: [{ type: 'URI', value: 'fake' }] }),
      value: '[{"exact":"fake"}]',
    },
    {
      name: 'pilot_SAN',
      given: variables({}, { sans: ['fake', 'other'].map((value) => ({ type: 'DNS', value })) }),
      value: '[{"exact":"fake"},{"exact":"other"}]',
    },
    { name: 'MixerSubjectAltName', given: variables({}, { mixerSan: 'fake' }), value: 'fake' },
    { name: 'MixerSubjectAltName', given: variables(), value: undefined },
    { name: 'connect_timeout', given: configured({ connectTimeout: 1_000 }), value: '1s' },
    { name: 'connect_timeout', given: configured({ connectTimeout: 250 }), value: '0.250s' },
    { name: 'cluster', given: configured({ serviceCluster: 'fake' }), value: 'fake' },
    { name: 'nodeID', given: variables({}, { serviceNode: 'fake' }), value: 'fake' },
    {
      name: 'sub_zone',
      given: variables({}, { locality: { region: '', zone: '', subZone: 'fake' } }),
      value: 'fake',
    },
    { name: 'region', given: variables(), value: undefined },
    {
      name: 'discovery_address',
      given: configured({ discoveryAddress: 'fake:1' }),
      value: 'fake:1',
    },
    { name: 'PodName', given: variables({}, { podName: 'fake' }), value: 'fake' },
    { name: 'PodNamespace', given: variables({}, { podNamespace: 'fake' }), value: 'fake' },
    {
      name: 'meta_json_str',
      given: variables({}, { metadata: { ISTIO_VERSION: 'fake', key: 'value' } }),
      value: '{"ISTIO_VERSION":"fake","key":"value"}',
    },
    // This is always JSON; the Go agent leaves the variable out.
    { name: 'meta_json_str', given: variables({}, { metadata: {} }), value: '{}' },
    { name: 'localhost', given: variables(), value: '127.0.0.1' },
    { name: 'localhost', given: variables({}, { ipv6: true }), value: '::1' },
    { name: 'wildcard', given: variables(), value: '0.0.0.0' },
    { name: 'wildcard', given: variables({}, { ipv6: true }), value: '::' },
    { name: 'dns_lookup_family', given: variables(), value: 'V4_ONLY' },
    { name: 'dns_lookup_family', given: variables({}, { ipv6: true }), value: 'AUTO' },
    {
      name: 'PodIP',
      given: variables({}, { podIp: '127.0.0.1' }),
      value: 'AAAAAAAAAAAAAP//fwAAAQ==',
    },
    {
      name: 'PodIP',
      given: variables({}, { podIp: '2001:db8::1' }),
      value: 'IAENuAAAAAAAAAAAAAAAAQ==',
    },
    { name: 'PodIP', given: variables({}, { podIp: 'none' }), value: '' },
    {
      name: 'ControlPlaneAuth',
      given: configured({ controlPlaneAuthPolicy: 'MUTUAL_TLS' }),
      value: 'enable',
    },
    { name: 'ControlPlaneAuth', given: variables(), value: undefined },
    {
      name: 'DisableReportCalls',
      given: variables({}, { disableInternalTelemetry: true }),
      value: 'true',
    },
    { name: 'DisableReportCalls', given: variables(), value: undefined },
    {
      name: 'pilot_grpc_address',
      given: configured({ discoveryAddress: '127.0.0.1:80' }),
      value: '{"address": "127.0.0.1", "port_value": 80}',
    },
    {
      name: 'lightstep',
      given: configured({
        tracing: {
          ...noTracer,
          lightstep: {
            address: '[2001:db8::100]:80',
            accessToken: 't',
            secure: true,
            cacertPath: '',
          },
        },
      }),
      value: '{"address": "2001:db8::100", "port_value": 80}',
    },
    {
      name: 'zipkin',
      given: configured({ tracing: { ...noTracer, zipkin: { address: 'fake:80' } } }),
      value: '{"address": "fake", "port_value": 80}',
    },
    { name: 'zipkin', given: variables(), value: undefined },
    {
      name: 'datadog',
      given: configured({ tracing: { ...noTracer, datadog: { address: 'fake:80' } } }),
      value: '{"address": "fake", "port_value": 80}',
    },
    {
      name: 'statsd',
      given: configured({ statsdUdpAddress: '127.0.0.1:80' }),
      value: '{"address": "127.0.0.1", "port_value": 80}',
    },
    {
      name: 'envoy_metrics_service_address',
      given: configured({ envoyMetricsService: service({}) }),
      value: '{"address": "a", "port_value": 1}',
    },
    {
      name: 'envoy_accesslog_service_address',
      given: configured({ envoyAccessLogService: service({}) }),
      value: '{"address": "a", "port_value": 1}',
    },
    {
      // This is the token itself; the Go agent names a file.
      name: 'lightstepToken',
      given: configured({
        tracing: {
          ...noTracer,
          lightstep: { address: 'a:1', accessToken: 'fake', secure: true, cacertPath: '' },
        },
      }),
      value: 'fake',
    },
    {
      name: 'stackdriverMaxEvents',
      given: configured({
        tracing: {
          ...noTracer,
          stackdriver: {
            debug: true,
            maxNumberOfAnnotations: 0,
            maxNumberOfAttributes: 0,
            maxNumberOfMessageEvents: 100,
          },
        },
      }),
      value: 100,
    },
    {
      name: 'stackdriverMaxAttributes',
      given: configured({
        tracing: {
          ...noTracer,
          stackdriver: {
            debug: true,
            maxNumberOfAnnotations: 0,
            maxNumberOfAttributes: 0,
            maxNumberOfMessageEvents: 100,
          },
        },
      }),
      value: 200,
    },
    { name: 'envoy_metrics_service_tls', given: variables(), value: undefined },
    {
      // The files are the right way round.
      name: 'envoy_accesslog_service_tls',
      given: configured({
        envoyAccessLogService: service({
          tlsSettings: { ...simple, mode: 'ISTIO_MUTUAL', caCertificates: '' },
        }),
      }),
      value:
        '{"common_tls_context":{"tls_certificates":[{"certificate_chain":{"filename":"/etc/certs/cert-chain.pem"},"private_key":{"filename":"/etc/certs/key.pem"}}],"validation_context":{"trusted_ca":{"filename":"/etc/certs/root-cert.pem"}},"alpn_protocols":["istio","h2"]},"sni":"envoy_accesslog_service"}',
    },
    { name: 'envoy_metrics_service_tcp_keepalive', given: variables(), value: undefined },
    {
      name: 'envoy_metrics_service_tcp_keepalive',
      given: configured({
        envoyMetricsService: service({ tcpKeepalive: { probes: 0, time: 1_000, interval: 0 } }),
      }),
      value: '{"tcp_keepalive":{"keepalive_time":1}}',
    },
    {
      name: 'pilot_cert_provider',
      given: variables({}, { certProvider: 'kubernetes' }),
      value: 'kubernetes',
    },
    { name: 'sts_port', given: variables({}, { stsPort: 5555 }), value: 5555 },
    {
      name: 'gcp_project_id',
      given: variables(
        {},
        { stsPort: 5555, metadata: { PLATFORM_METADATA: { gcp_project: 'project' } } },
      ),
      value: 'project',
    },
    {
      name: 'gcp_project_id',
      given: variables({}, { metadata: { PLATFORM_METADATA: { gcp_project: 'project' } } }),
      value: undefined,
    },
    { name: 'tracing_tls', given: variables(), value: undefined },
    {
      name: 'tracing_tls',
      given: configured({
        tracing: { ...noTracer, zipkin: { address: 'a:1' }, tlsSettings: simple },
      }),
      value:
        '{"name":"tls","typed_config":{"@type":"type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext","common_tls_context":{"validation_context":{"trusted_ca":{"filename":"/etc/tracing/ca.pem"}}}}}',
    },
    { name: 'dns_refresh_rate', given: variables(), value: '300s' },
  ])('$name is $value', ({ name, given, value }) => {
    expect(given.get(name)).toEqual(value);
  });

  it('has the whole ProxyConfig, whose fields are found by their names in Go', () => {
    const result = renderTemplate(
      '{{ .config.DiscoveryAddress }} {{ .config.ServiceCluster }}',
      configured({ discoveryAddress: 'fake:1' }),
    );
    expect(result).toMatchObject({ ok: true, text: 'fake:1 istio-proxy' });
  });

  it('has the patterns that are needed with those of the annotations', () => {
    const given = variables(
      {},
      { metadata: { 'sidecar.istio.io/statsInclusionSuffixes': 'fake' } },
    );
    expect(given.get('inclusionSuffix')).toEqual([
      'fake',
      'downstream_rq_active',
      'downstream_cx_active',
      'downstream_cx_upgrades_active',
    ]);
  });

  it.each(['2001:db8::100:80', 'fake:', '127.0.0.1'])(
    'leaves out a service with the address %s',
    (address) => {
      const result = templateVariables(
        inputsOf({ config: { tracing: { ...noTracer, zipkin: { address } } } }),
      );
      expect(result).toMatchObject({
        ok: true,
        warnings: [`tracing.zipkin.address: '${address}' is not host:port: it is left out`],
      });
      expect(result.ok && result.variables.get('zipkin')).toBeUndefined();
      const discovery = templateVariables(inputsOf({ config: { discoveryAddress: address } }));
      expect(discovery).toEqual({
        ok: false,
        problems: [{ place: 'discoveryAddress', text: `'${address}' is not host:port` }],
      });
    },
  );

  it('leaves out a service whose TLS is wrong, and does not speak plaintext to it instead', () => {
    const tlsSettings = {
      mode: 'MUTUAL',
      caCertificates: '',
      clientCertificate: '',
      privateKey: '/k',
      sni: '',
      subjectAltNames: [],
    } as const;
    const tracing = { ...noTracer, zipkin: { address: 'z:1' }, tlsSettings };
    const result = templateVariables(
      inputsOf({
        config: {
          tracing,
          envoyMetricsService: { address: 'm:1', tlsSettings, tcpKeepalive: undefined },
        },
      }),
    );
    expect(result).toMatchObject({
      ok: true,
      warnings: ['tracing', 'envoyMetricsService'].map(
        (place) =>
          expect.stringMatching(
            new RegExp(
              `^${place}.tlsSettings.clientCertificate: .*: the service with these settings is left out$`,
            ),
          ) as unknown,
      ),
    });
    for (const name of [
      'zipkin',
      'tracing_tls',
      'envoy_metrics_service_address',
      'envoy_metrics_service_tls',
    ])
      expect(result.ok && result.variables.get(name)).toBeUndefined();
  });
});

const rendered = (template: string, values: Readonly<Record<string, Json>> = {}) =>
  renderTemplate(template, new Map(Object.entries(values)));

describe('renderTemplate', () => {
  const values = {
    name: 'value',
    none: undefined,
    port: 80,
    yes: true,
    list: ['a', 'b'],
    config: { proxyAdminPort: 15_000, tracing: undefined },
  };
  it.each([
    ['no action', 'no action'],
    ['{{ .name }}', 'value'],
    ['{{.name}}', 'value'],
    ['a{{ .name }}b{{ .port }}c{{ .yes }}', 'avalueb80ctrue'],
    ['{{ .none }}', ''],
    ['{{ .list }}', '[a b]'],
    ['{{ .config.ProxyAdminPort }}', '15000'],
    ['{{ .config.Tracing.Zipkin }}', ''],
    ['{{ toJSON .name }}', '"value"'],
    ['{{ .name | toJSON }}', '"value"'],
    ['{{.list|toJSON}}', '["a","b"]'],
    ['{{ toJSON .none }}', '{}'],
    ['{{ toJSON .config }}', '{"proxyAdminPort":15000}'],
    ['a {{/* a {{ comment }} */}} b', 'a  b'],
    ['a {{- /* a\ncomment */ -}} b', 'ab'],
    ['a \n\t{{- .name }} b', 'avalue b'],
    ['a {{ .name -}} \n b', 'a valueb'],
    ['a {{- .name -}} b', 'avalueb'],
    ['{{ .name -}} {{- .name }}', 'valuevalue'],
    ['} { "a": {"b": 1}}', '} { "a": {"b": 1}}'],
  ])('makes of %j %j', (template, text) => {
    expect(rendered(template, values)).toEqual({ ok: true, text });
  });

  it('puts values in as they are, trim markers or not', () => {
    expect(rendered('a {{- .x -}} b', { x: ' "{{ .y }}" ' })).toEqual({
      ok: true,
      text: 'a "{{ .y }}" b',
    });
  });

  it.each([
    ['{{ if .name }}', '{{ if }} is not supported: only variables and toJSON are'],
    ['{{- range $i, $e := .list }}', '{{ range }} is not supported: only variables and toJSON are'],
    ['{{ end }}', '{{ end }} is not supported: only variables and toJSON are'],
    ['{{ printf "%s" .name }}', '{{ printf }} is not supported: only variables and toJSON are'],
    ['{{ .name | html }}', '{{ html }} is not supported: only variables and toJSON are'],
    ['{{ $x := .name }}', '{{ $x }} is not supported: only variables and toJSON are'],
    ['{{ . }}', '{{ . }} is not supported: only variables and toJSON are'],
    ['{{ toJSON .name | toJSON }}', '{{ toJSON }} is not supported: only variables and toJSON are'],
    ['{{ .other }}', 'the variable .other is not known'],
    ['{{ .config.Other }}', 'the variable .config.Other is not known'],
    ['{{ .config.toString }}', 'the variable .config.toString is not known'],
    ['{{ .name.length }}', 'the variable .name.length is not known'],
    ['{{ .config }}', 'the variable .config has members: toJSON writes it'],
    ['{{ .name', '{{ is not closed'],
    ['{{/* a comment', '{{ is not closed'],
  ])('refuses %j, with its line', (action, reason) => {
    expect(rendered(`{{ .name }}\n\n  ${action}\n`, values)).toEqual({
      ok: false,
      reason: `line 3: ${reason}`,
    });
  });

  it('refuses one that makes too much of itself', () => {
    const reason = 'it makes a text of more than 4194304 characters, which is the limit';
    expect(rendered('{{ toJSON .name }}'.repeat(10_000), { name: 'x'.repeat(1_000) })).toEqual({
      ok: false,
      reason,
    });
  });

  it('never throws', () => {
    const piece = fc.constantFrom(
      '{{',
      '}}',
      '-',
      ' ',
      '.name',
      '.',
      '|',
      'toJSON',
      '/*',
      '*/',
      '\n',
      'a',
      '"',
    );
    fc.assert(
      fc.property(
        fc.array(piece).map((all) => all.join('')),
        (text) => typeof rendered(text, values).ok === 'boolean',
      ),
    );
  });
});
