import { describe, expect, it } from 'vitest';
import { ListenerSchema } from '../../../../../src/shared/proto/envoy/config/listener/v3/listener_pb.ts';
import { canonical, messageYaml, reportingIn } from '../../../../support/golden.ts';

const logged = (mesh: string): string =>
  messageYaml(ListenerSchema, { accessLog: reportingIn(mesh).accessLog });

const toFile = (format: string, filter = '') => `
access_log:
  - name: envoy.access_loggers.file
    ${filter}
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog
      path: /dev/stdout
      log_format:
        ${format.trim().replaceAll('\n', '\n        ')}`;

const usualText =
  '[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" %RESPONSE_CODE% ' +
  '%RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS% %CONNECTION_TERMINATION_DETAILS% ' +
  '"%UPSTREAM_TRANSPORT_FAILURE_REASON%" %BYTES_RECEIVED% %BYTES_SENT% %DURATION% ' +
  '%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% "%REQ(X-FORWARDED-FOR)%" "%REQ(USER-AGENT)%" ' +
  '"%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" "%UPSTREAM_HOST%" %UPSTREAM_CLUSTER_RAW% ' +
  '%UPSTREAM_LOCAL_ADDRESS% %DOWNSTREAM_LOCAL_ADDRESS% %DOWNSTREAM_REMOTE_ADDRESS% ' +
  '%REQUESTED_SERVER_NAME% %ROUTE_NAME%\n';
const usualJson = `
start_time: "%START_TIME%"
method: "%REQ(:METHOD)%"
path: "%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%"
protocol: "%PROTOCOL%"
response_code: "%RESPONSE_CODE%"
response_flags: "%RESPONSE_FLAGS%"
response_code_details: "%RESPONSE_CODE_DETAILS%"
connection_termination_details: "%CONNECTION_TERMINATION_DETAILS%"
upstream_transport_failure_reason: "%UPSTREAM_TRANSPORT_FAILURE_REASON%"
bytes_received: "%BYTES_RECEIVED%"
bytes_sent: "%BYTES_SENT%"
duration: "%DURATION%"
upstream_service_time: "%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)%"
x_forwarded_for: "%REQ(X-FORWARDED-FOR)%"
user_agent: "%REQ(USER-AGENT)%"
request_id: "%REQ(X-REQUEST-ID)%"
authority: "%REQ(:AUTHORITY)%"
upstream_host: "%UPSTREAM_HOST%"
upstream_cluster: "%UPSTREAM_CLUSTER_RAW%"
upstream_local_address: "%UPSTREAM_LOCAL_ADDRESS%"
downstream_local_address: "%DOWNSTREAM_LOCAL_ADDRESS%"
downstream_remote_address: "%DOWNSTREAM_REMOTE_ADDRESS%"
requested_server_name: "%REQUESTED_SERVER_NAME%"
route_name: "%ROUTE_NAME%"`;
const text = (format: string) => `text_format_source: { inline_string: ${JSON.stringify(format)} }`;
const json = (fields: string) =>
  `json_format:\n  ${fields.trim().replaceAll('\n', '\n  ')}\njson_format_options: {}`;

describe('the access log of a MeshConfig', () => {
  it.each<[what: string, mesh: string, log: string]>([
    ['none', '', '{}'],
    ['a format, but no file', 'accessLogFormat: "%PROTOCOL%"', '{}'],
    ['the line of Istio', 'accessLogFile: /dev/stdout', toFile(text(usualText))],
    [
      'a line of its own, to which its end is added',
      '{ accessLogFile: /dev/stdout, accessLogFormat: "%PROTOCOL%" }',
      toFile(text('%PROTOCOL%\n')),
    ],
    [
      'a line of its own with its end',
      '{ accessLogFile: /dev/stdout, accessLogFormat: "%PROTOCOL%\\n" }',
      toFile(text('%PROTOCOL%\n')),
    ],
    [
      'the fields of Istio',
      '{ accessLogFile: /dev/stdout, accessLogEncoding: JSON }',
      toFile(json(usualJson)),
    ],
    [
      'fields of its own',
      `{ accessLogFile: /dev/stdout, accessLogEncoding: JSON, accessLogFormat: '{ "p": "%PROTOCOL%" }' }`,
      toFile(json('p: "%PROTOCOL%"')),
    ],
    [
      'the fields of Istio, if its own are not JSON',
      '{ accessLogFile: /dev/stdout, accessLogEncoding: JSON, accessLogFormat: "%PROTOCOL%" }',
      toFile(json(usualJson)),
    ],
    [
      'the fields of Istio, if its own are a list',
      `{ accessLogFile: /dev/stdout, accessLogEncoding: JSON, accessLogFormat: '["%PROTOCOL%"]' }`,
      toFile(json(usualJson)),
    ],
  ])('%s', (_, mesh, log) => {
    expect(logged(mesh)).toBe(canonical(log));
  });

  it('has connections without a chain alone, for a listener', () => {
    const mesh = '{ accessLogFile: /dev/stdout, accessLogFormat: "%PROTOCOL%" }';
    const { listenerLog: accessLog } = reportingIn(mesh);
    expect(messageYaml(ListenerSchema, { accessLog })).toBe(
      canonical(toFile(text('%PROTOCOL%\n'), 'filter: { response_flag_filter: { flags: [NR] } }')),
    );
    expect(reportingIn('').listenerLog).toEqual([]);
    expect(
      reportingIn('{ accessLogFile: /dev/stdout, disableEnvoyListenerLog: true }').listenerLog,
    ).toEqual([]);
  });
});
