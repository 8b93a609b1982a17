export type DownwardApi =
  { readonly ok: true; readonly entries: Readonly<Record<string, string>> } | { readonly ok: false; readonly reason: string };

const single = new Map(Object.entries({ a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', '\\': '\\', '"': '"' }));
/** What may stand between the quotes: characters, and the escapes of Go's `%q`. */
const quoted = /^"((?:[^"\\]|\\(?:[abfnrtv\\"]|[0-3][0-7]{2}|x[\da-fA-F]{2}|u[\da-fA-F]{4}|U00(?:0[\da-fA-F]|10)[\da-fA-F]{4}))*)"$/;
const escape = /\\(?:(?<letter>[abfnrtv\\"])|(?<octal>[0-7]{3})|x(?<byte>..)|u(?<short>.{4})|U(?<long>.{8}))|(?<plain>[^\\]+)/gsu;

/**
 * The labels or annotations of a pod, from the file that Kubernetes' downward API makes of them:
 * `key="value"` a line, quoted as in Go.
 *
 * A line without `=` says nothing; a value that is not quoted makes the file worthless. Pure.
 */
export function parseDownwardApi(text: string): DownwardApi {
  const entries: (readonly [string, string])[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const at = line.indexOf('=');
    if (at < 0) continue;
    const value = quoted.exec(line.slice(at + 1))?.[1];
    if (value === undefined) return { ok: false, reason: `line ${index + 1}: the value of ${line.slice(0, at)} is not a quoted text` };
    entries.push([line.slice(0, at), unquote(value)]);
  }
  return { ok: true, entries: Object.fromEntries(entries) };
}

/** Escapes of bytes make up characters together, so all become bytes first. */
function unquote(text: string): string {
  const parts = [...text.matchAll(escape)].map(({ groups = {} }) => {
    const { letter, octal, byte, short, long, plain = '' } = groups;
    if (octal !== undefined) return Buffer.of(parseInt(octal, 8));
    if (byte !== undefined) return Buffer.of(parseInt(byte, 16));
    const point = short ?? long;
    return Buffer.from(point === undefined ? (single.get(letter ?? '') ?? plain) : String.fromCodePoint(parseInt(point, 16)));
  });
  return Buffer.concat(parts).toString();
}
