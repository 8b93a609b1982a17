/**
 * The texts that Go leaves unchanged in a path that is already escaped, and the characters that it
 * never escapes.
 */
const sound = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/[\]]|%[0-9A-Fa-f]{2})*$/;
const plain = /[^A-Za-z0-9\-._~$&+,/:;=@]/g;
const control = /[\x00-\x1f\x7f]/;

/**
 * Returns the path to request from the application, as the kubelet does for the path of a probe:
 * its URL parser escapes a path unless it is already valid. Leaves out a fragment, and the part
 * that would be the host of a URL. Leaves the text after a `?` unchanged, except for characters
 * that would end the line. Escapes the whole path if it cannot be a URL. Pure.
 */
export function requestPath(given: string): string {
  const text = Buffer.from(given).toString('latin1'); // each byte is a character
  const [withoutFragment = ''] = text.split('#', 1);
  const queryStart = withoutFragment.indexOf('?');
  const [before, query] =
    queryStart < 0
      ? [withoutFragment, '']
      : [withoutFragment.slice(0, queryStart), withoutFragment.slice(queryStart)];
  const isUrl = !control.test(text) && !/%(?![0-9A-Fa-f]{2})/.test(before);
  if (!isUrl) return escaped(text, plain);
  const path = before.replace(/^\/\/(?!\/)[^/]*/, '');
  return `${sound.test(path) ? path || '/' : escaped(unescaped(path), plain)}${escaped(query, /[^\x21-\x7e]/g)}`;
}

function escaped(bytes: string, which: RegExp): string {
  return bytes.replaceAll(
    which,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

function unescaped(bytes: string): string {
  return bytes.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}
