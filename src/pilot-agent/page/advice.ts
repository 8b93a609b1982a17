/** The advice of docs/troubleshooting.md for a trouble; code is in backticks. */
export interface Advice {
  readonly cause: string;
  readonly command: string;
  readonly fix: string;
}

/** By the anchor in that page. */
export type Advices = Readonly<Record<string, Advice | undefined>>;

/** A part of a text, and whether it is code. */
export interface TextPart {
  readonly text: string;
  readonly kind: 'words' | 'code';
}

/** Splits a text with code in backticks into its parts. Pure. */
export function partsOf(text: string): readonly TextPart[] {
  return text
    .split('`')
    .map((part, index): TextPart => ({ text: part, kind: index % 2 === 0 ? 'words' : 'code' }))
    .filter((part) => part.text !== '');
}
