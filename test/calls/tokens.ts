import { createHmac } from 'node:crypto';

/** The issuer of the tokens, and its only key, which it shares with the proxies. */
export const issuer = 'issuer@calls.test';
const secret = 'a-key-that-only-these-calls-have';

const encoded = (text: string) => Buffer.from(text).toString('base64url');

/** The keys of the issuer, as a RequestAuthentication has them. */
export const jwks = JSON.stringify({
  keys: [{ kty: 'oct', kid: 'one', alg: 'HS256', k: encoded(secret) }],
});

/** The year 2100 and the year 2001, in s. */
const [later, earlier] = [4_102_444_800, 978_307_200];

function token(claims: Readonly<Record<string, unknown>>, key = secret): string {
  const head = encoded(JSON.stringify({ alg: 'HS256', kid: 'one', typ: 'JWT' }));
  const text = `${head}.${encoded(JSON.stringify({ iss: issuer, sub: 'caller', exp: later, ...claims }))}`;
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
}

/** The tokens that calls may have: none, one with a role, or one that is refused. */
export const tokens = [
  '',
  '',
  '',
  token({ role: 'admin' }),
  token({ role: 'user' }),
  token({}),
  token({ role: 'admin' }, 'another key'),
  token({ role: 'admin', exp: earlier }),
  token({ role: 'admin', iss: 'somebody@calls.test' }),
  'not.a.token',
] as const;
