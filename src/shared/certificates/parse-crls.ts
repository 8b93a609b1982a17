import { type Crl, readCrls } from './read-crl.ts';
import type { CrlContent } from './crl-content.ts';

/** The CRLs in a content; `text` is their PEM. A blank text counts as absent. */
export type ParsedCrls =
  | { readonly kind: 'absent' }
  | { readonly kind: 'crls'; readonly text: string; readonly crls: readonly Crl[] }
  | { readonly kind: 'unreadable'; readonly reason: string };

/** In characters. Kubernetes takes no larger ConfigMap. */
const longest = 1 << 20;

/** Parses the CRLs of a content. Pure. */
export function parseCrls(content: CrlContent): ParsedCrls {
  if (content.kind !== 'text') return content;
  const { text } = content;
  if (text.trim() === '') return { kind: 'absent' };
  if (text.length > longest) return unreadable(`it has more than ${longest} characters`);
  const crls = readCrls(text);
  return typeof crls === 'string' ? unreadable(crls) : { kind: 'crls', text, crls };
}

const unreadable = (reason: string): ParsedCrls => ({ kind: 'unreadable', reason });
