import type { JsonFields } from '../../istio/telemetry/extension-provider.ts';

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

export const defaultFields: JsonFields = Object.fromEntries(fields);

/** Fields that have their own quotes in the line. */
const quoted = new Set([
  'upstream_transport_failure_reason',
  'x_forwarded_for',
  'user_agent',
  'request_id',
  'authority',
  'upstream_host',
]);

export const defaultLine = `${fields
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
