import { largest, readOutside } from '../../shared/files/outside-file.ts';
import { keyPairFlaw } from '../../shared/certificates/key-pair-flaw.ts';

/**
 * The pair that authenticates the agent to a server, both PEM; or why there is none, with the path.
 */
export type OwnPair =
  | { readonly ok: true; readonly pair: { readonly chain: Buffer; readonly key: Buffer } }
  | { readonly ok: false; readonly reason: string };

/**
 * Reads the pair that authenticates the agent. A pair that does not work now counts as none. Never
 * rejects.
 *
 * @param now ms since 1970
 */
export async function readOwnPair(
  paths: { readonly chain: string; readonly key: string },
  now: number,
): Promise<OwnPair> {
  const read = async (subject: string, path: string) => {
    const file = await readOutside(path, largest.pem);
    return file.kind === 'read'
      ? file.bytes
      : `${subject} of the agent cannot be read: ${path}: ${file.reason}`;
  };
  const [chain, key] = await Promise.all([
    read('the certificate', paths.chain),
    read('the key', paths.key),
  ]);
  if (typeof chain === 'string' || typeof key === 'string')
    return { ok: false, reason: typeof chain === 'string' ? chain : String(key) };
  const flaw = keyPairFlaw(chain.toString(), key, now);
  return flaw === undefined
    ? { ok: true, pair: { chain, key } }
    : { ok: false, reason: `${paths.chain}, ${paths.key}: ${flaw}` };
}
