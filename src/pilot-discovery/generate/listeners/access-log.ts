import { parseJson } from '../../../shared/text/parse-json.ts';
import type { AccessLogSchema } from '../../../shared/proto/envoy/config/accesslog/v3/accesslog_pb.ts';
import { ApiVersion } from '../../../shared/proto/envoy/config/core/v3/config_source_pb.ts';
import type { SubstitutionFormatStringSchema } from '../../../shared/proto/envoy/config/core/v3/substitution_format_string_pb.ts';
import { FileAccessLogSchema } from '../../../shared/proto/envoy/extensions/access_loggers/file/v3/file_pb.ts';
import {
  type CommonGrpcAccessLogConfigSchema,
  HttpGrpcAccessLogConfigSchema,
  TcpGrpcAccessLogConfigSchema,
} from '../../../shared/proto/envoy/extensions/access_loggers/grpc/v3/als_pb.ts';
import { OpenTelemetryAccessLogConfigSchema } from '../../../shared/proto/envoy/extensions/access_loggers/open_telemetry/v3/logs_service_pb.ts';
import { ReqWithoutQuerySchema } from '../../../shared/proto/envoy/extensions/formatter/req_without_query/v3/req_without_query_pb.ts';
import type {
  FileLog,
  JsonFields,
  LogFormat,
  LogProvider,
  OpenTelemetryLogs,
} from '../../istio/telemetry/extension-provider.ts';
import type { MeshConfig } from '../../istio/mesh/mesh-config.ts';
import type { ProviderCluster } from '../scope/provider-cluster.ts';
import { packed, typedConfig, type Init } from '../encoding/typed-config.ts';
import { defaultFields, defaultLine } from './default-line.ts';
import { isObject } from '../../../shared/text/is-object.ts';

export type AccessLog = Init<typeof AccessLogSchema>;
type Format = Init<typeof SubstitutionFormatStringSchema>;
type Common = Init<typeof CommonGrpcAccessLogConfigSchema>;

/** The parts of a MeshConfig that make a format. */
type MeshFormat = Pick<MeshConfig, 'accessLogFormat' | 'accessLogEncoding'>;

/** Returns the log of a provider, without a filter; undefined if the proxy does not reach it. */
export function providerLog(
  mesh: MeshFormat,
  provider: LogProvider,
  clusterOf: (service: Exclude<LogProvider, FileLog>['at']) => ProviderCluster | undefined,
): AccessLog | undefined {
  if (provider.type === 'file') return fileLog(provider, mesh);
  const reached = clusterOf(provider.at);
  if (reached === undefined) return undefined;
  switch (provider.type) {
    case 'http-service':
      return typedConfig('envoy.access_loggers.http_grpc', HttpGrpcAccessLogConfigSchema, {
        commonConfig: common(
          reached,
          provider.logName || 'http_envoy_accesslog',
          provider.filterState,
        ),
        additionalRequestHeadersToLog: [...provider.requestHeaders],
        additionalResponseHeadersToLog: [...provider.responseHeaders],
        additionalResponseTrailersToLog: [...provider.responseTrailers],
      });
    case 'tcp-service':
      return typedConfig('envoy.tcp_grpc_access_log', TcpGrpcAccessLogConfigSchema, {
        commonConfig: common(
          reached,
          provider.logName || 'tcp_envoy_accesslog',
          provider.filterState,
        ),
      });
    case 'open-telemetry-logs':
      return openTelemetryLog(provider, reached);
  }
}

/** Returns the log to the file of a MeshConfig; undefined if it names none. */
export const meshLog = (
  mesh: MeshFormat & Pick<MeshConfig, 'accessLogFile'>,
): AccessLog | undefined =>
  mesh.accessLogFile === ''
    ? undefined
    : fileLog({ path: mesh.accessLogFile, format: { type: 'mesh' }, emptyValues: 'kept' }, mesh);

function openTelemetryLog(
  { logName, text, attributes }: OpenTelemetryLogs,
  reached: ProviderCluster,
): AccessLog {
  const line = text === '' ? defaultLine : text;
  const entries = Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1));
  return typedConfig('envoy.access_loggers.open_telemetry', OpenTelemetryAccessLogConfigSchema, {
    commonConfig: common(reached, logName || 'otel_envoy_accesslog', []),
    disableBuiltinLabels: true,
    body: stringValue(line),
    ...(entries.length > 0 && {
      attributes: { values: entries.map(([key, value]) => ({ key, value: stringValue(value) })) },
    }),
    formatters: formattersOf([line, ...entries.map(([, value]) => value)]),
  });
}

const stringValue = (value: string) => ({ value: { case: 'stringValue' as const, value } });

/** The filter state that is logged if a provider names none: the metadata of mesh peers. */
const peers = ['upstream_peer', 'downstream_peer'];

const common = (
  { host, cluster }: ProviderCluster,
  logName: string,
  filterState: readonly string[],
): Common => ({
  logName,
  grpcService: {
    targetSpecifier: { case: 'envoyGrpc', value: { clusterName: cluster, authority: host } },
  },
  transportApiVersion: ApiVersion.V3,
  filterStateObjectsToLog: filterState.length > 0 ? [...filterState] : peers,
});

function fileLog(
  { path, format, emptyValues }: Pick<FileLog, 'path' | 'format' | 'emptyValues'>,
  mesh: MeshFormat,
): AccessLog {
  const value = formatOf(format.type === 'mesh' ? meshFormat(mesh) : format);
  return typedConfig('envoy.access_loggers.file', FileAccessLogSchema, {
    path,
    accessLogFormat: {
      case: 'logFormat',
      value: { ...value, omitEmptyValues: emptyValues === 'left-out' },
    },
  });
}

type OwnFormat = Exclude<LogFormat, { readonly type: 'mesh' }>;

const meshFormat = ({ accessLogFormat, accessLogEncoding }: MeshFormat): OwnFormat =>
  accessLogEncoding === 'json'
    ? { type: 'json', fields: fieldsIn(accessLogFormat) }
    : { type: 'text', text: accessLogFormat };

/** Returns the fields of a format in JSON; none if it is not an object. */
function fieldsIn(format: string): JsonFields {
  try {
    const value: unknown = parseJson(format);
    if (isObject(value)) return value as JsonFields;
  } catch {
    // It is not JSON, so the default fields are logged.
  }
  return {};
}

function formatOf(format: OwnFormat): Format {
  if (format.type === 'json') {
    const fields = Object.keys(format.fields).length > 0 ? format.fields : defaultFields;
    return {
      format: { case: 'jsonFormat', value: fields as Record<string, string> },
      jsonFormatOptions: {},
      formatters: formattersOf(Object.values(fields)),
    };
  }
  const { text } = format;
  const line = text === '' ? defaultLine : text.endsWith('\n') ? text : `${text}\n`;
  return {
    format: {
      case: 'textFormatSource',
      value: { specifier: { case: 'inlineString', value: line } },
    },
    formatters: formattersOf([line]),
  };
}

const withoutQuery = {
  name: 'envoy.formatter.req_without_query',
  typedConfig: packed(ReqWithoutQuerySchema, {}),
};

/** Returns the extensions that formats need for commands that Envoy does not have by default. */
const formattersOf = (formats: readonly unknown[]) =>
  JSON.stringify(formats).includes('%REQ_WITHOUT_QUERY') ? [withoutQuery] : [];
