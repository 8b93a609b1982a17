// Why: docs/decisions/089-an-authorizer-that-cannot-be-asked-refuses.md
import type { AccessRule } from '../../istio/security/access-policy.ts';
import type { Authorizer, HttpChecks } from '../../istio/mesh/authorizer.ts';
import type { Environment } from '../../environment/environment.ts';
import { ApiVersion } from '../../../shared/proto/envoy/config/core/v3/config_source_pb.ts';
import type { GrpcServiceSchema } from '../../../shared/proto/envoy/config/core/v3/grpc_service_pb.ts';
import {
  RBAC_Action as Action,
  type RBACSchema as RulesSchema,
} from '../../../shared/proto/envoy/config/rbac/v3/rbac_pb.ts';
import {
  ExtAuthzSchema as HttpAsksSchema,
  type HttpServiceSchema,
} from '../../../shared/proto/envoy/extensions/filters/http/ext_authz/v3/ext_authz_pb.ts';
import { RBACSchema as HttpSchema } from '../../../shared/proto/envoy/extensions/filters/http/rbac/v3/rbac_pb.ts';
import { ExtAuthzSchema as TcpAsksSchema } from '../../../shared/proto/envoy/extensions/filters/network/ext_authz/v3/ext_authz_pb.ts';
import { RBACSchema as TcpSchema } from '../../../shared/proto/envoy/extensions/filters/network/rbac/v3/rbac_pb.ts';
import type { MetadataMatcherSchema } from '../../../shared/proto/envoy/type/matcher/v3/metadata_pb.ts';
import type { ListStringMatcherSchema } from '../../../shared/proto/envoy/type/matcher/v3/string_pb.ts';
import { StatusCode } from '../../../shared/proto/envoy/type/v3/http_status_pb.ts';
import { protoDuration } from '../encoding/proto-duration.ts';
import { type Init, typedConfig, type TypedConfig } from '../encoding/typed-config.ts';
import { authorizerOf } from '../scope/authorizer-of.ts';
import { type AccessFilters, type AccessPolicyResource, ruleName } from './access-filters.ts';
import { type AccessLayer, wildcardMatcher } from './access-matches.ts';
import { rbacPolicies } from './rbac-policies.ts';

const httpRbac = 'envoy.filters.http.rbac';
const tcpRbac = 'envoy.filters.network.rbac';
const tcpPrefix = 'tcp.';

interface AskingPolicy {
  readonly policy: AccessPolicyResource;
  readonly provider: string;
  readonly rules: readonly AccessRule[];
}

/**
 * Returns the filters of policies with CUSTOM. The first filter notes which rule a request meets,
 * the second one asks the authorizer if there is such a rule. If the authorizer cannot be asked,
 * one filter refuses requests that meet a rule. Pure.
 */
export function askingFilters(
  policies: readonly AccessPolicyResource[],
  environment: Pick<Environment, 'mesh' | 'services'>,
): AccessFilters {
  const asking = policies.flatMap((policy): readonly AskingPolicy[] => {
    const { effect } = policy.spec;
    return effect.type === 'asks' ? [{ policy, ...effect }] : [];
  });
  if (asking.length === 0) return { http: [], tcp: [] };
  const { trustDomain } = environment.mesh;
  const refused = {
    http: () =>
      typedConfig(httpRbac, HttpSchema, { rules: rulesOf(asking, 'http', trustDomain, bad) }),
    tcp: () =>
      typedConfig(tcpRbac, TcpSchema, {
        rules: rulesOf(asking, 'tcp', trustDomain, bad),
        statPrefix: tcpPrefix,
      }),
  };
  const lookup = authorizerOf(
    environment,
    asking.map(({ provider }) => provider),
  );
  if (lookup.type === 'bad') return { http: [refused.http()], tcp: [refused.tcp()] };
  const { authorizer, cluster } = lookup;
  const http = typedConfig(httpRbac, HttpSchema, {
    shadowRules: rulesOf(asking, 'http', trustDomain, ''),
    shadowRulesStatPrefix: shadowPrefix,
  });
  // An authorizer of HTTP cannot decide on connections.
  if (authorizer.protocol.type === 'http')
    return { http: [http, httpAsks(authorizer, cluster)], tcp: [refused.tcp()] };
  const tcp = typedConfig(tcpRbac, TcpSchema, {
    shadowRules: rulesOf(asking, 'tcp', trustDomain, ''),
    shadowRulesStatPrefix: shadowPrefix,
    statPrefix: tcpPrefix,
  });
  return { http: [http, httpAsks(authorizer, cluster)], tcp: [tcp, tcpAsks(authorizer, cluster)] };
}

const bad = '-deny-due-to-bad-CUSTOM-action';

