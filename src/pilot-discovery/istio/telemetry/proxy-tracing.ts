import type { CustomTag } from '../fields/custom-tag.ts';

/** The `tracing` of a ProxyConfig, as far as a control plane uses it. */
export interface ProxyTracing {
  /** In percent. */
  readonly sampling: number;
  readonly customTags: readonly CustomTag[];
  /** In bytes; undefined means the default of Envoy. */
  readonly maxPathTagLength: number | undefined;
  /** Whether spans have the tags of Istio. */
  readonly istioTags: 'on' | 'off';
}

/** Istio samples one request in a hundred. */
export const defaultProxyTracing: ProxyTracing = {
  sampling: 1,
  customTags: [],
  maxPathTagLength: undefined,
  istioTags: 'on',
};
