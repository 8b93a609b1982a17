import { createHash } from 'node:crypto';
import { pemCertificates } from '../../shared/certificates/key-pair-flaw.ts';
import { largest } from '../../shared/files/outside-file.ts';

/** The roots of the mesh, as agents read them. */
export interface RootBundle {
  /** PEM. */
  readonly text: string;
  /** Two bundles with the same digest have the same roots. */
  readonly digest: string;
}

/** Returns the bundle of roots, PEM each. Pure. */
export function rootBundle(roots: readonly string[]): RootBundle {
  const text = roots.join('');
  return { text, digest: bundleDigest(text) };
}

/**
 * Returns a digest of the roots in a PEM text, whatever their order and the text between them.
 * istiod publishes the text of its file, so equal roots may have different texts. A text that not
 * every agent can read has a digest that no bundle has. Pure.
 */
export function bundleDigest(text: string): string {
  const isPlain = text.length <= largest.pem && !/-----BEGIN (?!CERTIFICATE-----)/.test(text);
  const certificates = (isPlain ? pemCertificates(text) : undefined) ?? [];
  const prints = [...new Set(certificates.map(({ fingerprint256 }) => fingerprint256))].sort();
  const content = prints.length === 0 ? `unreadable ${text}` : prints.join(',');
  return createHash('sha256').update(content).digest('hex');
}
