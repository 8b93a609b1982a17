import { headerFlaw, isHeaderName } from '../fields/header-format.ts';
import {
  boolean,
  durationAbove0,
  type Get,
  ignored,
  list,
  maybe,
  members,
  needed,
  type ReadMember,
  text,
  warn,
  wrong,
} from '../fields/members.ts';
import { tagLength } from './read-proxy-tracing.ts';
import { providerAddress } from '../fields/read-provider-address.ts';
import type { OpenTelemetryTracer, SpanExporter, SpanHeader, Tracer } from './tracer.ts';

type Named<T> = T extends Tracer ? Omit<T, 'name'> : never;
type NamelessTracer = Named<Tracer>;

/** Envoy demands a timeout; Istio's documentation says that 3 s is the default. */
const defaultTimeoutMs = 3_000;

/** Reads a path; '' if it is not given. Istio adds the `/` at its beginning. */
const path: ReadMember<string> = (value, place) => {
  const read = text(value, place);
  if (!/^[!-~]*$/.test(read)) wrong(place, `'${read}' is not a path: it has no spaces`);
  return read === '' || read.startsWith('/') ? read : `/${read}`;
};

const headerValue: ReadMember<string> = (value, place) => {
  const read = text(value, place);
  const flaw = headerFlaw(read);
  if (flaw !== undefined) wrong(place, flaw);
  return read;
};

const spanHeader: ReadMember<SpanHeader> = (value, place) =>
  members(value, place, [], (get, has) => {
    const name = get('name', needed);
    if (name !== '' && !isHeaderName(name))
      wrong(place, `'${name}' is not a valid name of a header`);
    if (has('envName'))
      wrong(place, 'envName is not read: give value, the header as the proxy sends it');
    get('envName', ignored);
    return { name, value: get('value', headerValue) };
  });

const common = (get: Get) => ({
  at: providerAddress(get),
  maxTagLength: get('maxTagLength', tagLength),
});

const zipkin: ReadMember<NamelessTracer> = (value, place) =>
  members(value, place, [], (get) => ({
    type: 'zipkin',
    ...common(get),
    path: get('path', path) || '/api/v2/spans',
    traceIds: get('enable64bitTraceId', boolean) === true ? '64-bit' : '128-bit',
  }));

const datadog: ReadMember<NamelessTracer> = (value, place) =>
  members(value, place, [], (get) => ({ type: 'datadog', ...common(get) }));

const lightstep: ReadMember<NamelessTracer> = (value, place) =>
  members(value, place, [], (get) => ({
    type: 'lightstep',
    ...common(get),
    accessToken: get('accessToken', headerValue),
  }));

const skywalking: ReadMember<NamelessTracer> = (value, place) =>
  members(value, place, [], (get, has) => {
    if (has('accessToken')) warn(place, 'its accessToken has no effect, as with istiod');
    get('accessToken', ignored);
    return { type: 'skywalking', at: providerAddress(get) };
  });

const overHttp: ReadMember<SpanExporter> = (value, place) =>
  members(value, place, [], (get) => ({
    type: 'http',
    path: get('path', path),
    timeoutMs: get('timeout', durationAbove0) ?? defaultTimeoutMs,
    headers: get('headers', list(spanHeader)),
  }));

const overGrpc: ReadMember<SpanExporter> = (value, place) =>
  members(value, place, [], (get) => ({
    type: 'grpc',
    timeoutMs: get('timeout', durationAbove0),
    headers: get('initialMetadata', list(spanHeader)),
  }));

const nothing: ReadMember<'given'> = (value, place) =>
  members(value, place, [], (): 'given' => 'given');

const detectors: ReadMember<OpenTelemetryTracer['detectors']> = (value, place) =>
  members(value, place, [], (get) =>
    (['environment', 'dynatrace'] as const).filter(
      (detector) => get(detector, maybe(nothing)) === 'given',
    ),
  );

const openTelemetry: ReadMember<NamelessTracer> = (value, place) =>
  members(value, place, ['dynatraceSampler'], (get, has) => {
    if (has('http') && has('grpc')) wrong(place, 'it has both http and grpc: one of them counts');
    const http = get('http', maybe(overHttp));
    const grpc = get('grpc', maybe(overGrpc));
    return {
      type: 'open-telemetry',
      ...common(get),
      exporter: http ?? grpc ?? { type: 'grpc', timeoutMs: undefined, headers: [] },
      detectors: get('resourceDetectors', maybe(detectors)) ?? [],
    };
  });

/** The readers of providers that take spans, by the field of the kind. */
export const tracerKinds: readonly (readonly [kind: string, read: ReadMember<NamelessTracer>])[] = [
  ['zipkin', zipkin],
  ['lightstep', lightstep],
  ['datadog', datadog],
  ['skywalking', skywalking],
  ['opentelemetry', openTelemetry],
];
