import type { Flag } from '../../shared/text/flag.ts';

/** The flags of the tracers that the Go agent 1.5 knows. */
export const tracingFlags = {
  lightstepAddress: {
    group: 'status',
    value: 'host:port',
    text: 'LightStep satellite for traces',
    default: '',
    example: 'lightstep.example:8080',
    field: 'tracing.lightstep.address',
  },
  lightstepAccessToken: {
    group: 'status',
    value: 'token',
    text: 'access token for the LightStep satellite',
    default: '',
    example: 'abc123',
    field: 'tracing.lightstep.accessToken',
  },
  lightstepSecure: {
    group: 'status',
    value: 'bool',
    text: 'use TLS to the LightStep satellite',
    default: 'false',
    example: 'true',
    field: 'tracing.lightstep.secure',
  },
  lightstepCacertPath: {
    group: 'status',
    value: 'file',
    text: "CA of the LightStep satellite's certificate",
    default: '',
    example: '/etc/lightstep/ca.pem',
    field: 'tracing.lightstep.cacertPath',
  },
  zipkinAddress: {
    group: 'status',
    value: 'host:port',
    text: 'Zipkin collector for traces',
    default: '',
    example: 'zipkin.example:9411',
    field: 'tracing.zipkin.address',
  },
  datadogAgentAddress: {
    group: 'status',
    value: 'host:port',
    text: 'Datadog agent for traces',
    default: '',
    example: '10.0.0.1:8126',
    field: 'tracing.datadog.address',
  },
} as const satisfies Readonly<Record<string, Flag>>;
