import type { ProviderAddress } from '../fields/provider-address.ts';
import { isTracer, type Tracer } from './tracer.ts';

/** A server or a file. Telemetry resources refer to it by the name that a MeshConfig gives it. */
export type ExtensionProvider =
  | FileLog
  | HttpLogService
  | TcpLogService
  | OpenTelemetryLogs
  | Tracer
  | { readonly name: string; readonly type: 'other' };

/** A provider that takes access logs. */
export type LogProvider = FileLog | HttpLogService | TcpLogService | OpenTelemetryLogs;

export const isLogProvider = (provider: ExtensionProvider): provider is LogProvider =>
  provider.type !== 'other' && !isTracer(provider);

export interface FileLog {
  readonly name: string;
  readonly type: 'file';
  readonly path: string;
  readonly format: LogFormat;
  readonly emptyValues: 'kept' | 'left-out';
}

export type LogFormat =
  /** The format of the MeshConfig: `accessLogFormat`, `accessLogEncoding`. */
  | { readonly type: 'mesh' }
  /** An empty text means the line of Istio. */
  | { readonly type: 'text'; readonly text: string }
  /** No fields mean the fields of Istio. */
  | { readonly type: 'json'; readonly fields: JsonFields };

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonFields;
export interface JsonFields {
  readonly [name: string]: JsonValue;
}

interface TcpLogService {
  readonly name: string;
  readonly type: 'tcp-service';
  readonly at: ProviderAddress;
  readonly logName: string;
  readonly filterState: readonly string[];
}

interface HttpLogService extends Omit<TcpLogService, 'type'> {
  readonly type: 'http-service';
  readonly requestHeaders: readonly string[];
  readonly responseHeaders: readonly string[];
  readonly responseTrailers: readonly string[];
}

export interface OpenTelemetryLogs {
  readonly name: string;
  readonly type: 'open-telemetry-logs';
  readonly at: ProviderAddress;
  readonly logName: string;
  /** An empty text means the line of Istio. */
  readonly text: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** The provider that Istio has unless a MeshConfig names another `envoy`. */
export const ownFileLog: FileLog = {
  name: 'envoy',
  type: 'file',
  path: '/dev/stdout',
  format: { type: 'mesh' },
  emptyValues: 'kept',
};
