import {
  RedirectAction_RedirectResponseCode as RedirectCode,
  type RouteSchema,
} from '../../../shared/proto/envoy/config/route/v3/route_components_pb.ts';
import type {
  DirectResponseActionSchema,
  RedirectActionSchema,
  RouteAction_RequestMirrorPolicySchema,
  RouteActionSchema,
  RouteAction_HashPolicySchema,
  WeightedCluster_ClusterWeightSchema,
} from '../../../shared/proto/envoy/config/route/v3/route_components_pb.ts';
import type {
  Destination,
  HttpDestination,
  HttpRoute,
  Mirror,
  Redirect,
} from '../../istio/traffic/virtual-service.ts';
import { always, fractionalPercent } from '../encoding/fractional-percent.ts';
import { authorityOf, headersToAdd } from './header-operations.ts';
import { protoDuration } from '../encoding/proto-duration.ts';
import { retryPolicy } from './retry-policy.ts';
import type { Init } from '../encoding/typed-config.ts';

type Action = NonNullable<Init<typeof RouteSchema>['action']>;
type HashPolicy = Init<typeof RouteAction_HashPolicySchema>;

/** The inputs of a route besides its rule. */
export interface RouteSurroundings {
  /** The port of the listener. */
  readonly port: number;
  /** The scheme of its requests. */
  readonly scheme: 'http' | 'https';
  /** Returns the port of a destination that names none. */
  readonly portOf: (host: string) => number;
  /** Returns what selects the host of a request, by the DestinationRule of its destination. */
  readonly hashPolicy: (destination: Destination) => HashPolicy | undefined;
}

/**
 * Returns the action for a request: a redirect, a direct response, or a route to one cluster or to
 * several.
 */
export function routeAction(rule: HttpRoute, around: RouteSurroundings): Action {
  if (rule.redirect !== undefined)
    return { case: 'redirect', value: redirect(rule.redirect, around) };
  if (rule.directResponse !== undefined)
    return { case: 'directResponse', value: answer(rule.directResponse) };
  return { case: 'route', value: forward(rule, around) };
}

/** Returns the action for requests without a rule: they go to the service itself. */
export function plainForward(
  cluster: string,
  hashPolicy: HashPolicy | undefined,
): Init<typeof RouteActionSchema> {
  const retries = retryPolicy(undefined, 'any');
  return {
    clusterSpecifier: { case: 'cluster', value: cluster },
    timeout: {},
    ...(retries !== undefined && { retryPolicy: retries }),
    hashPolicy: hashPolicy === undefined ? [] : [hashPolicy],
    maxGrpcTimeout: {},
  };
}

/** Returns the cluster of a destination in a rule. */
function clusterOf({ host, subset, port }: Destination, around: RouteSurroundings): string {
  return `outbound|${port === 0 ? around.portOf(host) : port}|${subset}|${host}`;
}

function forward(rule: HttpRoute, around: RouteSurroundings): Init<typeof RouteActionSchema> {
  const { rewrite, route, retries, mirrors, headers } = rule;
  const [only] = route;
  const alone = route.length === 1 && only !== undefined ? only : undefined;
  const weighted = route.filter(({ weight }) => weight > 0);
  const hashPolicies = (alone === undefined ? weighted : [alone]).flatMap(
    ({ destination }) => around.hashPolicy(destination) ?? [],
  );
  const authority =
    (rewrite === undefined || rewrite.authority === '' ? undefined : rewrite.authority) ??
    authorityOf(headers.request) ??
    (alone === undefined ? undefined : authorityOf(alone.headers.request));
  const again = retryPolicy(
    retries,
    alone !== undefined && hashPolicies.length > 0 ? 'by-hash' : 'any',
  );
  const timeout = protoDuration(rule.timeoutMs ?? 0);
  return {
    clusterSpecifier:
      alone === undefined
        ? {
            case: 'weightedClusters',
            value: { clusters: weighted.map((destination) => clusterWeight(destination, around)) },
          }
        : { case: 'cluster', value: clusterOf(alone.destination, around) },
    ...(rewrite !== undefined && rewrite.uri !== '' && { prefixRewrite: rewrite.uri }),
    ...(rewrite?.uriRegex !== undefined && {
      regexRewrite: {
        pattern: { regex: rewrite.uriRegex.match },
        substitution: rewrite.uriRegex.rewrite,
      },
    }),
    ...(authority !== undefined && {
      hostRewriteSpecifier: { case: 'hostRewriteLiteral', value: authority },
    }),
    timeout,
    maxGrpcTimeout: timeout,
    ...(again !== undefined && { retryPolicy: again }),
    requestMirrorPolicies: mirrors
      .filter(({ percentage }) => percentage > 0)
      .map((mirror) => mirrorPolicy(mirror, around)),
    hashPolicy: hashPolicies,
  };
}

function clusterWeight(
  { destination, weight, headers }: HttpDestination,
  around: RouteSurroundings,
): Init<typeof WeightedCluster_ClusterWeightSchema> {
  const authority = authorityOf(headers.request);
  return {
    name: clusterOf(destination, around),
    weight,
    requestHeadersToAdd: headersToAdd(headers.request),
    requestHeadersToRemove: [...headers.request.remove],
    responseHeadersToAdd: headersToAdd(headers.response),
    responseHeadersToRemove: [...headers.response.remove],
    ...(authority !== undefined && {
      hostRewriteSpecifier: { case: 'hostRewriteLiteral', value: authority },
    }),
  };
}

const mirrorPolicy = (
  { destination, percentage }: Mirror,
  around: RouteSurroundings,
): Init<typeof RouteAction_RequestMirrorPolicySchema> => ({
  cluster: clusterOf(destination, around),
  runtimeFraction: { defaultValue: percentage === 100 ? always : fractionalPercent(percentage) },
  traceSampled: false,
});

const redirectCodes: Readonly<Record<number, RedirectCode>> = {
  301: RedirectCode.MOVED_PERMANENTLY,
  302: RedirectCode.FOUND,
  303: RedirectCode.SEE_OTHER,
  307: RedirectCode.TEMPORARY_REDIRECT,
  308: RedirectCode.PERMANENT_REDIRECT,
};

function redirect(
  { uri, prefixRewrite, authority, scheme, port, redirectCode }: Redirect,
  around: RouteSurroundings,
): Init<typeof RedirectActionSchema> {
  const wanted = port === 'from-request-port' ? around.port : typeof port === 'number' ? port : 0;
  const usual = (scheme === '' ? around.scheme : scheme) === 'https' ? 443 : 80;
  return {
    ...(scheme !== '' && { schemeRewriteSpecifier: { case: 'schemeRedirect', value: scheme } }),
    hostRedirect: authority,
    portRedirect: wanted === usual ? 0 : wanted,
    pathRewriteSpecifier:
      prefixRewrite === undefined
        ? { case: 'pathRedirect', value: uri }
        : { case: 'prefixRewrite', value: prefixRewrite },
    responseCode: redirectCodes[redirectCode] ?? RedirectCode.MOVED_PERMANENTLY,
  };
}

function answer({
  status,
  body,
}: NonNullable<HttpRoute['directResponse']>): Init<typeof DirectResponseActionSchema> {
  if (body === undefined) return { status };
  return {
    status,
    body: {
      specifier:
        'text' in body
          ? { case: 'inlineString', value: body.text }
          : { case: 'inlineBytes', value: Buffer.from(body.bytes, 'base64') },
    },
  };
}
