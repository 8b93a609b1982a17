/**
 * Returns a program with an escape for each character beyond ASCII. The launcher reads it as
 * Latin-1, so V8 keeps one byte per character. esbuild escapes strings, but not regular
 * expressions.
 */
export function ascii(text) {
  const escaped = /\\[^\0-\x7f]/.exec(text);
  if (escaped !== null) throw new Error(`the bundle has a backslash before ${escaped[0].slice(1)}`);
  return text.replace(
    /[^\0-\x7f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
