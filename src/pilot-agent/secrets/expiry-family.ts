import type { MetricFamily } from '../../shared/metrics/metric-family.ts';

/** A secret, or a file under the name that its secret would have. */
export interface Expiring {
  readonly name: string;
  /** When the first of its certificates expires, in ms since 1970. */
  readonly expiresAt: number;
}

/**
 * Returns how long certificates are still valid, as a metric with the name of the Go agent (1.7 and
 * later). Pure.
 *
 * @param now ms since 1970
 */
export function certificateExpiryFamily(expiring: readonly Expiring[], now: number): MetricFamily {
  return {
    name: 'istio_agent_cert_expiry_seconds',
    type: 'gauge',
    help: 'Seconds until a certificate expires; negative after that',
    samples: expiring.map(({ name, expiresAt }) => ({
      labels: { resource_name: name },
      value: (expiresAt - now) / 1_000,
    })),
  };
}
