/** Returns a regular expression, also for RE2, that matches exactly this text. Pure. */
export const quoteRegex = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
