import type { KubeObject } from '../../shared/kube/kube-object.ts';
import { largest } from '../../shared/files/outside-file.ts';
import { isObject } from '../../shared/text/is-object.ts';
import { ownMember } from '../../shared/text/own-member.ts';
import { base64Bytes } from '../../shared/certificates/base64-bytes.ts';
import type { CrlContent } from '../../shared/certificates/crl-content.ts';
import { crlName } from './authority-files.ts';
import type { NewRoot } from './new-root.ts';
import {
  type AuthorityParts,
  type SigningAuthority,
  signingAuthority,
} from './signing-authority.ts';

/** The Secrets of istiod with an authority: that of the user, and the self-signed root. */
export type AuthoritySecret = 'cacerts' | 'istio-ca-secret';

/** The content of a Secret that exists. A refused one is read again later. */
export type SecretContent =
  | {
      readonly type: 'authority';
      readonly authority: SigningAuthority;
      readonly crl: CrlContent;
    }
  | { readonly type: 'refused'; readonly reason: string; readonly object: KubeObject };

/** The keys of an authority: those of istiod, and those of the type kubernetes.io/tls. */
const ofIstiod = {
  certificate: 'ca-cert.pem',
  key: 'ca-key.pem',
  chain: 'cert-chain.pem',
  roots: 'root-cert.pem',
} as const;
const ofTls = { certificate: 'tls.crt', key: 'tls.key', chain: 'ca.crt', roots: 'ca.crt' } as const;

/**
 * Reads the authority in a Secret. If it is valid, the bytes of its key are overwritten: only
 * OpenSSL has them then.
 *
 * @param now ms since 1970
 */
export function readAuthoritySecret(
  name: AuthoritySecret,
  object: KubeObject,
  now: number,
): SecretContent {
  const refused = (reason: string): SecretContent => ({ type: 'refused', reason, object });
  const parts = partsOf(name, object);
  if (typeof parts === 'string') return refused(parts);
  const result = signingAuthority(parts, now);
  if (!result.ok) return refused(result.reason);
  parts.key.fill(0);
  return { type: 'authority', authority: result.authority, crl: crlIn(object) };
}

function crlIn({ data }: KubeObject): CrlContent {
  const value = isObject(data) ? ownMember(data, crlName) : undefined;
  if (!Buffer.isBuffer(value)) return { kind: 'absent' };
  return value.length > largest.pem
    ? { kind: 'unreadable', reason: `it has more than ${largest.pem} bytes` }
    : { kind: 'text', text: value.toString('latin1') };
}

/** Returns the parts, or what is missing. */
function partsOf(name: AuthoritySecret, { data }: KubeObject): AuthorityParts | string {
  const fields = isObject(data) ? data : {};
  const bytesOf = (key: string): Buffer | undefined => {
    const value = ownMember(fields, key);
    return Buffer.isBuffer(value) && value.length > 0 ? value : undefined;
  };
  const names = bytesOf(ofTls.key) === undefined ? ofIstiod : ofTls;
  const isSelfSigned = name === 'istio-ca-secret';
  const certificate = bytesOf(names.certificate);
  const key = bytesOf(names.key);
  const chain = bytesOf(names.chain);
  const roots = bytesOf(names.roots) ?? (isSelfSigned ? certificate : undefined);
  if (certificate === undefined) return `${names.certificate} is missing`;
  if (key === undefined) return `${names.key} is missing`;
  if (roots === undefined) return `${names.roots} is missing`;
  const large = [certificate, key, roots, chain].some((part) => (part?.length ?? 0) > largest.pem);
  if (large) return `one of its values has more than ${largest.pem} bytes`;
  return {
    certificate: certificate.toString('latin1'),
    key,
    chain: chain?.toString('latin1') ?? '',
    roots: roots.toString('latin1'),
  };
}

/**
 * Returns the Secret of a self-signed root as istiod makes it, JSON in bytes. The key in it never
 * becomes a text. The caller overwrites the bytes after they are sent. Pure.
 */
export function rootSecret(namespace: string, { certificate, key }: NewRoot): Buffer {
  const root = Buffer.from(certificate).toString('base64');
  const data = {
    [ofIstiod.certificate]: root,
    [ofIstiod.roots]: root,
    [ofIstiod.chain]: '',
    'key.pem': '',
    [ofIstiod.key]: '',
  };
  const text = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'istio-ca-secret' satisfies AuthoritySecret, namespace },
    type: 'istio.io/ca-root',
    data,
  });
  const end = '"}}'; // behind the key, which is the last one
  const encoded = base64Bytes(key);
  try {
    return Buffer.concat([Buffer.from(text.slice(0, -end.length)), encoded, Buffer.from(end)]);
  } finally {
    encoded.fill(0);
  }
}
