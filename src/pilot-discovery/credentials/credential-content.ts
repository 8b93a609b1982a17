import { crlFlaw } from '../../shared/certificates/crl-flaw.ts';
import { pemCertificates } from '../../shared/certificates/key-pair-flaw.ts';
import { pairFlaw } from '../../shared/certificates/pair-flaw.ts';
import { isObject } from '../../shared/text/is-object.ts';
import { ownMember } from '../../shared/text/own-member.ts';

/** The part of a Secret that a proxy wants. */
export type CredentialPart = 'pair' | 'roots';

/** The content of a Secret that Envoy can use, in PEM. */
export type CredentialContent =
  | {
      readonly part: 'pair';
      readonly chain: Buffer;
      readonly key: Buffer;
      /** The answer of an OCSP server, in DER; empty if there is none. */
      readonly staple: Buffer;
    }
  | {
      readonly part: 'roots';
      readonly roots: Buffer;
      /** Revoked certificates; empty if there are none. */
      readonly crl: Buffer;
    };

/** The content, or why it cannot be served. */
export type CredentialReading =
  | { readonly ok: true; readonly content: CredentialContent }
  | { readonly ok: false; readonly reason: string };

/** The data keys of a Secret, in the order of istiod: generic ones, then `kubernetes.io/tls`. */
const keysOf = {
  pair: [
    { chain: 'cert', key: 'key', staple: '' },
    { chain: 'tls.crt', key: 'tls.key', staple: 'tls.ocsp-staple' },
  ],
  roots: [
    { roots: 'cacert', crl: 'crl' },
    { roots: 'ca.crt', crl: 'ca.crl' },
  ],
} as const;

/** The data keys of a Secret that are kept. */
export const credentialKeys: readonly string[] = [
  ...keysOf.pair.flatMap((names) => Object.values(names)),
  ...keysOf.roots.flatMap((names) => Object.values(names)),
].filter((name) => name !== '');

/** The number of names in a reason. */
const mostNames = 10;

/**
 * Reads a part of the data of a Secret, and refuses content that Envoy would reject. Pure.
 *
 * @param now ms since 1970
 */
export function readCredential(
  part: CredentialPart,
  data: unknown,
  now: number,
): CredentialReading {
  const bytesOf = (name: string): Buffer => {
    const value = isObject(data) ? ownMember(data, name) : undefined;
    return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
  };
  return part === 'pair' ? readPair(data, bytesOf, now) : readRoots(data, bytesOf);
}

type BytesOf = (name: string) => Buffer;

function readPair(data: unknown, bytesOf: BytesOf, now: number): CredentialReading {
  const names = keysOf.pair.find(
    ({ chain, key }) => bytesOf(chain).length > 0 && bytesOf(key).length > 0,
  );
  if (names === undefined) return refused(`it has no tls.crt with tls.key${has(data)}`);
  const [chain, key, staple] = [bytesOf(names.chain), bytesOf(names.key), bytesOf(names.staple)];
  const flaw = pairFlaw(chain.toString(), key, now);
  return flaw === undefined
    ? { ok: true, content: { part: 'pair', chain, key, staple } }
    : refused(`${names.chain}, ${names.key}: ${flaw}`);
}

function readRoots(data: unknown, bytesOf: BytesOf): CredentialReading {
  const names = keysOf.roots.find(({ roots }) => bytesOf(roots).length > 0);
  if (names === undefined) return refused(`it has no ca.crt${has(data)}`);
  const [roots, crl] = [bytesOf(names.roots), bytesOf(names.crl)];
  const certificates = pemCertificates(roots.toString());
  if (certificates === undefined) return refused(`${names.roots}: a certificate does not parse`);
  if (certificates.length === 0) return refused(`${names.roots}: it has no certificate`);
  const flaw = crl.length === 0 ? undefined : crlFlaw(crl.toString());
  return flaw === undefined
    ? { ok: true, content: { part: 'roots', roots, crl } }
    : refused(`${names.crl}: ${flaw}`);
}

const refused = (reason: string): CredentialReading => ({ ok: false, reason });

/** Returns the names of the data, for a person. */
function has(data: unknown): string {
  const names = isObject(data) ? Object.keys(data) : [];
  const shown = names.slice(0, mostNames).join(', ');
  return names.length === 0 ? ', it is empty' : `, it has ${shown}`;
}
