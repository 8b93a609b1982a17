import type { NamedAuthorizer } from './authorizer.ts';
import type { LabelSelector } from '../fields/label-selector.ts';
import type { LocalitySettings } from '../traffic/destination-rule.ts';
import { type ExtensionProvider, ownFileLog } from '../telemetry/extension-provider.ts';
import { defaultProxyTracing, type ProxyTracing } from '../telemetry/proxy-tracing.ts';

/**
 * The fields of MeshConfig that are used:
 * https://istio.io/v1.26/docs/reference/config/istio.mesh.v1alpha1/
 */
export interface MeshConfig {
  /** The namespace of resources that apply to the whole mesh: `istio-system`. */
  readonly rootNamespace: string;
  readonly trustDomain: string;
  /**
   * If there are any, only namespaces that one of them selects are seen, by the labels of their
   * Namespace.
   */
  readonly discoverySelectors: readonly LabelSelector[];
  readonly outboundTrafficPolicy: 'allow-any' | 'registry-only';
  readonly enableAutoMtls: boolean;
  readonly connectTimeoutMs: number;
  readonly protocolDetectionTimeoutMs: number;
  /** For services whose rules say nothing about localities. */
  readonly localities: LocalitySettings;
  /** '' for none; `/dev/stdout` is the log of Envoy. */
  readonly accessLogFile: string;
  readonly accessLogFormat: string;
  readonly accessLogEncoding: 'text' | 'json';
  /** The `extensionProviders` that policies with CUSTOM may ask; each name once. */
  readonly authorizers: readonly NamedAuthorizer[];
  /** Whether listeners log connections that they have no chain for. */
  readonly listenerLogs: 'on' | 'off';
  /** Each name once. */
  readonly providers: readonly ExtensionProvider[];
  /** Names of providers for proxies whose Telemetry resources name none. */
  readonly defaultProviders: {
    readonly accessLogging: readonly string[];
    /** Only the first one is used. */
    readonly tracing: readonly string[];
  };
  /** Whether proxies without a provider send spans to the tracer of their bootstrap. */
  readonly enableTracing: boolean;
  /** For proxies that send no ProxyConfig. */
  readonly defaultTracing: ProxyTracing;
}

export const defaultMeshConfig: MeshConfig = {
  rootNamespace: 'istio-system',
  trustDomain: 'cluster.local',
  discoverySelectors: [],
  outboundTrafficPolicy: 'allow-any',
  enableAutoMtls: true,
  connectTimeoutMs: 10_000,
  protocolDetectionTimeoutMs: 0,
  localities: { enabled: true, distribute: [], failover: [], failoverPriority: [] },
  accessLogFile: '',
  accessLogFormat: '',
  accessLogEncoding: 'text',
  authorizers: [],
  listenerLogs: 'on',
  providers: [ownFileLog],
  defaultProviders: { accessLogging: [], tracing: [] },
  enableTracing: true,
  defaultTracing: defaultProxyTracing,
};

/** The cluster of sources that name none. */
export const clusterId = 'Kubernetes';
