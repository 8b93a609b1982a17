import { createHash, createPrivateKey, type KeyObject, type X509Certificate } from 'node:crypto';
import { isIssuer } from '../../shared/certificates/is-issuer.ts';
import { privateKeyBlock } from '../../shared/certificates/key-flaw.ts';
import { pemCertificates, subjectOf, timesOf } from '../../shared/certificates/key-pair-flaw.ts';
import { pairFlaw, rootsFlaw } from '../../shared/certificates/pair-flaw.ts';
import { type IssuerFields, issuerFields } from '../../shared/certificates/issuer-fields.ts';
import { signingAlgorithm, type SigningAlgorithm } from './write-certificate.ts';

/** Signs certificates. The bytes of its key are in the memory of OpenSSL only. */
export interface SigningAuthority extends IssuerFields {
  /**
   * SHA-256 over its certificates, in hex: two authorities with the same fingerprint are the same.
   */
  readonly fingerprint: string;
  readonly key: KeyObject;
  readonly algorithm: SigningAlgorithm;
  /**
   * The certificates between a leaf and the root, PEM, that of the key first; none if the key is
   * that of a root.
   */
  readonly intermediates: readonly string[];
  /** All roots, PEM, each once. */
  readonly roots: readonly string[];
  /** When the certificate of the key becomes valid, in ms since 1970. */
  readonly notBefore: number;
  /** When the first certificate of the chain expires, in ms since 1970. */
  readonly notAfter: number;
  /** When the root of this chain expires, in ms since 1970. */
  readonly rootNotAfter: number;
}

/** The parts of an authority, PEM, as they are in its files. */
export interface AuthorityParts {
  readonly certificate: string;
  readonly key: Buffer;
  /** Certificates in any order. Some of them lead from the certificate to a root. */
  readonly chain: string;
  readonly roots: string;
}

/** An authority, or why the parts do not make one, for a person. */
export type AuthorityResult =
  | { readonly ok: true; readonly authority: SigningAuthority }
  | { readonly ok: false; readonly reason: string };

/** The longest chain to a root, in certificates. */
const longestWay = 10;

/**
 * Returns the authority that the parts make, if they fit together: the key is that of the
 * certificate, which may sign others, and leads to one of the roots; and all of them are valid now.
 * Pure.
 *
 * @param now ms since 1970
 */
export function signingAuthority(parts: AuthorityParts, now: number): AuthorityResult {
  const chain = `${parts.certificate}\n${parts.chain}`;
  const flaw =
    pairFlaw(parts.certificate, parts.key, now) ??
    pairFlaw(chain, parts.key, now) ??
    rootsFlaw(parts.roots);
  if (flaw !== undefined) return refused(flaw);
  const [signer, ...others] = pemCertificates(chain) ?? [];
  const roots = pemCertificates(parts.roots) ?? [];
  if (signer === undefined) return refused('there is no certificate');
  const way = wayToRoot(signer, others, roots, now);
  if (way === undefined)
    return refused(`no chain leads from the certificate (${nameOf(signer)}) to a root`);
  if (!signer.ca)
    return refused(`the certificate (${nameOf(signer)}) may not sign others: it has no CA:TRUE`);
  const ends = way.map((certificate) => timesOf(certificate)[1]);
  const notAfter = Math.min(...ends);
  if (now >= notAfter)
    return refused(`a certificate of the chain has expired at ${new Date(notAfter).toISOString()}`);
  const begin = Math.max(...way.map((certificate) => timesOf(certificate)[0]));
  if (now < begin)
    return refused(
      `a certificate of the chain is not valid before ${new Date(begin).toISOString()}`,
    );
  const key = createPrivateKey(privateKeyBlock(parts.key) ?? parts.key);
  const algorithm = signingAlgorithm(key);
  if (algorithm === undefined)
    return refused(
      'its key signs nothing here: RSA, or ECDSA with P-256, P-384 or P-521, is needed',
    );
  const fields = issuerFields(signer.raw);
  if (fields === undefined) return refused('the certificate is not DER');
  const intermediates = way.slice(0, -1).map(textOf);
  const rootTexts = [...new Set(roots.map(textOf))];
  const all = [textOf(signer), ...intermediates, ...rootTexts];
  return {
    ok: true,
    authority: {
      fingerprint: createHash('sha256').update(all.join('')).digest('hex'),
      ...fields,
      key,
      algorithm,
      intermediates,
      roots: rootTexts,
      notBefore: timesOf(signer)[0],
      notAfter,
      rootNotAfter: ends.at(-1) ?? notAfter,
    },
  };
}

const refused = (reason: string): AuthorityResult => ({ ok: false, reason });
const textOf = (certificate: X509Certificate): string => certificate.toString();
const nameOf = (certificate: X509Certificate): string =>
  `${subjectOf(certificate) || 'without a subject'}, serial ${certificate.serialNumber}`;

/**
 * Returns the certificates from the signer to a root, both included; undefined if no chain leads
 * there. Prefers a chain that is valid now, then a short one, then the root that expires last.
 */
function wayToRoot(
  signer: X509Certificate,
  others: readonly X509Certificate[],
  roots: readonly X509Certificate[],
  now: number,
): readonly X509Certificate[] | undefined {
  const lasting = roots.toSorted((a, b) => timesOf(b)[1] - timesOf(a)[1]);
  const isValid = (certificate: X509Certificate): boolean => {
    const [notBefore, notAfter] = timesOf(certificate);
    return notBefore <= now && now < notAfter;
  };
  return (
    shortestWay(signer, others.filter(isValid), lasting.filter(isValid)) ??
    shortestWay(signer, others, lasting)
  );
}

/** Looks at each certificate once: a chain may have many that have signed each other. */
function shortestWay(
  signer: X509Certificate,
  others: readonly X509Certificate[],
  roots: readonly X509Certificate[],
): readonly X509Certificate[] | undefined {
  const unvisited = new Set(others);
  const ways = [{ way: [signer], last: signer }];
  for (const { way, last } of ways) {
    if (roots.some(({ raw }) => raw.equals(last.raw))) return way;
    const root = roots.find((candidate) => isIssuer(candidate, last));
    if (root !== undefined) return [...way, root];
    if (way.length >= longestWay) continue;
    for (const candidate of unvisited) {
      if (!isIssuer(candidate, last)) continue;
      unvisited.delete(candidate);
      ways.push({ way: [...way, candidate], last: candidate });
    }
  }
  return undefined;
}