/** Returns the rules of all policies. `suffix` ends the name of each rule. */
const rulesOf = (
  asking: readonly AskingPolicy[],
  layer: AccessLayer,
  trustDomain: string,
  suffix: '' | typeof bad,
): Init<typeof RulesSchema> => ({
  action: Action.DENY,
  policies: Object.fromEntries(
    asking.flatMap(({ policy, rules }) =>
      rbacPolicies(rules, {
        nameOf: (index) => `${askedPrefix}-${ruleName(policy, index)}${suffix}`,
        unknown: 'ignored',
        layer,
        trustDomain,
      }),
    ),
  ),
});

const shadowPrefix = 'istio_ext_authz_';
const askedPrefix = 'istio-ext-authz';

/** Matches requests for which the filter before has noted a rule. */
const ifAsked = (filter: string): Init<typeof MetadataMatcherSchema> => ({
  filter,
  path: [{ segment: { case: 'key', value: `${shadowPrefix}shadow_effective_policy_id` } }],
  value: {
    matchPattern: {
      case: 'stringMatch',
      value: { matchPattern: { case: 'prefix', value: askedPrefix } },
    },
  },
});

const statusCodes = new Map<number, StatusCode>(
  Object.values(StatusCode).flatMap((code) => (typeof code === 'number' ? [[code, code]] : [])),
);

function httpAsks(authorizer: Authorizer, cluster: string): TypedConfig {
  const { protocol, body, statusWithoutAnswer } = authorizer;
  const code = statusWithoutAnswer === undefined ? undefined : statusCodes.get(statusWithoutAnswer);
  return typedConfig('envoy.filters.http.ext_authz', HttpAsksSchema, {
    services:
      protocol.type === 'grpc'
        ? { case: 'grpcService', value: grpcService(authorizer, cluster) }
        : { case: 'httpService', value: httpService(authorizer, protocol, cluster) },
    transportApiVersion: ApiVersion.V3,
    failureModeAllow: authorizer.withoutAnswer === 'let-through',
    clearRouteCache: authorizer.routes === 'chosen-again',
    filterEnabledMetadata: ifAsked(httpRbac),
    ...(code !== undefined && { statusOnError: { code } }),
    ...(body !== undefined && {
      withRequestBody: {
        maxRequestBytes: body.maxBytes,
        allowPartialMessage: body.longer === 'part',
        packAsBytes: body.as === 'bytes',
      },
    }),
    ...(protocol.type === 'http' &&
      protocol.shownHeaders.length > 0 && { allowedHeaders: headersLike(protocol.shownHeaders) }),
  });
}

const tcpAsks = (authorizer: Authorizer, cluster: string): TypedConfig =>
  typedConfig('envoy.filters.network.ext_authz', TcpAsksSchema, {
    statPrefix: tcpPrefix,
    grpcService: grpcService(authorizer, cluster),
    failureModeAllow: authorizer.withoutAnswer === 'let-through',
    transportApiVersion: ApiVersion.V3,
    filterEnabledMetadata: ifAsked(tcpRbac),
  });

const grpcService = (
  { host, timeoutMs }: Authorizer,
  clusterName: string,
): Init<typeof GrpcServiceSchema> => ({
  targetSpecifier: { case: 'envoyGrpc', value: { clusterName, authority: host } },
  timeout: protoDuration(timeoutMs),
});

function httpService(
  { host, timeoutMs }: Authorizer,
  { pathPrefix, addedHeaders, ...answered }: HttpChecks,
  cluster: string,
): Init<typeof HttpServiceSchema> {
  const { toUpstream, toDownstreamIfDenied, toDownstreamIfAllowed } = answered;
  const used = [toUpstream, toDownstreamIfDenied, toDownstreamIfAllowed];
  return {
    serverUri: {
      uri: `http://${host}`,
      httpUpstreamType: { case: 'cluster', value: cluster },
      timeout: protoDuration(timeoutMs),
    },
    pathPrefix,
    ...(addedHeaders.length > 0 && {
      authorizationRequest: { headersToAdd: addedHeaders.map(([key, value]) => ({ key, value })) },
    }),
    ...(used.flat().length > 0 && {
      authorizationResponse: {
        ...(toUpstream.length > 0 && { allowedUpstreamHeaders: headersLike(toUpstream) }),
        ...(toDownstreamIfDenied.length > 0 && {
          allowedClientHeaders: headersLike(toDownstreamIfDenied),
        }),
        ...(toDownstreamIfAllowed.length > 0 && {
          allowedClientHeadersOnSuccess: headersLike(toDownstreamIfAllowed),
        }),
      },
    }),
  };
}

/** Returns a matcher of header names, which may begin or end with `*`, in any case. */
const headersLike = (names: readonly string[]): Init<typeof ListStringMatcherSchema> => ({
  patterns: names.map((name) => ({ ...wildcardMatcher(name), ignoreCase: true })),
});
