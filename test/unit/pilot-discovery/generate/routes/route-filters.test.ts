import { describe, expect, it } from 'vitest';
import { routeFilters } from '../../../../../src/pilot-discovery/generate/routes/route-filters.ts';
import { RouteSchema } from '../../../../../src/shared/proto/envoy/config/route/v3/route_components_pb.ts';
import { canonical, httpRouteIn, messageYaml } from '../../../../support/golden.ts';

const filtersOf = (http: string): string =>
  messageYaml(RouteSchema, { typedPerFilterConfig: routeFilters(httpRouteIn(http)) });

/** Returns the settings of a route for one filter. */
const only = (filter: string, type: string, settings: string): string => `
typed_per_filter_config:
  envoy.filters.http.${filter}:
    "@type": type.googleapis.com/envoy.extensions.filters.http.${filter}.v3.${type}${settings.trimEnd().replaceAll('\n', '\n    ')}`;

it('a route without a fault and a CORS policy has no settings for filters', () => {
  expect(filtersOf('')).toBe(canonical('{}'));
});

describe('the corsPolicy of a route', () => {
  it.each<[what: string, policy: string, settings: string]>([
    [
      'every field',
      `{
        allowOrigins: [{ exact: "https://a.com" }, { prefix: "https://b" }, { regex: ".*\\\\.c\\\\.com" }],
        allowMethods: [GET, POST], allowHeaders: [x-a, x-b], exposeHeaders: [x-c, x-d],
        maxAge: 90s, allowCredentials: true, unmatchedPreflights: IGNORE }`,
      `
allow_origin_string_match:
  - { exact: "https://a.com" }
  - { prefix: "https://b" }
  - { safe_regex: { regex: ".*\\\\.c\\\\.com" } }
allow_methods: GET,POST
allow_headers: x-a,x-b
expose_headers: x-c,x-d
max_age: "90"
allow_credentials: true
filter_enabled: { default_value: { numerator: 100 } }
forward_not_matching_preflights: false`,
    ],
    [
      'origins alone',
      '{ allowOrigins: [{ exact: "https://a.com" }] }',
      `
allow_origin_string_match: [{ exact: "https://a.com" }]
filter_enabled: { default_value: { numerator: 100 } }
forward_not_matching_preflights: true`,
    ],
    [
      'no credentials, and preflights that go to the service',
      '{ allowCredentials: false, unmatchedPreflights: FORWARD }',
      `
allow_credentials: false
filter_enabled: { default_value: { numerator: 100 } }
forward_not_matching_preflights: true`,
    ],
  ])('%s', (_, policy, settings) => {
    expect(filtersOf(`corsPolicy: ${policy}`)).toBe(
      canonical(only('cors', 'CorsPolicy', settings)),
    );
  });
});

describe('the fault of a route', () => {
  it.each<[what: string, fault: string, settings: string]>([
    [
      'a delay',
      '{ delay: { fixedDelay: 1.5s, percentage: { value: 12.5 } } }',
      `
delay:
  fixed_delay: 1.500s
  percentage: { numerator: 125000, denominator: MILLION }`,
    ],
    [
      'a delay of no request, for none is said',
      '{ delay: { fixedDelay: 1s } }',
      `
delay:
  fixed_delay: 1s
  percentage: {}`,
    ],
    [
      'a status of HTTP',
      '{ abort: { httpStatus: 503, percentage: { value: 0.1 } } }',
      `
abort:
  http_status: 503
  percentage: { numerator: 1000, denominator: MILLION }`,
    ],
    [
      'a status of gRPC',
      '{ abort: { grpcStatus: UNAVAILABLE, percentage: { value: 100 } } }',
      `
abort:
  grpc_status: 14
  percentage: { numerator: 1000000, denominator: MILLION }`,
    ],
    [
      'both',
      '{ delay: { fixedDelay: 2s, percentage: { value: 50 } }, abort: { httpStatus: 400, percentage: { value: 1 } } }',
      `
delay:
  fixed_delay: 2s
  percentage: { numerator: 500000, denominator: MILLION }
abort:
  http_status: 400
  percentage: { numerator: 10000, denominator: MILLION }`,
    ],
  ])('%s', (_, fault, settings) => {
    expect(filtersOf(`fault: ${fault}`)).toBe(canonical(only('fault', 'HTTPFault', settings)));
  });
});
