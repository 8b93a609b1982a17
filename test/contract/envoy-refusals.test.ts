import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asyncScheduler, lastValueFrom } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findExecutable } from '../../src/pilot-agent/envoy/find-envoy.ts';
import { envoyLogFormat } from '../../src/proxy/envoy-lines.ts';
import { validate } from '../../src/proxy/preflight.ts';
import { explainRefusal } from '../../src/pilot-agent/envoy/explain-refusal.ts';

const binary = execFileSync(process.execPath, ['dist/pilot-agent.cjs', 'envoy', 'path'], {
  encoding: 'utf8',
}).trim();
const inPath = (name: string) => findExecutable(name, process.env['PATH']);
const tools = { mkfifo: inPath('mkfifo'), setpriv: undefined, sh: undefined };

const good = `admin:
  address:
    socket_address: { address: 127.0.0.1, port_value: 19991 }
static_resources:
  listeners:
    - name: ingress
      address:
        socket_address:
          address: 127.0.0.1
          port_value: 19992
      filter_chains:
        - filters:
            - name: envoy.filters.network.http_connection_manager
              typed_config:
                "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                stat_prefix: ingress
                codec_type: AUTO
                route_config:
                  name: local
                  virtual_hosts:
                    - name: all
                      domains: ["*"]
                      routes:
                        - match: { prefix: "/" }
                          route: { cluster: backend, timeout: 5s }
                http_filters:
                  - name: envoy.filters.http.router
                    typed_config:
                      "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
  clusters:
    - name: backend
      type: STATIC
      connect_timeout: 1s
      lb_policy: ROUND_ROBIN
      load_assignment:
        cluster_name: backend
        endpoints:
          - lb_endpoints:
              - endpoint:
                  address:
                    socket_address: { address: 127.0.0.1, port_value: 8080 }
`;
const cluster = 'static_resources.clusters[0]';
const listener = 'static_resources.listeners[0]';
const manager = `${listener}.filter_chains[0].filters[0].typed_config`;
const host = `${manager}.route_config.virtual_hosts[0]`;
const route = `${host}.routes[0]`;
const log = (member: string) =>
  `access_log:\n                  - typed_config: { "@type": type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog, ${member} }\n                codec_type: AUTO`;
const tls = (member: string) =>
  `transport_socket:\n            name: tls\n            typed_config:\n              "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext\n              common_tls_context:\n                ${member}\n          filters`;

