/** A word of an expression of CEL, and its position in the text. */
export interface CelToken {
  readonly kind: 'name' | 'number' | 'text' | 'sign' | 'wrong' | 'end';
  readonly text: string;
  readonly position: number;
}

const escape = String.raw`\\(?:[abfnrtv"'\\?${'`'}]|[xX][\da-fA-F]{2}|[0-3][0-7]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8})`;

const quoted = (plain: (quote: string) => string): string =>
  [
    String.raw`"""(?:${plain('')}|"(?!""))*?"""`,
    String.raw`'''(?:${plain('')}|'(?!''))*?'''`,
    String.raw`"(?:${plain(String.raw`"\n\r`)})*"`,
    String.raw`'(?:${plain(String.raw`'\n\r`)})*'`,
  ].join('|');

const parts = {
  space: String.raw`[ \t\r\n\f]+|//[^\n]*`,
  number: String.raw`0x[\da-fA-F]+[uU]?|\d+\.\d+(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+|\.\d+(?:[eE][-+]?\d+)?|\d+[uU]?`,
  text: [
    String.raw`[bB]?[rR](?:${quoted((quote) => (quote === '' ? String.raw`[^"']` : `[^${quote}]`))})`,
    String.raw`[bB]?(?:${quoted((quote) => String.raw`[^\\${quote === '' ? `"'` : quote}]|${escape}`)})`,
  ].join('|'),
  name: String.raw`[A-Za-z_]\w*`,
  sign: String.raw`&&|\|\||[<>=!]=|[-+*/%<>!?:.,()[\]{}]`,
};

const token = new RegExp(
  Object.entries(parts)
    .map(([name, pattern]) => `(?<${name}>${pattern})`)
    .join('|'),
  'gy',
);

const kinds = ['name', 'number', 'text', 'sign'] as const;

/**
 * Returns the words of an expression. The last one is `end`, or `wrong` if a character is not a
 * word of CEL. Pure.
 */
export function celTokens(expression: string): readonly CelToken[] {
  const tokens: CelToken[] = [];
  let end = 0;
  for (const match of expression.matchAll(token)) {
    end = match.index + match[0].length;
    const kind = kinds.find((group) => match.groups?.[group] !== undefined);
    if (kind !== undefined) tokens.push({ kind, text: match[0], position: match.index });
  }
  const kind = end === expression.length ? 'end' : 'wrong';
  return [...tokens, { kind, text: expression.slice(end, end + 1), position: end }];
}
