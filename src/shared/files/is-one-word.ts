/** Whether a text is one word of ASCII, so that it can be a token in a header. Pure. */
export function isOneWord(text: string): boolean {
  return /^[!-~]+$/.test(text);
}
