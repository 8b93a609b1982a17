import { line, type LogLine } from '../../shared/log/log-line.ts';
import type { MetricFamily } from '../../shared/metrics/metric-family.ts';
import { certificateExpiryFamily } from './expiry-family.ts';
import type { ExpirySign } from './certificate-expiry.ts';
import { describeCertificates } from './certificates.ts';
import type { SecretState } from './secret.ts';

/**
 * Returns the log lines for a new state of a secret: its certificate, or why the newest content is
 * not served. Envoy's answer has its own line. Pure.
 */
export function narrateSecret({
  name,
  source,
  offered,
  served,
  refused,
  by,
}: SecretState): readonly LogLine[] {
  if (by === 'answer') return [];
  if (refused !== undefined) {
    const fields = { secret: name, reason: refused };
    return [line('secret.refused', fields, served === undefined ? 'none' : 'old')];
  }
  if (offered === undefined) return []; // it is no longer followed
  const [leaf] = describeCertificates(offered.secret);
  const until =
    leaf === undefined
      ? {}
      : { serial: leaf.serialNumber, notAfter: new Date(leaf.notAfter).toISOString() };
  return [line('secret.read', { secret: name, version: offered.version, source, ...until })];
}

/** Returns the log line for a certificate that is about to expire, or has expired. Pure. */
export function narrateExpiry({
  type,
  certificate: { name, path, serial, expires },
}: ExpirySign): LogLine {
  const which = {
    ...(path === undefined ? { secret: name } : { path }),
    serial,
    notAfter: new Date(expires).toISOString(),
  };
  return line(
    type === 'certificate-expired' ? 'certificate.expired' : 'certificate.expiring',
    which,
  );
}

/**
 * Returns the metrics of the followed secrets: how long each is still valid, by the first of its
 * certificates to expire, and whether its newest content is refused. Pure.
 *
 * @param now ms since 1970
 */
export function secretFamilies(
  states: readonly SecretState[],
  now: number,
): readonly MetricFamily[] {
  const expiry = states.flatMap(({ name, served }) => {
    const ends =
      served === undefined
        ? []
        : describeCertificates(served.secret).map(({ notAfter }) => notAfter);
    return ends.length === 0 ? [] : [{ name, expiresAt: Math.min(...ends) }];
  });
  const refused = states.map(({ name, refused: reason }) => ({
    labels: { resource_name: name },
    value: Number(reason !== undefined),
  }));
  return [
    certificateExpiryFamily(expiry, now),
    {
      name: 'istio_agent_secret_refused',
      type: 'gauge',
      help: 'Whether the newest content of a secret cannot be served',
      samples: refused,
    },
  ];
}
