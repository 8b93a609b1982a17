import type { Selector } from './values.ts';

/** The logs of proxies: https://istio.io/v1.26/docs/reference/config/telemetry/ */
export interface Telemetry {
  /** `targets` names gateways of the Gateway API or services, so it is for no proxy here. */
  readonly for: 'workloads' | 'targets';
  readonly selector: Selector;
  /** Later entries have precedence. */
  readonly accessLogging: readonly AccessLogging[];
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
