import { ClusterLoadAssignmentSchema } from '../../../shared/proto/envoy/config/endpoint/v3/endpoint_pb.ts';
import type { XdsResource } from '../../push/view.ts';
import {
  serviceKey,
  type Endpoint,
  type Environment,
  type Service,
} from '../../environment/environment.ts';
import { mutualTlsMark, disablingPolicies } from '../tls/mutual-tls-mark.ts';
import { outboundName, outboundSni } from '../scope/cluster-name.ts';
import { destinationRuleOf, type MatchedRule } from '../scope/destination-rule-of.ts';
import { encodeResource, type SortedView, withResources } from '../encoding/encode-resource.ts';
import { isEds } from '../scope/resolution.ts';
import { isPassthrough } from './load-balancing.ts';
import { distributes, localityPolicyOf } from '../scope/locality-policy.ts';
import { endpointsWith, loadAssignment } from './load-assignment.ts';
import { ownAssignment } from './own-assignment.ts';
import { memoTable } from '../scope/memo.ts';
import { reachOf, scopeOfNetwork, visibleTo } from './network-gateways.ts';
import { outboundScope } from '../scope/outbound-scope.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { scopeOfPlace, scopeOfRulesFor } from '../scope/scope.ts';
import { passageOf } from '../scope/sni-destinations.ts';
import { policyFor } from '../scope/traffic-policy.ts';
import { viewByHost } from '../scope/view-by-host.ts';

/** Returns the endpoints of all clusters of a proxy that subscribe to them. */
export function endpointView(environment: Environment, node: ProxyNode): SortedView {
  const view = outboundEndpoints(environment, node);
  if (node.ownCluster === 'unknown') return view;
  const assigned = ownAssignment(environment, node);
  return withOwn([view, assigned], '', () => withResources(view, [[assigned.name, assigned]]));
}

const withOwn = memoTable<SortedView>();

function outboundEndpoints(environment: Environment, node: ProxyNode): SortedView {
  const { services } = outboundScope(environment, node);
  const place = scopeOfPlace(environment, node);
  const passage = passageOf(environment, node);
  const network = scopeOfNetwork(environment, node);
  const text = JSON.stringify([
    node.role,
    passage,
    scopeOfRulesFor(environment, node),
    place,
    network,
  ]);
  return ofScope(
    environment,
    services,
    [disablingPolicies(environment) ?? noPolicies, environment.mesh, environment.networks],
    text,
    (service) => assignments(environment, node, place, service),
  );
}

const ofScope = viewByHost();

function assignments(
  environment: Environment,
  node: ProxyNode,
  place: string,
  service: Service,
): readonly XdsResource[] {
  if (!isEds(service, node)) return [];
  const rule = destinationRuleOf(environment, node, service);
  const subsets = ['', ...(rule?.spec.subsets ?? []).map(({ name }) => name)];
  const ports = service.ports.filter(({ protocol }) => protocol !== 'udp');
  const isPassedOn = passageOf(environment, node) === 'by-sni' && service.location === 'internal';
  const kinds: readonly Kind[] = isPassedOn ? ['called', 'passed-on'] : ['called'];
  return ports.flatMap((port) =>
    subsets.flatMap((subset) =>
      kinds.flatMap(
        (kind) =>
          assignment(environment, node, place, { service, rule, kind }, port.number, subset) ?? [],
      ),
    ),
  );
}

/** `passed-on`: TLS of the mesh that the proxy passes on; all endpoints have to support it. */
type Kind = 'called' | 'passed-on';

interface Assigned {
  readonly service: Service;
  readonly rule: MatchedRule | undefined;
  readonly kind: Kind;
}

const sharedAssignment = memoTable<XdsResource | undefined>();
const noRule = {};
const noPolicies = {};
const noEndpoints: readonly Endpoint[] = [];

function assignment(
  environment: Environment,
  node: ProxyNode,
  place: string,
  { service, rule, kind }: Assigned,
  port: number,
  subset: string,
): XdsResource | undefined {
  const endpoints = environment.endpoints.get(serviceKey(service))?.get(port) ?? noEndpoints;
  const { trafficDistribution } = service;
  const { mesh } = environment;
  const isPlaced = rule !== undefined || trafficDistribution === 'close' || distributes(mesh);
  const nameOf = kind === 'called' ? outboundName : outboundSni;
  const name = nameOf({ port, subset, host: service.host });
  return sharedAssignment(
    [
      service,
      endpoints,
      rule ?? noRule,
      disablingPolicies(environment) ?? noPolicies,
      mesh,
      environment.networks,
    ],
    `${name}\n${isPlaced ? place : ''}\n${scopeOfNetwork(environment, node)}`,
    () => {
      const policy = policyFor(rule?.spec, port, subset);
      if (isPassthrough(policy)) return undefined;
      const ruleSubset = rule?.spec.subsets.find((candidate) => candidate.name === subset);
      const isMutual = mutualTlsMark(environment, rule, port, ruleSubset);
      const subsetEndpoints = endpointsWith(
        visibleTo(environment, node, endpoints),
        ruleSubset?.labels ?? {},
      );
      const locality = localityPolicyOf(policy, trafficDistribution, mesh);
      const reach = reachOf(environment, node, isMutual);
      const keys = [service.key, ...(rule?.keys ?? []), ...subsetEndpoints.map(({ key }) => key)];
      return encodeResource(
        ClusterLoadAssignmentSchema,
        name,
        loadAssignment(name, subsetEndpoints, locality, node, {
          isMutual,
          reach: kind === 'called' ? reach : (group) => reach(group.filter(isMutual)),
        }),
        keys,
      );
    },
  );
}
