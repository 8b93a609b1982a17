import type { NamedAuthorizer } from './authorizer.ts';

/**
 * The fields of MeshConfig that are used:
 * https://istio.io/v1.26/docs/reference/config/istio.mesh.v1alpha1/
 */
export interface MeshConfig {
  /** The namespace of resources that apply to the whole mesh: `istio-system`. */
  readonly rootNamespace: string;
  readonly trustDomain: string;
  readonly outboundTrafficPolicy: 'allow-any' | 'registry-only';
  readonly enableAutoMtls: boolean;
  readonly connectTimeoutMs: number;
  readonly protocolDetectionTimeoutMs: number;
  /** '' for none; `/dev/stdout` is the log of Envoy. */
  readonly accessLogFile: string;
  readonly accessLogFormat: string;
  readonly accessLogEncoding: 'text' | 'json';
  /** The `extensionProviders` that policies with CUSTOM may ask; each name once. */
  readonly authorizers: readonly NamedAuthorizer[];
}

export const defaultMeshConfig: MeshConfig = {
  rootNamespace: 'istio-system',
  trustDomain: 'cluster.local',
  outboundTrafficPolicy: 'allow-any',
  enableAutoMtls: true,
  connectTimeoutMs: 10_000,
  protocolDetectionTimeoutMs: 0,
  accessLogFile: '',
  accessLogFormat: '',
  accessLogEncoding: 'text',
  authorizers: [],
};

/** The cluster of sources that name none. */
export const clusterId = 'Kubernetes';
