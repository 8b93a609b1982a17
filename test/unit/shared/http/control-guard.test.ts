import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { controlGuard } from '../../../../src/shared/http/control-guard.ts';

const statusFor = (
  headers: IncomingMessage['headers'],
  remoteAddress = '127.0.0.1',
  method = 'POST',
) => controlGuard({ method, headers, socket: { remoteAddress } })?.[0];

/** Returns the headers that a browser sends with a POST from a page to the origin of the page. */
const sameOrigin = (host: string) => ({
  host,
  origin: `http://${host}`,
  'sec-fetch-site': 'same-origin' as const,
});

describe('a request that changes something', () => {
  it.each([
    ['a program', { host: 'localhost:15020' }],
    ['a program that names no host', {}],
    ['the page', sameOrigin('localhost:15020')],
    ['the page, by an address', sameOrigin('127.0.0.1:15020')],
    ['the page, by an address of IPv6', sameOrigin('[::1]:15020')],
    ['the page, through a forwarded port', sameOrigin('localhost:8080')],
  ])('is let through: of %s', (_, headers) => {
    expect(statusFor(headers)).toBeUndefined();
  });

  const page = sameOrigin('localhost:15020');
  it.each([
    [
      'of another site',
      { ...page, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    ],
    ['of another site that claims to be the page', { ...page, origin: 'https://evil.example' }],
    [
      'of the page of another port',
      { ...page, origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' },
    ],
    [
      'of the page of another port, in a browser that does not say so',
      { ...page, origin: 'http://localhost:3000' },
    ],
    ['of a frame without an origin', { ...page, origin: 'null' }],
    ['of a frame without an origin, to a host of that name', sameOrigin('null')],
    ['of a site whose name means this machine now', sameOrigin('evil.example:15020')],
    ['of a site whose name begins like this machine', sameOrigin('localhost.evil.example:15020')],
    ['of a site whose name begins with an address', sameOrigin('127.0.0.1.evil.example:15020')],
    ['of this machine by another scheme', { ...page, origin: 'https://localhost:15020' }],
    [
      'with an origin that only begins like the page',
      { ...page, origin: 'http://localhost:15020.evil.example' },
    ],
    ['with an origin that has a user', { ...page, origin: 'http://localhost:15020@evil.example' }],
    ['with two origins', { ...page, origin: 'http://localhost:15020, https://evil.example' }],
    ['with an empty origin', { ...page, origin: '' }],
    ['of the page by another name of this machine', { ...page, origin: 'http://127.0.0.1:15020' }],
    [
      'with the origin of the page, and no word of the browser',
      { host: page.host, origin: page.origin },
    ],
    [
      'with the origin of the page, from elsewhere on this machine',
      { ...page, 'sec-fetch-site': 'same-site' },
    ],
    ['with the origin of the page, from another site', { ...page, 'sec-fetch-site': 'cross-site' }],
    ['with the origin of the page, from no page', { ...page, 'sec-fetch-site': 'none' }],
    [
      'with an origin and no host',
      { origin: 'http://localhost:15020', 'sec-fetch-site': 'same-origin' },
    ],
    ['with an origin and an empty host', sameOrigin('')],
    ['with a port that is none', sameOrigin('localhost:http')],
    ['from another site, without an origin', { host: page.host, 'sec-fetch-site': 'cross-site' }],
  ] satisfies readonly (readonly [string, IncomingMessage['headers']])[])(
    'is refused: %s',
    (_, headers) => {
      expect(statusFor(headers)).toBe(403);
    },
  );

  it.each(['127.0.0.6', '10.0.0.7', '::ffff:10.0.0.7', undefined])(
    'is refused from %s, even if it looks like the page',
    (address) => {
      expect(statusFor(page, address ?? '')).toBe(403);
    },
  );

  it.each(['GET', 'HEAD', 'PUT'])('is refused as %s', (method) => {
    expect(statusFor(page, '127.0.0.1', method)).toBe(405);
  });
});
