import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { lastValueFrom } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  blockedRanges,
  type BlockedRanges,
  usuallyBlocked,
} from '../../../../../src/pilot-discovery/registry/keys/blocked-ranges.ts';
import { fetchKeys } from '../../../../../src/pilot-discovery/registry/keys/fetch-keys.ts';

const keys = '{"keys":[{"kty":"oct","k":"AQAB"}]}';
const nothing = { defaultValue: { ok: false, reason: 'nothing was emitted' } } as const;
const anywhere = blockedRanges('169.254.0.0/16') as BlockedRanges;

describe('keys that are fetched', () => {
  let server: Server;
  let origin = '';
  const moved = (to: string) => ({ status: 302, location: to, body: '' });
  const pages: Readonly<Record<string, { status?: number; location?: string; body: string }>> = {
    '/keys': { body: keys },
    '/odd': { body: `{"keys":[{"kty":"new"},${keys.slice(9)}` },
    '/none': { body: '{"keys":[]}' },
    '/text': { body: 'keys' },
    '/large': { body: ' '.repeat((1 << 20) + 1) },
    '/away': { status: 503, body: '' },
    '/moved': moved('/keys'),
    '/round': moved('/round'),
    '/metadata': moved('http://169.254.169.254/keys'),
    '/by-file': moved('file:///etc/passwd'),
    '/me/.well-known/openid-configuration': { body: '{"jwks_uri":"HOST/keys"}' },
    '/inside/.well-known/openid-configuration': {
      body: '{"jwks_uri":"http://169.254.169.254/keys"}',
    },
    '/nobody/.well-known/openid-configuration': { body: '{"jwks_uri":1}' },
  };
  beforeAll(async () => {
    server = createServer(({ url = '' }, response) => {
      const { status = 200, location, body } = pages[url] ?? { status: 404, body: '' };
      response.writeHead(status, location === undefined ? {} : { location });
      response.end(body.replace('HOST', origin));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.close();
  });

  const fetched = (
    path: string,
    {
      has = 'keys',
      blocked = anywhere,
    }: { has?: 'keys' | 'discovery'; blocked?: BlockedRanges } = {},
  ) =>
    lastValueFrom(fetchKeys({ has, url: `${origin}${path}`, timeoutMs: 1_000 }, blocked), nothing);
  const failure = async (...given: Parameters<typeof fetched>) => {
    const result = await fetched(...given);
    return result.ok ? '' : result.reason.replaceAll(origin, 'HOST');
  };

  it('are those of the answer', async () => {
    expect(await fetched('/keys')).toEqual({ ok: true, keys });
    expect(await fetched('/odd')).toEqual({ ok: true, keys });
    expect(await fetched('/moved')).toEqual({ ok: true, keys });
  });

  it('are where the issuer says', async () => {
    const has = 'discovery';
    const path = '/.well-known/openid-configuration';
    expect(await fetched(`/me${path}`, { has })).toEqual({ ok: true, keys });
    expect(await failure(`/inside${path}`, { has })).toBe('169.254.169.254 is blocked');
    expect(await failure(`/nobody${path}`, { has })).toBe(
      'the metadata of the issuer has no jwks_uri with http:// or https://',
    );
    expect(await failure('/text', { has })).toMatch(/has no jwks_uri/);
  });

  it.each([
    ['/none', 'it has no keys'],
    ['/text', 'it is not JSON'],
    ['/large', 'the answer is larger than 1048576 bytes'],
    ['/away', 'HOST/away answers with 503'],
    ['/nothing', 'HOST/nothing answers with 404'],
    ['/round', 'there are more than 5 redirects'],
    ['/metadata', '169.254.169.254 is blocked'],
    ['/by-file', 'HOST/by-file answers with 302'],
  ])('are none at %s', async (path, reason) => {
    expect(await failure(path)).toBe(reason);
  });

  it('are not fetched from this machine, unless it is allowed', async () => {
    const blocked = blockedRanges(usuallyBlocked) as BlockedRanges;
    expect(await failure('/keys', { blocked })).toBe('127.0.0.1 is blocked');
    const url = `${origin.replace('127.0.0.1', 'localhost')}/keys`;
    expect(
      await lastValueFrom(fetchKeys({ has: 'keys', url, timeoutMs: 1_000 }, blocked), nothing),
    ).toEqual({ ok: false, reason: 'localhost has the address 127.0.0.1, which is blocked' });
  });
});
