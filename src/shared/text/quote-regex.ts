/** A regular expression, of RE2 too, that means a text as it is written. Pure. */
export const quoteRegex = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
