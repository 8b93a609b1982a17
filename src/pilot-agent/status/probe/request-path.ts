/** What Go leaves as it is in a path that is escaped already, and what it never escapes. */
const sound = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/[\]]|%[0-9A-Fa-f]{2})*$/;
const plain = /[^A-Za-z0-9\-._~$&+,/:;=@]/g;
const control = /[\x00-\x1f\x7f]/;

/**
 * What is asked of the application for the path of a probe: as the kubelet asks, whose parser of
 * URLs escapes a path unless it is sound already. A fragment is left out, and so is what would be
 * the host of a URL. What follows a `?` is left as it is but for characters that would end the
 * line. A path that cannot be a URL is escaped as a whole. Pure.
 */
export function requestPath(given: string): string {
  const text = Buffer.from(given).toString('latin1'); // each byte is a character
  const [withoutFragment = ''] = text.split('#', 1);
  const at = withoutFragment.indexOf('?');
  const [before, query] =
    at < 0 ? [withoutFragment, ''] : [withoutFragment.slice(0, at), withoutFragment.slice(at)];
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
