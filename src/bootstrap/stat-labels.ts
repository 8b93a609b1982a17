import type { NodeMetadata } from './node-metadata.ts';

/** The labels of Istio's standard metrics. */
const ofIstio = `
  reporter source_namespace source_workload source_workload_namespace source_principal source_app source_version source_cluster
  destination_namespace destination_workload destination_workload_namespace destination_principal destination_app destination_version
  destination_service destination_service_name destination_service_namespace destination_port destination_cluster
  request_protocol request_operation request_host response_flags grpc_response_status connection_security_policy
  permissive_response_code permissive_response_policyid
  source_canonical_service destination_canonical_service source_canonical_revision destination_canonical_revision`
  .trim()
  .split(/\s+/);

/** The labels that Envoy's extensions put into the names of statistics: Istio's own, then those of the configuration and of the annotation. Pure. */
export function statLabels(metadata: NodeMetadata, extra: readonly string[]): readonly string[] {
  const annotation = metadata['sidecar.istio.io/extraStatTags'];
  const annotated = typeof annotation === 'string' ? annotation.split(',').map((label) => label.trim()) : [];
  return [...new Set([...ofIstio, ...extra, ...annotated])].filter((label) => label !== '');
}
