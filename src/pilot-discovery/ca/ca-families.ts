import type { MetricFamily } from '../../shared/metrics/metric-family.ts';
import { counterOf, gaugeOf } from '../../shared/metrics/gauge-of.ts';
import type { CaView } from './ca-view.ts';

/** The names of istiod, for the reasons that istiod has too. */
const errors = {
  request: 'CSR_ERROR',
  lifetime: 'TTL_ERROR',
  authority: 'CA_NOT_READY',
  absent: 'NO_CA',
  identity: 'IDENTITY_ERROR',
  bug: 'CERT_GEN_ERROR',
} as const;

/** Returns the metrics of the certificate authority, with the names of istiod. Pure. */
export function caFamilies({ authority, crl, issued, refused }: CaView): readonly MetricFamily[] {
  const total = issued + Object.values(refused).reduce((sum, count) => sum + count, 0);
  const expiry = (name: string, help: string, ms: number | undefined): MetricFamily => ({
    name,
    type: 'gauge',
    help,
    samples: ms === undefined ? [] : [{ value: Math.floor(ms / 1_000) }],
  });
  return [
    counterOf('citadel_server_csr_count', 'Requests for certificates.', total),
    counterOf(
      'citadel_server_success_cert_issuance_count',
      'Certificates that were issued.',
      issued,
    ),
    {
      name: 'citadel_server_csr_sign_err_count',
      type: 'counter',
      help: 'Requests for certificates that were refused, by error.',
      samples: Object.entries(errors).map(([kind, error]) => ({
        labels: { error },
        value: refused[kind as keyof typeof errors],
      })),
    },
    counterOf(
      'citadel_server_rate_limited_count',
      'Requests of identities that ask too often.',
      refused.rate,
    ),
    expiry(
      'citadel_server_cert_chain_expiry_timestamp',
      'First expiry in the CA chain, in seconds since 1970.',
      authority.type === 'signs' ? authority.authority.notAfter : undefined,
    ),
    expiry(
      'citadel_server_root_cert_expiry_timestamp',
      'Expiry of the root of the authority, in seconds since 1970.',
      authority.type === 'signs' ? authority.authority.rootNotAfter : undefined,
    ),
    expiry(
      'citadel_server_crl_expiry_timestamp',
      'When the first CRL is due, in seconds since 1970.',
      crl.until === Infinity ? undefined : crl.until,
    ),
    gaugeOf(
      'citadel_server_crl_up',
      '1 if the newest CRLs are in use, or there are none; 0 if they are refused.',
      crl.flaw === undefined ? 1 : 0,
    ),
    gaugeOf(
      'citadel_server_authority_up',
      '1 if the newest key of the authority is in use; 0 if it is refused.',
      authority.type === 'signs' && authority.flaw === undefined ? 1 : 0,
    ),
  ];
}
