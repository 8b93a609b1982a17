import type { Any } from '@bufbuild/protobuf/wkt';
import type { CorsPolicy, Fault, HttpRoute } from '../../istio/traffic/virtual-service.ts';
import { CorsPolicySchema } from '../../../shared/proto/envoy/extensions/filters/http/cors/v3/cors_pb.ts';
import { HTTPFaultSchema } from '../../../shared/proto/envoy/extensions/filters/http/fault/v3/fault_pb.ts';
import { always, fractionalPercent } from '../encoding/fractional-percent.ts';
import { protoDuration } from '../encoding/proto-duration.ts';
import { stringMatcher } from '../encoding/string-matcher.ts';
import { packed } from '../encoding/typed-config.ts';

/** Returns the settings of filters for one route, by name of the filter. */
export function routeFilters({
  corsPolicy,
  fault,
}: Pick<HttpRoute, 'corsPolicy' | 'fault'>): Record<string, Any> {
  return {
    ...(corsPolicy !== undefined && { 'envoy.filters.http.cors': cors(corsPolicy) }),
    ...(fault !== undefined && { 'envoy.filters.http.fault': injected(fault) }),
  };
}

function cors(policy: CorsPolicy): Any {
  const {
    allowOrigins,
    allowMethods,
    allowHeaders,
    exposeHeaders,
    maxAgeMs,
    allowCredentials,
    unmatchedPreflights,
  } = policy;
  return packed(CorsPolicySchema, {
    allowOriginStringMatch: allowOrigins.map(stringMatcher),
    allowMethods: allowMethods.join(','),
    allowHeaders: allowHeaders.join(','),
    exposeHeaders: exposeHeaders.join(','),
    ...(maxAgeMs !== undefined && { maxAge: String(Math.floor(maxAgeMs / 1000)) }),
    ...(allowCredentials !== undefined && { allowCredentials }),
    filterEnabled: { defaultValue: always },
    forwardNotMatchingPreflights: unmatchedPreflights !== 'ignore',
  });
}

function injected({ delay, abort }: Fault): Any {
  return packed(HTTPFaultSchema, {
    ...(delay !== undefined && {
      delay: {
        faultDelaySecifier: { case: 'fixedDelay', value: protoDuration(delay.fixedDelayMs) },
        percentage: delay.percentage === undefined ? {} : fractionalPercent(delay.percentage),
      },
    }),
    ...(abort !== undefined && {
      abort: {
        errorType:
          'http' in abort.status
            ? { case: 'httpStatus', value: abort.status.http }
            : { case: 'grpcStatus', value: abort.status.grpc },
        ...(abort.percentage !== undefined && { percentage: fractionalPercent(abort.percentage) }),
      },
    }),
  });
}
