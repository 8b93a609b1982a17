import { isIPv6 } from 'node:net';
import type { PortPolicy, Subset } from '../../istio/destination-rule.ts';
import type { ServicePort } from '../../istio/service-entry.ts';
import {
  Cluster_DiscoveryType as DiscoveryType,
  Cluster_DnsLookupFamily as DnsLookupFamily,
  Cluster_LbPolicy as LbPolicy,
  ClusterSchema,
} from '../../../shared/proto/envoy/config/cluster/v3/cluster_pb.ts';
import { ApiVersion } from '../../../shared/proto/envoy/config/core/v3/config_source_pb.ts';
import { CaresDnsResolverConfigSchema } from '../../../shared/proto/envoy/extensions/network/dns_resolver/cares/v3/cares_dns_resolver_pb.ts';
import type { XdsResource } from '../../push/view.ts';
import {
  serviceKey,
  type Endpoint,
  type Environment,
  type Service,
  type ServiceEndpoints,
} from '../../environment/environment.ts';
import {
  askedForMutualTls,
  disablingPolicies,
  type AskedForMutualTls,
} from '../tls/asked-for-mutual-tls.ts';
import { clusterMetadata } from './cluster-metadata.ts';
import { outboundName, outboundSni } from '../scope/cluster-name.ts';
import { connectionSettings, httpOptions, upstreamHttpOf } from './connection-pool.ts';
import { destinationRuleOf, type MatchedRule } from '../scope/destination-rule-of.ts';
import { isDns, isEds } from '../scope/resolution.ts';
import { encodeResource, type SortedView } from '../encoding/encode-resource.ts';
import { balancing, isPassthrough } from '../endpoints/load-balancing.ts';
import { reachedBy, usedClusters } from './reached-clusters.ts';
import { endpointsWith, loadAssignment } from '../endpoints/load-assignment.ts';
import { memoTable } from '../scope/memo.ts';
import { outboundScope } from '../scope/outbound-scope.ts';
import { protoDuration } from '../encoding/proto-duration.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { scopeOfPlace, scopeOfRulesFor } from '../scope/scope.ts';
import { serviceModeOf } from '../scope/service-mode.ts';
import { policyFor } from '../scope/traffic-policy.ts';
import { packed, type Init } from '../encoding/typed-config.ts';
import { upstreamTls } from '../tls/upstream-tls.ts';
import { viewByHost } from '../scope/view-by-host.ts';
import type { Services } from '../scope/visible-services.ts';

type Cluster = Init<typeof ClusterSchema>;

/**
 * Returns the clusters of the services visible to a proxy: one for each port, and one for each
 * subset of it. For a gateway, returns those that its routes lead to. The clusters of a service are
 * made again only if one of their inputs has changed.
 */
export function outboundClusters(environment: Environment, node: ProxyNode): SortedView {
  const reached = reachedBy(environment, node);
  const services = reached?.services ?? outboundScope(environment, node).services;
  const { mesh, peerAuthentications } = environment;
  const { role, addresses, tls } = node;
  const text = [
    role,
    dnsFamily(addresses),
    tls.clientCertChain,
    tls.clientKey,
    tls.clientRootCert,
    scopeOfRulesFor(environment, node),
    anyDns(services) ? scopeOfPlace(environment, node) : '',
  ];
  const view = ofScope(
    environment,
    services,
    [mesh, peerAuthentications],
    JSON.stringify(text),
    (service) => clustersFor(environment, node, service),
  );
  return reached === undefined ? view : usedClusters(view, reached);
}

const ofScope = viewByHost();
const dns = memoTable<boolean>();

const anyDns = (services: Services): boolean =>
  dns([services], '', () => [...services.values()].some(isDns));

const sharedClusters = memoTable<readonly XdsResource[]>();
const noRule = {};
const noPolicies = {};
const noEndpoints: ServiceEndpoints = new Map();

