import type { HttpConnectionManager_TracingSchema } from '../../../shared/proto/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts';
import type { CustomTagSchema } from '../../../shared/proto/envoy/type/tracing/v3/custom_tag_pb.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import type { Init } from '../encoding/typed-config.ts';

type CustomTag = Init<typeof CustomTagSchema>;

/** The labels of a proxy that spans contain. */
export const canonicalLabels = [
  'service.istio.io/canonical-name',
  'service.istio.io/canonical-revision',
] as const;
const [canonicalName, canonicalRevision] = canonicalLabels;

/**
 * Returns how requests are traced if the mesh has no settings: one in a hundred, with these tags.
 */
export function tracing({
  labels,
  clusterId,
  namespace,
}: ProxyNode): Init<typeof HttpConnectionManager_TracingSchema> {
  return {
    clientSampling: { value: 100 },
    randomSampling: { value: 1 },
    overallSampling: { value: 100 },
    customTags: [
      ...dryRunTags,
      literal('istio.canonical_revision', labels[canonicalRevision] ?? 'latest'),
      literal('istio.canonical_service', labels[canonicalName] ?? 'unknown'),
      literal('istio.cluster_id', clusterId === '' ? 'unknown' : clusterId),
      literal('istio.mesh_id', 'unknown'),
      literal('istio.namespace', namespace),
    ],
  };
}

const literal = (tag: string, value: string): CustomTag => ({
  tag,
  type: { case: 'literal', value: { value } },
});

/** The tags of authorization policies in dry-run mode. */
const dryRunTags: readonly CustomTag[] = [
  ['allow_policy.name', 'allow_shadow_effective_policy_id'],
  ['allow_policy.result', 'allow_shadow_engine_result'],
  ['deny_policy.name', 'deny_shadow_effective_policy_id'],
  ['deny_policy.result', 'deny_shadow_engine_result'],
].map(([tag = '', key = '']) => ({
  tag: `istio.authorization.dry_run.${tag}`,
  type: {
    case: 'metadata',
    value: {
      kind: { kind: { case: 'request', value: {} } },
      metadataKey: {
        key: 'envoy.filters.http.rbac',
        path: [{ segment: { case: 'key', value: `istio_dry_run_${key}` } }],
      },
    },
  },
}));
