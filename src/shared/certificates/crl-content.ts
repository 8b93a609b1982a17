/** The place of CRLs as it was read. */
export type CrlContent =
  | { readonly kind: 'absent' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unreadable'; readonly reason: string };

/** A file that was read, or why it was not. */
type ReadFile =
  | { readonly kind: 'read'; readonly bytes: Buffer }
  | { readonly kind: 'absent' | 'unreadable'; readonly reason: string };

/** Returns the content of a file with CRLs. Pure. */
export function crlContent(file: ReadFile): CrlContent {
  if (file.kind === 'read') return { kind: 'text', text: file.bytes.toString('latin1') };
  return file.kind === 'absent'
    ? { kind: 'absent' }
    : { kind: 'unreadable', reason: `it cannot be read: ${file.reason}` };
}
