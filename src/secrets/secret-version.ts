import { createHash } from 'node:crypto';
import type { Secret } from './secret.ts';

/** Names the content of a secret: the first 16 hex digits of its sha256. So an Envoy that has it already is not given it again. Pure. */
export function secretVersion(secret: Secret): string {
  const parts = secret.kind === 'pair' ? [secret.chain, secret.key] : [secret.roots];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}
