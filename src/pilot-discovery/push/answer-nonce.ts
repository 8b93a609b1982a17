// Why: docs/decisions/070-nonces-are-hashes.md
import { createHash } from 'node:crypto';
import type { Answer } from './proxy-stream.ts';

/**
 * Returns the nonce of an answer: a hash of its content. If the last answer had the same content,
 * the nonce gets a mark: a request with new names repeats the last nonce, and must not look like an
 * ACK of this answer. Pure.
 */
export function answerNonce(content: AnswerContent, lastNonce: string | undefined): string {
  const hash = hashOf(content);
  return hash === lastNonce ? `${hash}+` : hash;
}

type AnswerContent = Omit<Answer, 'nonce' | 'snapshot' | 'purpose'>;

function hashOf({ typeUrl, version, resources, removed }: AnswerContent): string {
  const hash = createHash('sha1').update(`${typeUrl}\n${version}\n`);
  // A client may choose a name, with any character in it.
  for (const resource of resources)
    hash.update(`${JSON.stringify(resource.name)}${resource.version}\n`);
  return hash.update(JSON.stringify(removed)).digest('base64url').slice(0, 16);
}
