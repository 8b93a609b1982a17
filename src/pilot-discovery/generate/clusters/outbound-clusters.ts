import type { Subset } from '../../istio/traffic/destination-rule.ts';
import type { ServicePort } from '../../istio/hosts/service-entry.ts';
import { ClusterSchema } from '../../../shared/proto/envoy/config/cluster/v3/cluster_pb.ts';
import type { XdsResource } from '../../push/view.ts';
import {
  serviceKey,
  type Endpoint,
  type Environment,
  type Service,
  type ServiceEndpoints,
} from '../../environment/environment.ts';
import { identityOf } from '../../environment/workload-endpoint.ts';
import { mutualTlsMark, disablingPolicies } from '../tls/mutual-tls-mark.ts';
import { clusterMetadata, isOriginated } from './cluster-metadata.ts';
import { outboundName, outboundSni } from '../scope/cluster-name.ts';
import {
  connectionSettings,
  httpOptions,
  type UpstreamHttp,
  upstreamHttpOf,
} from './connection-pool.ts';
import { outboundDiscovery, type OutboundInputs } from './outbound-discovery.ts';
import { sniCluster } from './sni-clusters.ts';
import { destinationRuleOf } from '../scope/destination-rule-of.ts';
import { anyDns, isDns, isDynamicDns } from '../scope/resolution.ts';
import { dnsFamily } from '../encoding/dns-settings.ts';
import { encodeResource, type SortedView } from '../encoding/encode-resource.ts';
import { balancing, isPassthrough } from '../endpoints/load-balancing.ts';
import { reachedBy, usedClusters } from './reached-clusters.ts';
import { endpointsWith } from '../endpoints/load-assignment.ts';
import { scopeOfNetwork, visibleTo } from '../endpoints/network-gateways.ts';
import { memoTable } from '../scope/memo.ts';
import { outboundScope } from '../scope/outbound-scope.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { scopeOfPlace, scopeOfRulesFor } from '../scope/scope.ts';
import { serviceModeOf } from '../scope/service-mode.ts';
import { passageOf } from '../scope/sni-destinations.ts';
import { policyFor, proxyProtocolFor, retryBudgetFor } from '../scope/traffic-policy.ts';
import type { Init } from '../encoding/typed-config.ts';
import { withProxyProtocol } from '../tls/proxy-protocol.ts';
import { type UpstreamTls, upstreamTls } from '../tls/upstream-tls.ts';
import { viewByHost } from '../scope/view-by-host.ts';

type Cluster = Init<typeof ClusterSchema>;

/**
 * Returns the clusters of the services visible to a proxy: one for each port, and one for each
 * subset of it. For a gateway, returns only those that it uses (`reachedBy`), unless
 * `gatewayClusters` is `all`. The clusters of a service are made again only if one of their inputs
 * has changed.
 */
export function outboundClusters(environment: Environment, node: ProxyNode): SortedView {
  const reached = reachedBy(environment, node);
  const services = reached?.services ?? outboundScope(environment, node).services;
  const { mesh, networks, peerAuthentications } = environment;
  const { role, addresses, tls } = node;
  const text = [
    role,
    passageOf(environment, node),
    dnsFamily(addresses),
    tls.clientCertChain,
    tls.clientKey,
    tls.clientRootCert,
    scopeOfRulesFor(environment, node),
    ...(anyDns(services)
      ? [scopeOfPlace(environment, node), scopeOfNetwork(environment, node)]
      : []),
  ];
  const view = ofScope(
    environment,
    services,
    [mesh, peerAuthentications, networks],
    JSON.stringify(text),
    (service) => clustersFor(environment, node, service),
  );
  return reached === undefined ? view : usedClusters(view, reached);
}

const ofScope = viewByHost();

const sharedClusters = memoTable<readonly XdsResource[]>();
const noRule = {};
const noPolicies = {};
const noEndpoints: ServiceEndpoints = new Map();

function clustersFor(
  environment: Environment,
  node: ProxyNode,
  service: Service,
): readonly XdsResource[] {
  const { mesh, networks } = environment;
  const rule = destinationRuleOf(environment, node, service);
  const endpoints = environment.endpoints.get(serviceKey(service)) ?? noEndpoints;
  const facts = factsOf(service, endpoints, mesh.trustDomain);
  const serviceMode = serviceModeOf(environment, service.namespace);
  const inputs: OutboundInputs = {
    environment,
    node,
    service,
    rule,
    endpoints,
    serviceMode,
    accounts: facts.accounts,
    passage: passageOf(environment, node),
  };
  // The endpoints, and the locality of the proxy, are part of a cluster only if DNS resolves them.
  const { role, addresses, tls, locality, labels, network, networkView } = node;
  const parts = [
    role,
    inputs.passage,
    dnsFamily(addresses),
    tls.clientCertChain,
    tls.clientKey,
    tls.clientRootCert,
    serviceMode,
  ];
  if (isDns(service)) {
    return sharedClusters(
      [
        ...[service, rule ?? noRule, mesh, networks, endpoints],
        disablingPolicies(environment) ?? noPolicies,
      ],
      JSON.stringify([parts, locality, labels, network, networkView]),
      () => all(inputs),
    );
  }
  return sharedClusters([service, rule ?? noRule, mesh], JSON.stringify([parts, facts.text]), () =>
    all(inputs),
  );
}

