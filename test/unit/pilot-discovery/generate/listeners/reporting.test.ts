import { describe, expect, it } from 'vitest';
import { ListenerSchema } from '../../../../../src/shared/proto/envoy/config/listener/v3/listener_pb.ts';
import {
  canonical,
  messageYaml,
  proxyIn,
  replacing,
  reportingIn,
  resourceText,
} from '../../../../support/golden.ts';

const type = 'type.googleapis.com/envoy.extensions.access_loggers';
const mesh = `
accessLogFile: /tmp/mesh.log
defaultProviders: { accessLogging: [b] }
extensionProviders:
  - { name: b, envoyFileAccessLog: { path: /tmp/b.log } }
  - { name: A, envoyFileAccessLog: { path: /tmp/a.log } }
  - { name: service, envoyTcpAls: { service: collector.mesh, port: 4317 } }
`;
const collector = resourceText(
  'ServiceEntry',
  'collector',
  '{ hosts: [collector.mesh], resolution: STATIC, ports: [{ number: 4317, name: grpc }] }',
);

/** Returns the Telemetry of the mesh, of a namespace, or of the workload `app`. */
const telemetry = (namespace: string, spec: string) =>
  resourceText('Telemetry', namespace === '' ? 'app' : 'all', spec, {
    namespace: namespace === '' ? 'default' : namespace,
  });

const logsOf = (
  resources: readonly string[],
  side: 'client' | 'server' = 'client',
  node = proxyIn(''),
) => {
  const { accessLog, listenerLog } = reportingIn(mesh, resources.join('---\n'), { side, node });
  const shorten = replacing('log_format', () => 'FORMAT');
  const [calls, listeners] = [accessLog, listenerLog].map((log) =>
    messageYaml(ListenerSchema, { accessLog: log }, shorten),
  );
  return { calls, listeners };
};

const file = (path: string, filter = '') => `
  - name: envoy.access_loggers.file
    ${filter}
    typed_config: { "@type": ${type}.file.v3.FileAccessLog, path: ${path}, log_format: FORMAT }`;
const service = `
  - name: envoy.tcp_grpc_access_log
    typed_config:
      "@type": ${type}.grpc.v3.TcpGrpcAccessLogConfig
      common_config:
        log_name: tcp_envoy_accesslog
        grpc_service: { envoy_grpc: { cluster_name: outbound|4317||collector.mesh, authority: collector.mesh } }
        transport_api_version: V3
        filter_state_objects_to_log: [upstream_peer, downstream_peer]`;
const cel = (expression: string) =>
  `extension_filter: { name: envoy.access_loggers.extension_filters.cel, typed_config: { "@type": ${type}.filters.cel.v3.ExpressionFilter, expression: "${expression}" } }`;
const logs = (...those: readonly string[]) =>
  canonical(those.length === 0 ? '{}' : `access_log:${those.join('')}`);

describe('what a proxy logs', () => {
  it.each<[what: string, resources: readonly string[], calls: string]>([
    ['the provider of the mesh', [], logs(file('/tmp/b.log'))],
    [
      'the provider of the mesh, if an entry names none',
      [telemetry('istio-system', '{ accessLogging: [{}] }')],
      logs(file('/tmp/b.log')),
    ],
    [
      'the providers of a Telemetry, in order of their names, however they are written',
      [telemetry('default', '{ accessLogging: [{ providers: [{ name: B }, { name: a }] }] }')],
      logs(file('/tmp/a.log'), file('/tmp/b.log')),
    ],
    [
      'the file of the mesh, if nobody knows the provider',
      [telemetry('default', '{ accessLogging: [{ providers: [{ name: c }] }] }')],
      logs(file('/tmp/mesh.log')),
    ],
    [
      'the file of the mesh, if the service of the provider is not there',
      [telemetry('default', '{ accessLogging: [{ providers: [{ name: service }] }] }')],
      logs(file('/tmp/mesh.log')),
    ],
    [
      'a service',
      [collector, telemetry('default', '{ accessLogging: [{ providers: [{ name: service }] }] }')],
      logs(service),
    ],
    [
      'nothing, if it is off',
      [telemetry('istio-system', '{ accessLogging: [{ disabled: true }] }')],
      logs(),
    ],
    [
      'what the workload says, before its namespace and the mesh',
      [
        telemetry('istio-system', '{ accessLogging: [{ providers: [{ name: b }] }] }'),
        telemetry('default', '{ accessLogging: [{ disabled: true }] }'),
        telemetry(
          '',
          '{ selector: { matchLabels: { app: app } }, accessLogging: [{ providers: [{ name: a }] }] }',
        ),
      ],
      logs(file('/tmp/a.log')),
    ],
    [
      'nothing of a Telemetry for other workloads, or for other namespaces',
      [
        telemetry('other', '{ accessLogging: [{ disabled: true }] }'),
        telemetry(
          '',
          '{ selector: { matchLabels: { app: b } }, accessLogging: [{ disabled: true }] }',
        ),
      ],
      logs(file('/tmp/b.log')),
    ],
    [
      'what passes the filter',
      [
        telemetry(
          'default',
          '{ accessLogging: [{ providers: [{ name: a }], filter: { expression: response.code >= 400 } }] }',
        ),
      ],
      logs(file('/tmp/a.log', `filter: { ${cel('response.code >= 400')} }`)),
    ],
  ])('is %s', (_, resources, calls) => {
    expect(logsOf(resources).calls).toBe(calls);
  });

  it('may differ between calls that it makes and calls that it gets', () => {
    const resources = [
      telemetry(
        'default',
        '{ accessLogging: [{ match: { mode: SERVER }, providers: [{ name: a }] }, { match: { mode: CLIENT }, disabled: true }] }',
      ),
    ];
    expect(logsOf(resources, 'server').calls).toBe(logs(file('/tmp/a.log')));
    // The entry of the other side, which comes first, has named the provider.
    expect(logsOf(resources, 'client').calls).toBe(logs(file('/tmp/mesh.log')));
  });

  it('is for a listener what it has no chain for, and passes the filter', () => {
    const resources = [
      telemetry(
        'default',
        '{ accessLogging: [{ providers: [{ name: a }], filter: { expression: connection.mtls } }, { providers: [{ name: b }] }] }',
      ),
    ];
    const flag = 'response_flag_filter: { flags: [NR] }';
    expect(logsOf(resources).listeners).toBe(
      logs(
        file(
          '/tmp/a.log',
          `filter: { and_filter: { filters: [{ ${flag} }, { ${cel('connection.mtls')} }] } }`,
        ),
        file('/tmp/b.log', `filter: { ${flag} }`),
      ),
    );
  });
});
