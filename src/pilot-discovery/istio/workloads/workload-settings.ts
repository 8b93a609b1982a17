import type { Selector } from '../fields/values.ts';

/**
 * A ProxyConfig resource. An injector applies it when it starts a proxy, so a control plane has no
 * use for it: https://istio.io/v1.26/docs/reference/config/networking/proxy-config/
 */
export interface WorkloadSettings {
  readonly selector: Selector;
  /** The number of threads of Envoy: 0 means one per core, undefined means that it is not given. */
  readonly concurrency: number | undefined;
  readonly environmentVariables: Readonly<Record<string, string>>;
  /** The variant of the image: `distroless`; '' if it is not given. */
  readonly imageType: string;
}
