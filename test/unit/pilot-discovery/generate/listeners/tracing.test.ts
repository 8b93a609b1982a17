import { describe, expect, it } from 'vitest';
import { tracing } from '../../../../../src/pilot-discovery/generate/listeners/tracing.ts';
import { HttpConnectionManager_TracingSchema } from '../../../../../src/shared/proto/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts';
import { canonical, messageYaml, proxyIn } from '../../../../support/golden.ts';

const dryRun = (tag: string, key: string) => `
  - tag: istio.authorization.dry_run.${tag}
    metadata:
      kind: { request: {} }
      metadata_key: { key: envoy.filters.http.rbac, path: [{ key: istio_dry_run_${key} }] }`;

const spans = (service: string, revision: string, cluster: string, namespace: string) => `
client_sampling: { value: 100 }
random_sampling: { value: 1 }
overall_sampling: { value: 100 }
custom_tags:${dryRun('allow_policy.name', 'allow_shadow_effective_policy_id')}${dryRun('allow_policy.result', 'allow_shadow_engine_result')}${dryRun('deny_policy.name', 'deny_shadow_effective_policy_id')}${dryRun('deny_policy.result', 'deny_shadow_engine_result')}
  - { tag: istio.canonical_revision, literal: { value: ${revision} } }
  - { tag: istio.canonical_service, literal: { value: ${service} } }
  - { tag: istio.cluster_id, literal: { value: ${cluster} } }
  - { tag: istio.mesh_id, literal: { value: unknown } }
  - { tag: istio.namespace, literal: { value: ${namespace} } }`;

describe('the spans of a proxy', () => {
  it.each<[what: string, metadata: string, message: string]>([
    [
      'name its workload, its cluster and its namespace',
      `
NAMESPACE: shop
CLUSTER_ID: east
LABELS: { service.istio.io/canonical-name: reviews, service.istio.io/canonical-revision: v2 }`,
      spans('reviews', 'v2', 'east', 'shop'),
    ],
    ['say what is not known', '', spans('unknown', 'latest', 'unknown', 'default')],
  ])('%s', (_, metadata, message) => {
    expect(messageYaml(HttpConnectionManager_TracingSchema, tracing(proxyIn(metadata)))).toBe(
      canonical(message),
    );
  });
});
