import type { JsonObject } from '@bufbuild/protobuf';
import type { PortPolicy } from '../../istio/traffic/destination-rule.ts';
import type { Service } from '../../environment/environment.ts';
import type { MatchedRule } from '../scope/destination-rule-of.ts';

interface ClusterFacts {
  readonly rule: MatchedRule | undefined;
  readonly services: readonly Pick<Service, 'host' | 'name' | 'namespace'>[];
  readonly subset?: string;
  readonly isExternal?: boolean;
  /** Whether the cluster originates TLS that is not mesh TLS. Its ALPN is then not replaced. */
  readonly isOriginated?: boolean;
}

/** Returns the metadata of a cluster, for telemetry and for people. */
export function clusterMetadata({
  rule,
  services,
  subset = '',
  isExternal = false,
  isOriginated = false,
}: ClusterFacts): {
  filterMetadata: Record<string, JsonObject>;
} {
  const istio = {
    ...(rule !== undefined && {
      config: `/apis/networking.istio.io/v1/namespaces/${rule.namespace}/destination-rule/${rule.name}`,
    }),
    ...(isExternal && { external: true }),
    ...(isOriginated && { alpn_override: 'false' }),
    ...(subset !== '' && { subset }),
    services: services.map(({ host, name, namespace }) => ({ host, name, namespace })),
  };
  return { filterMetadata: { istio } };
}

/** Returns whether a policy originates TLS that is not mesh TLS. */
export const isOriginated = ({ tls }: PortPolicy): boolean =>
  tls?.mode === 'simple' || tls?.mode === 'mutual';