interface Facts {
  /** Names in the certificates of the endpoints, sorted. */
  readonly accounts: readonly string[];
  /** The properties of endpoints that affect a cluster without inline endpoints, as a text. */
  readonly text: string;
}

const facts = memoTable<Facts>();

function factsOf(service: Service, endpoints: ServiceEndpoints, trustDomain: string): Facts {
  return facts([service, endpoints], trustDomain, () => {
    const identities = [...endpoints.values()].flat().map(({ identity }) => identity);
    const named = service.serviceAccounts.map((account) =>
      identityOf(trustDomain, service.namespace, account),
    );
    const accounts = [
      ...new Set(
        [...service.subjectAltNames, ...named, ...identities].filter((name) => name !== ''),
      ),
    ].sort();
    const mutual = [...endpoints].map(
      ([port, portEndpoints]) => `${port} ${String(isMutual(portEndpoints))}`,
    );
    return { accounts, text: [...accounts, ...mutual].join('\n') };
  });
}

/** Returns whether all these endpoints support mutual TLS. */
const isMutual = (endpoints: readonly Endpoint[]): boolean =>
  endpoints.length > 0 && endpoints.every(({ tlsMode }) => tlsMode === 'istio');

function all(inputs: OutboundInputs): readonly XdsResource[] {
  const { service, rule, passage } = inputs;
  const ports = service.ports.filter(({ protocol }) => protocol !== 'udp');
  const isPassedOn = passage === 'by-sni' && service.location === 'internal';
  return ports.flatMap((port) =>
    [undefined, ...(rule?.spec.subsets ?? [])].flatMap((subset) => [
      ...present(outboundCluster(inputs, port, subset)),
      ...(isPassedOn ? present(sniCluster(inputs, port, subset)) : []),
    ]),
  );
}

const present = (cluster: XdsResource | undefined): readonly XdsResource[] =>
  cluster === undefined ? [] : [cluster];

function outboundCluster(
  inputs: OutboundInputs,
  port: ServicePort,
  subset: Subset | undefined,
): XdsResource | undefined {
  const { environment, node, service, rule } = inputs;
  const { mesh } = environment;
  const named = { port: port.number, subset: subset?.name ?? '', host: service.host };
  const name = outboundName(named);
  const policy = policyFor(rule?.spec, port.number, named.subset);
  const endpoints = inputs.endpoints.get(port.number) ?? [];
  const subsetEndpoints = endpointsWith(
    visibleTo(environment, node, endpoints),
    subset?.labels ?? {},
  );
  const discovery = outboundDiscovery(
    inputs,
    name,
    port,
    policy,
    subsetEndpoints,
    mutualTlsMark(environment, rule, port.number, subset),
  );
  if (discovery === undefined) return undefined;

  const pool = policy.connectionPool;
  const http = upstreamHttpOf(port.protocol, pool, node.role);
  const tls = tlsOf(inputs, port, named, http);
  const protocol = proxyProtocolFor(rule?.spec, port.number, named.subset);
  const cluster: Cluster = {
    name,
    altStatName: `${name};`,
    ...connectionSettings(mesh, pool, retryBudgetFor(rule?.spec, named.subset)),
    ...balancing(policy, service.trafficDistribution, mesh),
    ...discovery,
    ...httpOptions(http, pool, tls.names),
    ...(protocol === undefined ? tls.cluster : withProxyProtocol(tls.cluster, protocol)),
    metadata: clusterMetadata({
      rule,
      services: [service],
      subset: named.subset,
      // As in istiod, only the cluster of the whole service is marked as external.
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

/** Returns the encryption of the connections of a cluster. */
function tlsOf(
  { environment, node, service, rule, accounts, serviceMode, ...inputs }: OutboundInputs,
  { number }: ServicePort,
  named: Parameters<typeof outboundSni>[0],
  http: UpstreamHttp,
): UpstreamTls {
  const policy = policyFor(rule?.spec, number, named.subset);
  const endpoints = inputs.endpoints.get(number) ?? [];
  const isDirect = service.resolution === 'none' || isDynamicDns(service) || isPassthrough(policy);
  const isAutomatic =
    environment.mesh.enableAutoMtls &&
    service.location === 'internal' &&
    serviceMode === 'mutual' &&
    (!isDirect || isMutual(endpoints));
  return upstreamTls({
    tls: policy.tls,
    unruled: isAutomatic ? 'mutual' : 'plain',
    destination: isDirect ? 'original' : 'listed',
    alpn: http === 'http2' ? 'h2' : 'nothing',
    sni: outboundSni(named),
    accounts,
    registry: service.registry,
    node,
    location: service.location,
    secrets:
      node.role === 'router' || rule?.spec.workloadSelector !== undefined ? 'given' : 'refused',
  });
}
