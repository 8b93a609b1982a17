// Why: docs/decisions/070-nonces-are-hashes.md
import { createHash } from 'node:crypto';
import type { Answer } from './proxy-stream.ts';

/** Returns a hash of the content of an answer. Pure. */
export function answerNonce({
  typeUrl,
  version,
  resources,
  removed,
}: Omit<Answer, 'nonce' | 'snapshot'>): string {
  const hash = createHash('sha1').update(`${typeUrl}\n${version}\n`);
  // A client may choose a name, with any character in it.
  for (const resource of resources)
    hash.update(`${JSON.stringify(resource.name)}${resource.version}\n`);
  return hash.update(JSON.stringify(removed)).digest('base64url').slice(0, 16);
}