/** The mistakes in the good text. One with an empty `instead` is appended to that text. */
const mistakes: readonly (readonly [
  instead: string,
  mistake: string,
  where: string,
  why: string,
])[] = [
  ['', 'nonsense: 1', '42:1', "no such field: 'nonsense'"],
  [
    'connect_timeout: 1s',
    'conect_timeout: 1s',
    '33:7',
    `${cluster}: no such field: 'conect_timeout'; did you mean 'connect_timeout'?`,
  ],
  [
    'load_assignment:',
    'load_assigment:',
    '35:7',
    `${cluster}: no such field: 'load_assigment'; did you mean 'load_assignment'?`,
  ],
  ['lb_policy: ROUND_ROBIN', 'tls_context: {}', '34:7', `${cluster}: no such field: 'tls_context'`],
  [
    'stat_prefix: ingress',
    'stat_prefx: ingress',
    '16:17',
    `${manager}: no such field: 'stat_prefx'; did you mean 'stat_prefix'?`,
  ],
  [
    'socket_address: { address: 127.0.0.1, port_value: 19991',
    'socket_adress: { address: 127.0.0.1, port_value: 19991',
    '3:5',
    "admin.address: no such field: 'socket_adress'; did you mean 'socket_address'?",
  ],
  [
    'filters:',
    `${tls('tls_certficates: []')}:`,
    '17:17',
    `${listener}.filter_chains[0].transport_socket.typed_config.common_tls_context: no such field: 'tls_certficates'; did you mean 'tls_certificates'?`,
  ],
  [
    'type: STATIC',
    'type: STATC',
    '32:13',
    `${cluster}.type: unknown enum value: 'STATC'; did you mean 'STATIC'?`,
  ],
  [
    'ROUND_ROBIN',
    'ROUNDROBIN',
    '34:18',
    `${cluster}.lb_policy: unknown enum value: 'ROUNDROBIN'; did you mean 'ROUND_ROBIN'?`,
  ],
  [
    'connect_timeout: 1s',
    'connect_timeout: 1sec',
    '33:24',
    `${cluster}.connect_timeout: is not a duration in seconds, such as '1s' or '0.25s'`,
  ],
  [
    'connect_timeout: 1s',
    'connect_timeout: 1',
    '33:24',
    `${cluster}.connect_timeout: is a number, and a duration, such as '1s', is wanted`,
  ],
  [
    'codec_type: AUTO',
    'codecType: HTP2',
    '17:28',
    `${manager}.codecType: unknown enum value: 'HTP2'; did you mean 'HTTP2'?`,
  ],
  [
    'codec_type: AUTO',
    'codec_type: QUIC',
    '17:29',
    `${manager}.codec_type: unknown enum value: 'QUIC'`,
  ],
  [
    'connect_timeout: 1s',
    'conectTimeout: 1s',
    '33:7',
    `${cluster}: no such field: 'conectTimeout'; did you mean 'connectTimeout'?`,
  ],
  [
    'timeout: 5s',
    'timeout: 5000ms',
    '25:63',
    `${route}.route.timeout: is not a duration in seconds, such as '1s' or '0.25s'`,
  ],
  [
    'port_value: 19992',
    'port_value: http',
    '10:23',
    `${listener}.address.socket_address.port_value: is not a number`,
  ],
  [
    'port_value: 19992',
    'port_value: 1x',
    '10:23',
    `${listener}.address.socket_address.port_value: is not a number`,
  ],
  [
    'port_value: 19992',
    'port_value: -1',
    '10:23',
    `${listener}.address.socket_address.port_value: is out of the range of its numbers`,
  ],
  [
    'port_value: 19992',
    'port_value: 99999',
    '10:23',
    `${listener}.address.socket_address.port_value: value must be less than or equal to 65535`,
  ],
  [
    'filter_chains:',
    'enable_reuse_port: maybe\n      filter_chains:',
    '11:26',
    `${listener}.enable_reuse_port: is neither true nor false`,
  ],
  [
    'HttpConnectionManager',
    'HttpConectionManager',
    '15:26',
    `${manager}.@type: 'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConectionManager' is not a type that this Envoy knows; did you mean 'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager'?`,
  ],
  [
    '"@type": type.googleapis.com/envoy.extensions.filters.network',
    'type: type.googleapis.com/envoy.extensions.filters.network',
    '14:15',
    `${manager}: has no '@type', which says what it is`,
  ],
  [
    'match: { prefix: "/" }',
    'match: "/"',
    '24:34',
    `${route}.match: is a text, and a map is wanted`,
  ],
  [
    'match: { prefix: "/" }',
    'match: [{ prefix: "/" }]',
    '24:27',
    `${route}.match: is a list, and a map is wanted`,
  ],
  [
    'match: { prefix: "/" }',
    'match: { prefix: "/", path: "/x" }',
    '24:27',
    `${route}.match: has a field twice, or two fields that exclude each other`,
  ],
  ['match: { prefix: "/" }', 'match: {}', '24:27', `${route}.match.path_specifier: is missing`],
  [
    'match: { prefix: "/" }',
    'match: { prefix: "/", headers: [{ name: "" }] }',
    '24:67',
    `${route}.match.headers[0].name: is missing or empty`,
  ],
  [
    'match: { prefix: "/" }',
    'match: { safe_regex: { regex: "(" } }',
    '24:57',
    `${route}.match.safe_regex.regex: missing ): (`,
  ],
  ['route: { cluster: backend, timeout: 5s }', '', '24:27', `${route}.action: is missing`],
  [
    'route: { cluster: backend, timeout: 5s }',
    'route: { weighted_clusters: { clusters: [] } }',
    '25:57',
    `${route}.route.weighted_clusters.clusters: is missing or empty`,
  ],
  [
    'cluster: backend,',
    'cluster: backnd,',
    '25:45',
    `${route}.route.cluster: unknown cluster 'backnd'; did you mean 'backend'?`,
  ],
  ['domains: ["*"]', 'domains: []', '22:23', `${host}.domains: is missing or empty`],
  ['stat_prefix: ingress', '', '14:15', `${manager}.stat_prefix: is missing or empty`],
  ['- name: backend\n      type', '- type', '31:7', `${cluster}.name: is missing or empty`],
  [
    'lb_policy: ROUND_ROBIN',
    'health_checks: [{ timeout: 1s }]',
    '34:23',
    `${cluster}.health_checks[0].interval: is missing`,
  ],
  [
    '',
    '    - name: backend\n      type: STATIC',
    '42:13',
    "static_resources.clusters[1].name: duplicate cluster 'backend'",
  ],
  [
    '  clusters:',
    '    - name: other\n      address: { socket_address: { address: 127.0.0.1, port_value: 19992 } }\n      filter_chains: [{}]\n  clusters:',
    '30:13',
    "static_resources.listeners[1].name: 'other' has duplicate address '127.0.0.1:19992' as existing listener",
  ],
  [
    '127.0.0.1, port_value: 8080',
    'localhost, port_value: 8080',
    '41:48',
    `${cluster}.load_assignment.endpoints[0].lb_endpoints[0].endpoint.address.socket_address.address: malformed IP address: localhost. Consider setting resolver_name or setting cluster type to 'STRICT_DNS' or 'LOGICAL_DNS'`,
  ],
  [
    '',
    'layered_runtime: { layers: [{ name: a, static_layer: 5 }] }',
    '42:54',
    'layered_runtime.layers[0].static_layer: is a number, and a map is wanted',
  ],
  [
    '',
    'dynamic_resources: { ads_config: { api_type: GRPC, grpc_services: [{ envoy_grpc: { cluster_name: xds } }] } }',
    '42:98',
    "dynamic_resources.ads_config.grpc_services[0].envoy_grpc.cluster_name: Unknown gRPC client cluster 'xds'",
  ],
  [
    'codec_type: AUTO',
    log('path: /nope/x.log'),
    '18:127',
    `${manager}.access_log[0].typed_config.path: unable to open file '/nope/x.log': No such file or directory`,
  ],
  [
    'codec_type: AUTO',
    log('path: /dev/null, log_format: { text_format_source: { inline_string: "%NOPE%" } }'),
    '18:189',
    `${manager}.access_log[0].typed_config.log_format.text_format_source.inline_string: Not supported field in StreamInfo: NOPE`,
  ],
  [
    'filters:',
    `${tls('tls_certificates: [{ certificate_chain: { filename: /nope/c }, private_key: { filename: /nope/key } }]')}:`,
    '17:105',
    `${listener}.filter_chains[0].transport_socket.typed_config.common_tls_context.tls_certificates[0].private_key.filename: Failed to load incomplete private key from path: /nope/key`,
  ],
  ['domains: ["*"]', 'domains: ["*"', '23:23', 'is not YAML: end of sequence flow not found'],
  [
    '      type: STATIC',
    '\ttype: STATIC',
    '32:1',
    'is not YAML: illegal tab when looking for indentation',
  ],
  ['domains: ["*"]', 'domains: [*]', '22:34', 'is not YAML: alias not found after *'],
  [good, '', '', 'is empty, or has no fields'],
  [good, '- a', '', 'is a list, and a map is wanted'],
  ['type: STATIC', 'type: EDS', '', 'cannot create an EDS cluster without an EDS config'],
];

