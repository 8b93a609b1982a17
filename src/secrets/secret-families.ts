import { describeCertificates } from './describe-certificates.ts';
import type { MetricFamily } from '../status/metric-family.ts';
import type { SecretState } from './secret-state.ts';

/**
 * The metrics of the secrets that are followed: how long each is still valid, by the first of its certificates to expire, and whether what came last
 * is refused. Names as in the Go agent (1.7 and later). Pure.
 *
 * @param now ms since 1970
 */
export function secretFamilies(states: readonly SecretState[], now: number): readonly MetricFamily[] {
  const expiry = states.flatMap(({ name, served }) => {
    const ends = served === undefined ? [] : describeCertificates(served.secret).map(({ notAfter }) => notAfter);
    return ends.length === 0 ? [] : [{ labels: { resource_name: name }, value: (Math.min(...ends) - now) / 1000 }];
  });
  const refused = states.map(({ name, refused: reason }) => ({ labels: { resource_name: name }, value: Number(reason !== undefined) }));
  return [
    {
      name: 'istio_agent_cert_expiry_seconds',
      type: 'gauge',
      help: 'Seconds until a secret expires; negative since then',
      samples: expiry,
    },
    { name: 'istio_agent_secret_refused', type: 'gauge', help: 'Whether what came last for a secret can not be served', samples: refused },
  ];
}
