import type { MeshConfig } from '../../istio/mesh-config.ts';
import type { AccessLogSchema } from '../../../shared/proto/envoy/config/accesslog/v3/accesslog_pb.ts';
import type { SubstitutionFormatStringSchema } from '../../../shared/proto/envoy/config/core/v3/substitution_format_string_pb.ts';
import { FileAccessLogSchema } from '../../../shared/proto/envoy/extensions/access_loggers/file/v3/file_pb.ts';
import { typedConfig, type Init } from '../encoding/typed-config.ts';
import { parseJson } from '../../../shared/text/parse-json.ts';

type AccessLog = Init<typeof AccessLogSchema>;
type Format = Init<typeof SubstitutionFormatStringSchema>;

/**
 * Returns the logs of a connection manager or a TCP proxy: one file, or none if the mesh has none.
 */
export function accessLogs(mesh: MeshConfig): AccessLog[] {
  const log = fileLog(mesh);
  return log === undefined ? [] : [log];
}

/** Returns the logs of a listener itself: connections for which it has no chain. */
export function listenerAccessLogs(mesh: MeshConfig): AccessLog[] {
  const log = fileLog(mesh);
  if (log === undefined) return [];
  return [
    {
      ...log,
      filter: { filterSpecifier: { case: 'responseFlagFilter', value: { flags: ['NR'] } } },
    },
  ];
}

function fileLog(mesh: MeshConfig): AccessLog | undefined {
  if (mesh.accessLogFile === '') return undefined;
  return typedConfig('envoy.access_loggers.file', FileAccessLogSchema, {
    path: mesh.accessLogFile,
    accessLogFormat: {
      case: 'logFormat',
      value: mesh.accessLogEncoding === 'json' ? jsonFormat(mesh) : textFormat(mesh),
    },
  });
}

function textFormat({ accessLogFormat }: MeshConfig): Format {
  const text =
    accessLogFormat === ''
      ? defaultText
      : accessLogFormat.endsWith('\n')
        ? accessLogFormat
        : `${accessLogFormat}\n`;
  return {
    format: {
      case: 'textFormatSource',
      value: { specifier: { case: 'inlineString', value: text } },
    },
  };
}

function jsonFormat({ accessLogFormat }: MeshConfig): Format {
  return { format: { case: 'jsonFormat', value: read(accessLogFormat) }, jsonFormatOptions: {} };
}

function read(format: string): Record<string, string> {
  try {
    const value: unknown = parseJson(format);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, string>;
  } catch {
    // It is not JSON, so the default fields are logged.
  }
  return defaultJson;
}

/** The fields of Istio's log line, with their names in JSON. */
const fields: readonly (readonly [name: string, command: string])[] = [
  ['start_time', '%START_TIME%'],
  ['method', '%REQ(:METHOD)%'],
  ['path', '%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%'],
  ['protocol', '%PROTOCOL%'],
  ['response_code', '%RESPONSE_CODE%'],
  ['response_flags', '%RESPONSE_FLAGS%'],
  ['response_code_details', '%RESPONSE_CODE_DETAILS%'],
  ['connection_termination_details', '%CONNECTION_TERMINATION_DETAILS%'],
  ['upstream_transport_failure_reason', '%UPSTREAM_TRANSPORT_FAILURE_REASON%'],
  ['bytes_received', '%BYTES_RECEIVED%'],
  ['bytes_sent', '%BYTES_SENT%'],
  ['duration', '%DURATION%'],
  ['upstream_service_time', '%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)%'],
  ['x_forwarded_for', '%REQ(X-FORWARDED-FOR)%'],
  ['user_agent', '%REQ(USER-AGENT)%'],
  ['request_id', '%REQ(X-REQUEST-ID)%'],
  ['authority', '%REQ(:AUTHORITY)%'],
  ['upstream_host', '%UPSTREAM_HOST%'],
  ['upstream_cluster', '%UPSTREAM_CLUSTER_RAW%'],
  ['upstream_local_address', '%UPSTREAM_LOCAL_ADDRESS%'],
  ['downstream_local_address', '%DOWNSTREAM_LOCAL_ADDRESS%'],
  ['downstream_remote_address', '%DOWNSTREAM_REMOTE_ADDRESS%'],
  ['requested_server_name', '%REQUESTED_SERVER_NAME%'],
  ['route_name', '%ROUTE_NAME%'],
];

const defaultJson = Object.fromEntries(fields);

/** Fields that have their own quotes in the line. */
const quoted = new Set([
  'upstream_transport_failure_reason',
  'x_forwarded_for',
  'user_agent',
  'request_id',
  'authority',
  'upstream_host',
]);

const defaultText = `${fields
  .map(([name, command]) =>
    name === 'start_time'
      ? `[${command}]`
      : name === 'method'
        ? `"${command}`
        : name === 'protocol'
          ? `${command}"`
          : quoted.has(name)
            ? `"${command}"`
            : command,
  )
  .join(' ')}\n`;