describe('what this Envoy refuses', () => {
  let folder: string;
  let count = 0;
  beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'pilot-agent-refusals-'))));
  afterAll(() => rmSync(folder, { recursive: true }));

  async function refused(text: string) {
    count += 1;
    const path = join(folder, `${count}.yaml`);
    writeFileSync(path, text);
    const args = ['-c', path, '--log-format', envoyLogFormat, '--use-dynamic-base-id'];
    const verdict$ = validate({
      binary,
      args,
      fifo: join(folder, 'fifo'),
      tools,
      alone: () => false,
      scheduler: asyncScheduler,
    });
    const verdict = await lastValueFrom(verdict$, { defaultValue: undefined });
    if (verdict?.kind !== 'refused') throw new Error(`not refused: ${JSON.stringify(verdict)}`);
    const { reason, excerpt } = await explainRefusal(
      { kind: 'given', path, override: '' },
      verdict.reason,
      binary,
    );
    return { reason: reason.replace(path, 'FILE'), excerpt };
  }

  it('accepts what each mistake is made in', async () => {
    await expect(refused(good)).rejects.toThrow('not refused: {"kind":"works"}');
  });

  it.each(mistakes)('%j %j is told at %s', async (instead, mistake, where, why) => {
    const text = instead === '' ? `${good}${mistake}\n` : good.replace(instead, mistake);
    const refusal = await refused(text);
    expect(refusal.reason).toBe(`FILE${where === '' ? '' : `:${where}`}: ${why}`);
    expect(refusal, 'it is told the same again').toEqual(
      await refused(text).then(({ reason, excerpt }) => ({ reason, excerpt })),
    );
    if (where === '') return;
    const [line = 0, column = 0] = where.split(':').map(Number);
    const [shown = '', caret = ''] = refusal.excerpt?.split('\n') ?? [];
    const marked = shown.slice(caret.indexOf('^'), caret.lastIndexOf('^') + 1);
    expect(
      refusal.excerpt === undefined ||
        text
          .split('\n')
          [line - 1]?.slice(column - 1)
          .replace('\t', ' ')
          .startsWith(marked),
    ).toBe(true);
    expect(Math.max(shown.length, caret.length)).toBeLessThanOrEqual(80);
  });
});