function clustersFor(
  environment: Environment,
  node: ProxyNode,
  service: Service,
): readonly XdsResource[] {
  const { mesh } = environment;
  const rule = destinationRuleOf(environment, node, service);
  const endpoints = environment.endpoints.get(serviceKey(service)) ?? noEndpoints;
  const facts = factsOf(service, endpoints);
  const serviceMode = serviceModeOf(environment, service.namespace);
  const inputs: Inputs = {
    environment,
    node,
    service,
    rule,
    endpoints,
    serviceMode,
    accounts: facts.accounts,
  };
  // The endpoints, and the locality of the proxy, are part of a cluster only if DNS resolves them.
  const { role, addresses, tls, locality, labels, network } = node;
  const parts = [
    role,
    dnsFamily(addresses),
    tls.clientCertChain,
    tls.clientKey,
    tls.clientRootCert,
    serviceMode,
  ];
  if (isDns(service)) {
    return sharedClusters(
      [service, rule ?? noRule, mesh, endpoints, disablingPolicies(environment) ?? noPolicies],
      JSON.stringify([parts, locality, labels, network]),
      () => all(inputs),
    );
  }
  return sharedClusters([service, rule ?? noRule, mesh], JSON.stringify([parts, facts.text]), () =>
    all(inputs),
  );
}

interface Inputs {
  readonly environment: Environment;
  readonly node: ProxyNode;
  readonly service: Service;
  readonly rule: MatchedRule | undefined;
  readonly endpoints: ServiceEndpoints;
  readonly serviceMode: 'disable' | 'mutual';
  readonly accounts: readonly string[];
}

interface Facts {
  /** Names in the certificates of the endpoints, sorted. */
  readonly accounts: readonly string[];
  /** Everything that clusters without inline endpoints contain of endpoints. */
  readonly text: string;
}

const facts = memoTable<Facts>();

function factsOf(service: Service, endpoints: ServiceEndpoints): Facts {
  return facts([service, endpoints], '', () => {
    const identities = [...endpoints.values()].flat().map(({ identity }) => identity);
    const accounts = [
      ...new Set([...service.subjectAltNames, ...identities].filter((name) => name !== '')),
    ].sort();
    const mutual = [...endpoints].map(
      ([port, portEndpoints]) => `${port} ${String(isMutual(portEndpoints))}`,
    );
    return { accounts, text: [...accounts, ...mutual].join('\n') };
  });
}

/** Returns whether all of some endpoints support mutual TLS. */
const isMutual = (endpoints: readonly Endpoint[]): boolean =>
  endpoints.length > 0 && endpoints.every(({ tlsMode }) => tlsMode === 'istio');

function all(inputs: Inputs): readonly XdsResource[] {
  const { service, rule } = inputs;
  const ports = service.ports.filter(({ protocol }) => protocol !== 'udp');
  return ports.flatMap((port) =>
    [undefined, ...(rule?.spec.subsets ?? [])].flatMap(
      (subset) => outboundCluster(inputs, port, subset) ?? [],
    ),
  );
}

function outboundCluster(
  inputs: Inputs,
  port: ServicePort,
  subset: Subset | undefined,
): XdsResource | undefined {
  const { environment, node, service, rule, accounts, serviceMode } = inputs;
  const { mesh } = environment;
  const named = { port: port.number, subset: subset?.name ?? '', host: service.host };
  const name = outboundName(named);
  const policy = policyFor(rule?.spec, port.number, named.subset);
  const endpoints = inputs.endpoints.get(port.number) ?? [];
  const subsetEndpoints = endpointsWith(endpoints, subset?.labels ?? {});
  const discovery = discoveryOf(
    inputs,
    name,
    port,
    policy,
    subsetEndpoints,
    askedForMutualTls(environment, rule, port.number, subset),
  );
  if (discovery === undefined) return undefined;

  const pool = policy.connectionPool;
  const http = upstreamHttpOf(port.protocol, pool, node.role);
  const isDirect = service.resolution === 'none' || isPassthrough(policy);
  const isAutomatic =
    mesh.enableAutoMtls &&
    service.location === 'internal' &&
    serviceMode === 'mutual' &&
    (!isDirect || isMutual(endpoints));
  const tls = upstreamTls({
    tls: policy.tls,
    unruled: isAutomatic ? 'mutual' : 'plain',
    destination: isDirect ? 'original' : 'listed',
    alpn: http === 'http2' ? 'h2' : 'nothing',
    sni: outboundSni(named),
    accounts,
    node,
    location: service.location,
    secrets:
      node.role === 'router' || rule?.spec.workloadSelector !== undefined ? 'given' : 'refused',
  });
  const cluster: Cluster = {
    name,
    altStatName: `${name};`,
    ...connectionSettings(mesh, pool),
    ...balancing(policy),
    ...discovery,
    ...httpOptions(http, pool, tls.names),
    ...tls.cluster,
    metadata: clusterMetadata({
      rule,
      services: [service],
      subset: named.subset,
      // As in istiod, only the cluster of the whole service has it.
      isExternal: service.location === 'external' && subset === undefined,
      isOriginated: isOriginated(policy),
    }),
  };
  return encodeResource(ClusterSchema, name, cluster, [
    service.key,
    ...(rule?.keys ?? []),
    ...(isDns(service) ? endpoints.map(({ key }) => key) : []),
  ]);
}

