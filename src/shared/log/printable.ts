/**
 * The characters that a terminal acts on instead of showing them: the controls of C0 and C1 except
 * line breaks and tabs, and those that change the direction of writing.
 */
const acted = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Escapes the text of another program so that a terminal shows it, `\x1b` for an escape. Pure. */
export function printable(text: string): string {
  return text.replace(acted, escaped);
}

/** Escapes JSON in the same way without changing its meaning: it uses the escapes of JSON. Pure. */
export function printableJson(json: string): string {
  return json.replace(acted, (control) => `\\u${hex(control.charCodeAt(0), 4)}`);
}

function escaped(control: string): string {
  const code = control.charCodeAt(0);
  return code < 256 ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}
