import { createHash } from 'node:crypto';
import { crlBodies } from '../../shared/certificates/crl-flaw.ts';
import { pemCertificates } from '../../shared/certificates/key-pair-flaw.ts';
import { largest } from '../../shared/files/outside-file.ts';

/** A text for all namespaces: the roots of the mesh, or its CRLs. */
export interface RootBundle {
  /** PEM. */
  readonly text: string;
  /** Two bundles with the same digest have the same content. */
  readonly digest: string;
  /** Whether a namespace without a ConfigMap gets one. */
  readonly isFor: 'all namespaces' | 'namespaces that have one';
}

/** Returns the bundle of roots, PEM each. Pure. */
export function rootBundle(roots: readonly string[]): RootBundle {
  const text = roots.join('');
  return { text, digest: bundleDigest(text), isFor: 'all namespaces' };
}

/**
 * Returns a digest of the roots in a PEM text, whatever their order and the text between them.
 * istiod publishes the text of its file, so equal roots may have different texts. If some agents
 * cannot read the text, its digest differs from that of every bundle. Pure.
 */
export function bundleDigest(text: string): string {
  const isPlain = text.length <= largest.pem && !/-----BEGIN (?!CERTIFICATE-----)/.test(text);
  const certificates = (isPlain ? pemCertificates(text) : undefined) ?? [];
  const prints = [...new Set(certificates.map(({ fingerprint256 }) => fingerprint256))].sort();
  const content = prints.length === 0 ? `unreadable ${text}` : prints.join(',');
  return createHash('sha256').update(content).digest('hex');
}

/**
 * Returns the CRLs of the mesh as a bundle. If there are none, ConfigMaps that have some are
 * emptied. Pure.
 */
export function crlBundle(text: string): RootBundle {
  const isFor = text === '' ? 'namespaces that have one' : 'all namespaces';
  return { text, digest: crlDigest(text), isFor };
}

/** Returns a digest of the CRLs in a PEM text, whatever their order and the text between. Pure. */
export function crlDigest(text: string): string {
  const bodies = text.length <= largest.pem ? crlBodies(text) : '';
  const content =
    typeof bodies === 'string'
      ? `unreadable ${text.trim()}`
      : [...new Set(bodies.map((body) => body.toString('hex')))].sort().join(',');
  return createHash('sha256').update(content).digest('hex');
}
