// Why: docs/decisions/070-nonces-are-hashes.md
import { createHash } from 'node:crypto';
import type { Answer } from './proxy-stream.ts';

/** A hash of all that an answer says. Pure. */
export function answerNonce({
  typeUrl,
  version,
  resources,
  removed,
}: Omit<Answer, 'nonce' | 'snapshot'>): string {
  const hash = createHash('sha1').update(`${typeUrl}\n${version}\n`);
  // Names may be a client's, with any sign in them.
  for (const resource of resources)
    hash.update(`${JSON.stringify(resource.name)}${resource.version}\n`);
  return hash.update(JSON.stringify(removed)).digest('base64url').slice(0, 16);
}
