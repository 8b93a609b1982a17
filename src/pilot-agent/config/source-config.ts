/** The common members of all sources. */
interface Common {
  /** The name in the log, in metrics and at `/debug/sources`; each source has its own. */
  readonly name: string;
  /** The use of a reading. */
  readonly as: 'restart' | 'envoy' | 'merge' | 'runtime' | 'secret';
  /** For `merge`: the field of Envoy's configuration that is overlaid; '' for the whole. */
  readonly at: string;
}

/**
 * A source of configuration as the user sets it, by a flag, a variable or a configuration file.
 * Times in ms. An empty text counts as not set.
 */
export type SourceConfig =
  | (Common & { readonly kind: 'files'; readonly paths: readonly string[] })
  | (Common & {
      readonly kind: 'http';
      readonly url: string;
      readonly every: number;
      readonly timeout: number;
      /** The limit of the document, in bytes. */
      readonly largest: number;
      readonly caFile: string;
      readonly tokenFile: string;
    })
  | (Common & {
      readonly kind: 'kube';
      /** `Secret`, `ConfigMap`, or a custom resource such as `Gateway.networking.istio.io`. */
      readonly resource: string;
      readonly namespace: string;
      readonly object: string;
      /** The key of a Secret or ConfigMap whose value is used; '' for all data. */
      readonly key: string;
      /** A kubeconfig; '' for the service account of the pod. */
      readonly kubeconfig: string;
    })
  | (Common & {
      readonly kind: 'consul';
      /** `http://host:port`. */
      readonly address: string;
      /** The watched entity: the keys below a prefix, or the healthy instances of a service. */
      readonly watch: { readonly prefix: string } | { readonly service: string };
      readonly caFile: string;
      readonly tokenFile: string;
    });
