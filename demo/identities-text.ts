import { X509Certificate } from 'node:crypto';

/** A proxy with the certificate chain that its agent got (PEM, the leaf first). */
interface Shown {
  readonly name: string;
  readonly chain: string;
}

/**
 * Who called whom in a mesh, and the certificates of the proxies, as lines for a terminal. Pure.
 *
 * @param calls the number of requests by caller and callee, as {@link principalsOf} writes them
 * @param root the root of the mesh (PEM)
 * @param now ms since 1970
 */
export function identitiesText(
  calls: ReadonlyMap<string, number>,
  shown: readonly Shown[],
  root: string,
  now: number,
): string {
  const authority = new X509Certificate(root);
  const certificates = shown.map(({ name, chain }) => {
    const leaf = new X509Certificate(chain);
    const left = Math.round((Date.parse(leaf.validTo) - now) / 1_000);
    return [
      name,
      (leaf.subjectAltName ?? '').replace('URI:', ''),
      leaf.serialNumber,
      leaf.verify(authority.publicKey) ? oneLine(leaf.issuer) : 'not the root of this mesh',
      left > 0 ? `expires in ${left} s` : 'has expired',
    ];
  });
  const called = [...calls].sort().map(([principals, count]) => [principals, String(count)]);
  return [
    'Calls by mutual TLS (principal → principal, requests):',
    ...columns(called),
    'Certificates (proxy, principal, serial number, issuer, end):',
    ...columns(certificates),
  ]
    .map((text) => `${text}\n`)
    .join('');
}

/**
 * Returns the principals of caller and callee, as the callee's sidecar has verified them. `header`
 * is x-forwarded-client-cert.
 */
export function principalsOf(header: string | undefined): string {
  const part = (name: string) => new RegExp(`(?:^|;)${name}=([^;,]*)`).exec(header ?? '')?.[1];
  return `${part('URI') ?? 'nobody'} → ${part('By') ?? 'nobody'}`;
}

const oneLine = (name: string) => name.replaceAll('\n', ', ');

/** Lines with columns of equal width, two spaces apart. */
function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, index) =>
    Math.max(...rows.map((row) => row[index]?.length ?? 0)),
  );
  return rows.map((row) =>
    `  ${row.map((text, index) => text.padEnd(widths[index] ?? 0)).join('  ')}`.trimEnd(),
  );
}
