import type { Redirect } from './virtual-service.ts';
import {
  below,
  count,
  maybe,
  members,
  needed,
  oneOf,
  type ReadMember,
  text,
  whole,
  wrong,
} from '../fields/members.ts';

export const redirect: ReadMember<Redirect> = (value, place) =>
  members(value, place, [], (get, has) => {
    const number = get('port', whole(1, 65_535));
    const derived = get(
      'derivePort',
      oneOf(
        {
          FROM_PROTOCOL_DEFAULT: 'from-protocol-default',
          FROM_REQUEST_PORT: 'from-request-port',
        } as const,
        'from-protocol-default',
      ),
    );
    if (has('port') && has('derivePort'))
      wrong(place, 'port and derivePort exclude each other: leave one out');
    const redirectCode = get('redirectCode', count) ?? 301;
    if (![0, 301, 302, 303, 307, 308].includes(redirectCode))
      wrong(below(place, 'redirectCode'), `${redirectCode} is not one of 301, 302, 303, 307, 308`);
    if (!['uri', 'prefixRewrite', 'authority', 'scheme', 'port', 'derivePort'].some(has))
      wrong(place, 'it leads back to itself: give uri, authority, scheme or port');
    if (has('uri') && has('prefixRewrite'))
      wrong(place, 'uri and prefixRewrite exclude each other: leave one out');
    const scheme = get('scheme', text);
    if (scheme !== '' && scheme !== 'http' && scheme !== 'https')
      wrong(below(place, 'scheme'), `'${scheme}' is not http or https`);
    const parts = {
      uri: get('uri', text),
      prefixRewrite: get('prefixRewrite', maybe(needed)),
      authority: get('authority', text),
      scheme,
      redirectCode,
    };
    if (/[\0\r\n]/.test(parts.uri + (parts.prefixRewrite ?? '') + parts.authority))
      wrong(place, 'a line end cannot be in a redirect');
    return { ...parts, port: number ?? (has('derivePort') ? derived : undefined) };
  });