/** Returns whether the connection uses TLS that is not of the mesh. */
const isOriginated = ({ tls }: PortPolicy): boolean =>
  tls?.mode === 'simple' || tls?.mode === 'mutual';

/** Returns how a cluster finds its endpoints; undefined if DNS has none to resolve. */
function discoveryOf(
  { service, node }: Inputs,
  name: string,
  { targetPort }: ServicePort,
  policy: PortPolicy,
  endpoints: readonly Endpoint[],
  asked: AskedForMutualTls,
): Cluster | undefined {
  if (policy.tls?.mode === 'closed') {
    return {
      clusterDiscoveryType: { case: 'type', value: DiscoveryType.STATIC },
      loadAssignment: { clusterName: name },
    };
  }
  const dns = isDns(service) ? dnsSettings(node) : {};
  if (isPassthrough(policy) || (!isEds(service, node) && !isDns(service))) {
    return {
      ...dns,
      clusterDiscoveryType: { case: 'type', value: DiscoveryType.ORIGINAL_DST },
      lbPolicy: LbPolicy.CLUSTER_PROVIDED,
      // The port of the original destination is that of the service.
      lbConfig:
        service.resolution === 'none' && !isEds(service, node) && targetPort !== undefined
          ? atPort(targetPort)
          : none,
    };
  }
  if (isEds(service, node)) {
    return {
      clusterDiscoveryType: { case: 'type', value: DiscoveryType.EDS },
      edsClusterConfig: {
        serviceName: name,
        edsConfig: {
          configSourceSpecifier: { case: 'ads', value: {} },
          initialFetchTimeout: {},
          resourceApiVersion: ApiVersion.V3,
        },
      },
    };
  }
  if (endpoints.length === 0) return undefined;
  const [value, used] =
    service.resolution === 'dns'
      ? [DiscoveryType.STRICT_DNS, endpoints]
      : [DiscoveryType.LOGICAL_DNS, endpoints.slice(0, 1)]; // Envoy uses only one
  return {
    ...dns,
    clusterDiscoveryType: { case: 'type', value },
    loadAssignment: loadAssignment(name, used, policy, node, asked),
  };
}

const none = { case: undefined } as const;
const atPort = (upstreamPortOverride: number) =>
  ({ case: 'originalDstLbConfig', value: { upstreamPortOverride } }) as const;

const dnsSettings = ({ addresses }: ProxyNode): Cluster => ({
  dnsRefreshRate: protoDuration(60_000),
  respectDnsTtl: true,
  dnsLookupFamily: dnsFamily(addresses),
  // By default c-ares keeps one socket forever, and so asks one server only.
  typedDnsResolverConfig: {
    name: 'envoy.network.dns_resolver.cares',
    typedConfig: packed(CaresDnsResolverConfigSchema, { udpMaxQueries: 100 }),
  },
});

/** Returns the address family that a proxy can reach, from its own addresses. */
const dnsFamily = (addresses: readonly string[]): DnsLookupFamily =>
  addresses.length > 0 && addresses.every(isIPv6)
    ? DnsLookupFamily.V6_ONLY
    : DnsLookupFamily.V4_ONLY;
