import type { CustomTag } from '../fields/custom-tag.ts';
import type { Selector } from '../fields/values.ts';

/** The logs and the spans of proxies: https://istio.io/v1.26/docs/reference/config/telemetry/ */
export interface Telemetry {
  /** `targets` names gateways of the Gateway API or services, so it is for no proxy here. */
  readonly for: 'workloads' | 'targets';
  readonly selector: Selector;
  /** Later entries have precedence. */
  readonly accessLogging: readonly AccessLogging[];
  /** Later entries have precedence, field by field. */
  readonly tracing: readonly TracingEntry[];
  /** The names of providers in each entry. They have no effect: Envoy lacks the filter. */
  readonly metrics: readonly (readonly string[])[];
}

/** Whether a workload makes a call or receives it; a gateway makes all of its calls. */
export type CallSide = 'client' | 'server';

export interface AccessLogging {
  readonly sides: readonly CallSide[];
  /** Names of providers of the MeshConfig; empty means those of the entry before. */
  readonly providers: readonly string[];
  readonly logging: 'on' | 'off';
  /** An expression of CEL; '' if each call is logged. */
  readonly filter: string;
}

/** A field that is undefined is not given. */
export interface TracingEntry {
  readonly sides: readonly CallSide[];
  /** The name of a provider of the MeshConfig. */
  readonly provider: string | undefined;
  readonly spans: 'on' | 'off' | undefined;
  /** In percent. */
  readonly sampling: number | undefined;
  /** If undefined, the tags of the ProxyConfig apply. */
  readonly customTags: readonly CustomTag[] | undefined;
  readonly istioTags: 'on' | 'off' | undefined;
  readonly sampledBy: SampledBy | undefined;
}

/**
 * Who decides whether a request is sampled: its id, which is the same in all proxies that it
 * passes, or each proxy.
 */
export type SampledBy = 'request-id' | 'proxy';
