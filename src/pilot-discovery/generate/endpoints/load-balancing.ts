import type {
  LoadBalancer,
  OutlierDetection,
  PortPolicy,
} from '../../istio/traffic/destination-rule.ts';
import type { MeshConfig } from '../../istio/mesh/mesh-config.ts';
import {
  type Cluster_CommonLbConfig_ZoneAwareLbConfigSchema as ZoneAwareSchema,
  Cluster_LbPolicy as LbPolicy,
  type ClusterSchema,
} from '../../../shared/proto/envoy/config/cluster/v3/cluster_pb.ts';
import type { OutlierDetectionSchema } from '../../../shared/proto/envoy/config/cluster/v3/outlier_detection_pb.ts';
import type { TrafficDistribution } from '../../istio/hosts/traffic-distribution.ts';
import { type LocalityPolicy, localityPolicyOf } from '../scope/locality-policy.ts';
import { protoDuration } from '../encoding/proto-duration.ts';
import type { Init } from '../encoding/typed-config.ts';

type Cluster = Init<typeof ClusterSchema>;

/** Returns whether requests go to their original destination, whatever endpoints there are. */
export const isPassthrough = ({ loadBalancer }: PortPolicy): boolean =>
  loadBalancer?.policy.type === 'passthrough';

/** Returns how a cluster distributes requests, and when it ejects an endpoint. */
export function balancing(
  policy: PortPolicy,
  distribution: TrafficDistribution,
  mesh: Pick<MeshConfig, 'localities'>,
): Cluster {
  const { loadBalancer, outlierDetection } = policy;
  return {
    ...balancer(loadBalancer),
    ...(outlierDetection !== undefined && { outlierDetection: outlier(outlierDetection) }),
    commonLbConfig: commonLbConfig(policy, distribution, mesh),
  };
}

/** Returns the settings for all localities, which do not depend on the balancer. */
function commonLbConfig(
  policy: PortPolicy,
  distribution: TrafficDistribution,
  mesh: Pick<MeshConfig, 'localities'>,
): NonNullable<Cluster['commonLbConfig']> {
  const { outlierDetection } = policy;
  return {
    // As in istiod, this is also set if the service prefers near endpoints, even if a rule
    // overrides that.
    ...((outlierDetection !== undefined || distribution === 'close') && {
      healthyPanicThreshold: { value: outlierDetection?.minHealthPercent ?? 0 },
    }),
    ...localityConfig(policy, localityPolicyOf(policy, distribution, mesh)),
  };
}

/**
 * Returns the setting that decides between localities: the zone of the proxy, or the weights of
 * localities.
 */
function localityConfig(
  policy: PortPolicy,
  locality: LocalityPolicy,
): Pick<NonNullable<Cluster['commonLbConfig']>, 'localityConfigSpecifier'> {
  const zones = policy.loadBalancer?.zones;
  if (zones?.preference === 'own-zone') {
    const minClusterSize = BigInt(zones.minClusterSize);
    return zoneAware({ routingEnabled: { value: 100 }, minClusterSize });
  }
  // If Envoy weighs localities, it prefers no zone.
  if (isWeighted(locality))
    return { localityConfigSpecifier: { case: 'localityWeightedLbConfig', value: {} } };
  // By default Envoy prefers the zone of each proxy that has a local cluster. A rule can turn this
  // off.
  return zones === undefined ? {} : zoneAware({ routingEnabled: { value: 0 } });
}

const zoneAware = (value: Init<typeof ZoneAwareSchema>) =>
  ({ localityConfigSpecifier: { case: 'zoneAwareLbConfig', value } }) as const;

/** Returns whether localities have weights: with `distribute`, or with failover that is active. */
function isWeighted({ settings, failover }: LocalityPolicy): boolean {
  if (settings.enabled === false) return false;
  if (settings.distribute.length > 0) return true;
  return (
    failover === 'active' && (settings.failover.length > 0 || settings.failoverPriority.length > 0)
  );
}

function balancer(loadBalancer: LoadBalancer | undefined): Cluster {
  const policy = loadBalancer?.policy ?? { type: 'unspecified' };
  const slowStart = slowStartOf(loadBalancer?.warmup);
  switch (policy.type) {
    case 'unspecified':
    case 'least-request':
      return {
        lbPolicy: LbPolicy.LEAST_REQUEST,
        ...(slowStart && {
          lbConfig: { case: 'leastRequestLbConfig', value: { slowStartConfig: slowStart } },
        }),
      };
    case 'round-robin':
      return {
        lbPolicy: LbPolicy.ROUND_ROBIN,
        ...(slowStart && {
          lbConfig: { case: 'roundRobinLbConfig', value: { slowStartConfig: slowStart } },
        }),
      };
    case 'random':
      return { lbPolicy: LbPolicy.RANDOM };
    case 'passthrough':
      return { lbPolicy: LbPolicy.CLUSTER_PROVIDED };
    case 'consistent-hash': {
      const { ring } = policy;
      if (ring.type === 'maglev') {
        return {
          lbPolicy: LbPolicy.MAGLEV,
          lbConfig: { case: 'maglevLbConfig', value: { tableSize: BigInt(ring.tableSize) } },
        };
      }
      const value = { minimumRingSize: BigInt(ring.minimumRingSize) };
      return {
        lbPolicy: LbPolicy.RING_HASH,
        ...(ring.minimumRingSize > 0 && { lbConfig: { case: 'ringHashLbConfig', value } }),
      };
    }
  }
}

function slowStartOf(warmup: LoadBalancer['warmup']) {
  if (warmup === undefined) return undefined;
  const { durationMs, aggression, minimumPercent } = warmup;
  return {
    slowStartWindow: protoDuration(durationMs),
    // Envoy requires a runtime key; nobody sets one with this name.
    ...(aggression !== undefined && { aggression: { defaultValue: aggression, runtimeKey: '(' } }),
    ...(minimumPercent !== undefined && { minWeightPercent: { value: minimumPercent } }),
  };
}

function outlier(detection: OutlierDetection): Init<typeof OutlierDetectionSchema> {
  const { consecutive5xxErrors, consecutiveGatewayErrors, consecutiveLocalOriginFailures } =
    detection;
  const { intervalMs, baseEjectionTimeMs, maxEjectionPercent } = detection;
  const enforced = (errors: number): number => (errors > 0 ? 100 : 0);
  return {
    enforcingSuccessRate: 0,
    ...(consecutive5xxErrors !== undefined && {
      consecutive5xx: consecutive5xxErrors,
      enforcingConsecutive5xx: enforced(consecutive5xxErrors),
    }),
    ...(consecutiveGatewayErrors !== undefined && {
      consecutiveGatewayFailure: consecutiveGatewayErrors,
      enforcingConsecutiveGatewayFailure: enforced(consecutiveGatewayErrors),
    }),
    ...(intervalMs !== undefined && { interval: protoDuration(intervalMs) }),
    ...(baseEjectionTimeMs !== undefined && {
      baseEjectionTime: protoDuration(baseEjectionTimeMs),
    }),
    ...(maxEjectionPercent !== undefined && maxEjectionPercent > 0 && { maxEjectionPercent }),
    ...(detection.splitExternalLocalOriginErrors && {
      splitExternalLocalOriginErrors: true,
      enforcingLocalOriginSuccessRate: 0,
      ...(consecutiveLocalOriginFailures !== undefined && {
        consecutiveLocalOriginFailure: consecutiveLocalOriginFailures,
        enforcingConsecutiveLocalOriginFailure: enforced(consecutiveLocalOriginFailures),
      }),
    }),
  };
}
