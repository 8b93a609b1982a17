import type { Origin, ResourceKey } from '../istio/documents/model.ts';

/**
 * Everything that an analysis may find, by the codes of `istioctl analyze` and with their levels:
 * https://istio.io/v1.26/docs/reference/config/analysis/
 */
export const findingKinds = {
  IST0101: {
    level: 'error',
    what: 'a reference to a host, subset, port, gateway, delegate or provider that does not exist',
  },
  IST0106: { level: 'error', what: 'a resource that is refused, or a file that cannot be read' },
  IST0109: { level: 'error', what: 'two VirtualServices of the mesh for one host' },
  IST0110: { level: 'error', what: 'two Sidecars for the same workloads' },
  IST0111: { level: 'error', what: 'two Sidecars without a selector in one namespace' },
  IST0112: { level: 'error', what: 'a destination without a port, although its host has several' },
  IST0113: {
    level: 'error',
    what: 'TLS settings of a DestinationRule that the server does not accept',
  },
  IST0127: { level: 'warning', what: 'a selector, or a subset, that matches no workload' },
  IST0130: {
    level: 'warning',
    what: 'a route that is never used, because an earlier route matches first',
  },
  IST0131: {
    level: 'info',
    what: 'a match that is never used, because an earlier match covers it',
  },
  IST0132: { level: 'warning', what: 'a host that none of the gateways of its VirtualService has' },
  IST0133: { level: 'warning', what: 'a field without an effect, or with a surprising one' },
  IST0134: { level: 'warning', what: 'a TCP port of a ServiceEntry without an address' },
  IST0145: { level: 'error', what: 'two Gateways for one host, port and proxy' },
} as const satisfies Readonly<
  Record<string, { readonly level: FindingLevel; readonly what: string }>
>;

export type FindingCode = keyof typeof findingKinds;

/** From the worst to the least. */
export type FindingLevel = 'error' | 'warning' | 'info';

/** One thing that a person should look at. */
export interface AnalysisFinding {
  readonly code: FindingCode;
  /** Undefined for a file, or a resource without a name. */
  readonly key: ResourceKey | undefined;
  /** The line is that of the field, or of the nearest field around it. */
  readonly origin: Origin;
  /** `spec.http[0].route[0].destination.host`; '' for the whole. */
  readonly field: string;
  /** Says in one sentence what is wrong and what would be right. */
  readonly reason: string;
}
