import type { ProviderAddress } from '../fields/provider-address.ts';

/** A provider that takes the spans of proxies. */
export type Tracer =
  ZipkinTracer | DatadogTracer | LightstepTracer | SkywalkingTracer | OpenTelemetryTracer;

interface ZipkinTracer extends LimitedTracer {
  readonly type: 'zipkin';
  /** `/api/v2/spans` */
  readonly path: string;
  readonly traceIds: '64-bit' | '128-bit';
}

interface DatadogTracer extends LimitedTracer {
  readonly type: 'datadog';
}

/** Envoy sends spans to Lightstep by OpenTelemetry: it has no other tracer for it. */
interface LightstepTracer extends LimitedTracer {
  readonly type: 'lightstep';
  readonly accessToken: string;
}

interface SkywalkingTracer {
  readonly name: string;
  readonly type: 'skywalking';
  readonly at: ProviderAddress;
}

export interface OpenTelemetryTracer extends LimitedTracer {
  readonly type: 'open-telemetry';
  readonly exporter: SpanExporter;
  /** Each detector adds attributes of the proxy to its spans. */
  readonly detectors: readonly ('environment' | 'dynatrace')[];
}

interface LimitedTracer {
  readonly name: string;
  readonly at: ProviderAddress;
  /** The longest tag of a path, in bytes; undefined means the default of Envoy. */
  readonly maxTagLength: number | undefined;
}

export type SpanExporter =
  | {
      readonly type: 'grpc';
      readonly timeoutMs: number | undefined;
      readonly headers: readonly SpanHeader[];
    }
  | {
      readonly type: 'http';
      /** It begins with `/`, or is empty. */
      readonly path: string;
      readonly timeoutMs: number;
      readonly headers: readonly SpanHeader[];
    };

/** A header of the requests that carry spans. */
export interface SpanHeader {
  readonly name: string;
  readonly value: string;
}

export const isTracer = (provider: { readonly type: string }): provider is Tracer => {
  switch (provider.type) {
    case 'zipkin':
    case 'datadog':
    case 'lightstep':
    case 'skywalking':
    case 'open-telemetry':
      return true;
    default:
      return false;
  }
};
