/** What was made of a text of the configuration: what it says, or why it says nothing. */
export type Content = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: string };

/** The layers of the configuration that are texts, read and parsed, the lowest first. Undefined where there is none. */
export interface Layers {
  /** `--meshConfig`, a MeshConfig. */
  readonly mesh: { readonly path: string; readonly content: Content } | undefined;
  /** `PROXY_CONFIG`, a ProxyConfig. */
  readonly proxyConfig: Content | undefined;
  /** The pod's annotation `proxy.istio.io/config`, a ProxyConfig. */
  readonly annotation: Content | undefined;
  /** All annotations of the pod. */
  readonly annotations: Readonly<Record<string, string>>;
  /** What else was noticed on the way. */
  readonly warnings: readonly string[];
}
