export type DownwardApi =
  | { readonly ok: true; readonly entries: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly reason: string };

const single = new Map(
  Object.entries({
    a: '\x07',
    b: '\b',
    f: '\f',
    n: '\n',
    r: '\r',
    t: '\t',
    v: '\v',
    '\\': '\\',
    '"': '"',
  }),
);
/** An escape of Go's `%q`, without its backslash. */
const escape =
  /([abfnrtv\\"])|([0-3][0-7]{2})|x([\da-fA-F]{2})|u([\da-fA-F]{4})|U(00(?:0[\da-fA-F]|10)[\da-fA-F]{4})/y;
/** The limit of entries. No pod has as many, and the code walks through each more than once. */
const most = 10_000;

/**
 * Returns the labels or annotations of a pod, from the file that Kubernetes' downward API writes:
 * `key="value"` on each line, quoted as in Go.
 *
 * A line without `=` is ignored; if a value is not quoted, the whole file is invalid. Pure.
 */
export function parseDownwardApi(text: string): DownwardApi {
  const entries: (readonly [string, string])[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const separator = line.indexOf('=');
    if (separator < 0) continue;
    const value = unquote(line.slice(separator + 1));
    if (value === undefined)
      return {
        ok: false,
        reason: `line ${index + 1}: the value of ${line.slice(0, separator)} is not a quoted text`,
      };
    if (entries.push([line.slice(0, separator), value]) > most)
      return { ok: false, reason: `it has more than ${most} entries, which is the limit` };
  }
  return { ok: true, entries: Object.fromEntries(entries) };
}

/**
 * Returns the text between the quotes; undefined if it is not a quoted text. Several byte escapes
 * may form one character, so everything becomes bytes first. No escape becomes more bytes than it
 * has characters.
 */
function unquote(quoted: string): string | undefined {
  if (quoted.length < 2 || !quoted.startsWith('"') || !quoted.endsWith('"')) return undefined;
  const text = quoted.slice(1, -1);
  const bytes = Buffer.allocUnsafe(Buffer.byteLength(text));
  let length = 0;
  let from = 0;
  const plain = (to: number) => {
    if (to > from) length += bytes.write(text.slice(from, to), length);
  };
  for (let backslash = text.indexOf('\\'); backslash >= 0; backslash = text.indexOf('\\', from)) {
    plain(backslash);
    escape.lastIndex = backslash + 1;
    const [whole = '', letter, octal, byte, short, long] = escape.exec(text) ?? [];
    if (whole === '') return undefined;
    if (octal !== undefined) length = bytes.writeUInt8(parseInt(octal, 8), length);
    else if (byte !== undefined) length = bytes.writeUInt8(parseInt(byte, 16), length);
    else
      length += bytes.write(
        single.get(letter ?? '') ?? String.fromCodePoint(parseInt(short ?? long ?? '', 16)),
        length,
      );
    from = backslash + 1 + whole.length;
  }
  plain(text.length);
  return hasQuote(text) ? undefined : bytes.toString('utf8', 0, length);
}

/** Says whether a quote without a backslash ends the text too early. */
function hasQuote(text: string): boolean {
  return text.replace(/\\./gs, '').includes('"');
}
