import type { Rule } from 'eslint';

/** A sentence that a reader would read twice, and why. */
export interface ProseFlaw {
  readonly line: number;
  readonly sentence: string;
  readonly reason: string;
}

export function proseFlaws(markdown: string): readonly ProseFlaw[];
export function medianWords(markdown: string): number;
export const plainComments: Rule.RuleModule;
export const plainStrings: Rule.RuleModule;
export const sayingNames: Rule.RuleModule;
