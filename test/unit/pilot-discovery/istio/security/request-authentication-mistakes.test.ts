import { describe, expect, it } from 'vitest';
import { readResources } from '../../../../../src/pilot-discovery/istio/documents/read-resources.ts';

const place = { source: 'files', path: 'a.yaml', defaultNamespace: 'default' };

/** Returns the severity, the line, the field and the sentence of each flaw. */
const flawsOf = (spec: string) =>
  readResources(
    `apiVersion: security.istio.io/v1\nkind: RequestAuthentication\nmetadata: { name: a }\nspec:\n${spec.replace(/^/gm, '  ')}\n`,
    place,
  )
    .flaws.filter(({ field }) => field !== '')
    .map(({ origin, field, reason, severity }) => `${severity} ${origin.line} ${field}: ${reason}`);

const keys = '{"keys":[{"kty":"oct","k":"AQAB"}]}';

/** Returns a rule with keys, and with more lines. */
const rule = (more: string) => `jwtRules:\n  - issuer: a\n    jwks: '${keys}'\n    ${more}`;

describe('a mistake in a RequestAuthentication', () => {
  it.each([
    ['jwtRules:\n  - {}', '6 spec.jwtRules[0].issuer: it is missing'],
    ['jwtRules:\n  - ', '6 spec.jwtRules[0].issuer: it is missing'],
    ['jwtRule: []', '5 spec.jwtRule: there is no such field: did you mean jwtRules?'],
    ['jwtRules: 1', '5 spec.jwtRules: 1 is not a list'],
    [rule('audiences: [b, ""]'), '8 spec.jwtRules[0].audiences[1]: it is missing'],
    [
      rule('audience: [b]'),
      '8 spec.jwtRules[0].audience: there is no such field: did you mean audiences?',
    ],
    [rule('fromHeaders: [{ prefix: b }]'), '8 spec.jwtRules[0].fromHeaders[0].name: it is missing'],
    [
      rule('fromHeaders: [{ name: "b c" }]'),
      "8 spec.jwtRules[0].fromHeaders[0].name: 'b c' is not a valid name of a header",
    ],
    [
      rule('fromHeaders: [{ name: b, prefix: "c\\n" }]'),
      '8 spec.jwtRules[0].fromHeaders[0].prefix: a line end or NUL cannot be in a header',
    ],
    [rule('fromParams: [""]'), '8 spec.jwtRules[0].fromParams[0]: it is missing'],
    [rule('fromCookies: [""]'), '8 spec.jwtRules[0].fromCookies[0]: it is missing'],
    [
      rule('forwardOriginalToken: yes, please'),
      "8 spec.jwtRules[0].forwardOriginalToken: 'yes, please' is not true or false",
    ],
    [
      rule('outputPayloadToHeader: b c'),
      "8 spec.jwtRules[0].outputPayloadToHeader: 'b c' is not a valid name of a header",
    ],
    [
      rule('outputClaimToHeaders: [{ header: b }]'),
      '8 spec.jwtRules[0].outputClaimToHeaders[0].claim: it is missing',
    ],
    [
      rule('outputClaimToHeaders: [{ header: b$, claim: c }]'),
      "8 spec.jwtRules[0].outputClaimToHeaders[0].header: 'b$' is not a valid name of a header for a claim (letters, digits, - and _)",
    ],
    [
      rule('timeout: 0s'),
      "8 spec.jwtRules[0].timeout: '0s' is not a duration of 1ms or more (such as '500ms' or '1.5s')",
    ],
    [
      rule('jwksUri: https://a.example.com'),
      '8 spec.jwtRules[0].jwksUri: it cannot be beside jwks: give one of the two',
    ],
    [
      `selector: { matchLabels: { app: a } }\ntargetRefs: [{ group: gateway.networking.k8s.io, kind: Gateway, name: g }]\n${rule('')}`,
      '4 spec: it cannot have both a selector and targetRefs',
    ],
    ...[
      ['keys', 'it is not JSON'],
      ['[]', 'it is not an object'],
      ['{}', 'it has no list of keys'],
      ['{"keys":["a"]}', 'keys[0] is not an object'],
      ['{"keys":[{"kty":"DSA"}]}', 'keys[0] has a kty other than RSA, EC, oct, OKP'],
      ['{"keys":[{"kty":"RSA","e":"AQAB"}]}', 'keys[0] has no n in base64url, which RSA needs'],
      ['{"keys":[{"kty":"oct","k":"!"}]}', 'keys[0] has no k in base64url, which oct needs'],
      [
        '{"keys":[{"kty":"oct","k":"AQAB"},{"kty":"EC","crv":"P-256","x":"AQAB"}]}',
        'keys[1] has no y in base64url, which EC needs',
      ],
    ].map(([text, reason]) => [
      `jwtRules:\n  - issuer: a\n    jwks: '${text}'`,
      `7 spec.jwtRules[0].jwks: ${reason}`,
    ]),
  ])('%s', (spec = '', flaw = '') => {
    expect(flawsOf(spec)).toContain(`error ${flaw}`);
  });

  it.each([
    ['ftp://a.example.com', "'ftp://a.example.com' is not http://HOST… or https://HOST…"],
    ['a.example.com/keys', "'a.example.com/keys' is not http://HOST… or https://HOST…"],
    ['https:///keys', "'https:///keys' is not http://HOST… or https://HOST…"],
    ['https://a.example.com:b', "'https://a.example.com:b' is not http://HOST… or https://HOST…"],
    [`https://a.example.com/${'b'.repeat(2_048)}`, 'it has 2070 characters, and the limit is 2048'],
  ])('an address of keys that is none: %s', (address, reason) => {
    expect(flawsOf(`jwtRules:\n  - issuer: a\n    jwksUri: ${address}`)).toContain(
      `error 7 spec.jwtRules[0].jwksUri: ${reason}`,
    );
  });

  it.each([
    ['{}', '4 spec: it has no jwtRules, and has no effect'],
    [
      'jwtRules: [{ issuer: a }]',
      "5 spec.jwtRules[0]: it has no jwks and no jwksUri, so each token of the issuer 'a' is refused",
    ],
    [
      `jwtRules: [{ issuer: a, jwks: '{"keys":[]}' }]`,
      '5 spec.jwtRules[0].jwks: it has no keys, so no token is valid',
    ],
    [
      `jwtRules: [{ issuer: a, jwks: '{"kty":"oct","k":"AQAB"}' }]`,
      '5 spec.jwtRules[0].jwks: it is a key, not {"keys": […]}, so no token is valid',
    ],
    [
      `jwtRules: [{ issuer: a, jwks: '{"keys":[{"kty":"EC","crv":"P-1","x":"AQAB","y":"AQAB"}]}' }]`,
      '5 spec.jwtRules[0].jwks: it has no key of a kind that Envoy takes, so no token is valid',
    ],
    [
      `{ jwtRules: [{ issuer: a, jwks: '${keys}' }], targetRef: { group: gateway.networking.k8s.io, kind: Gateway, name: g } }`,
      '4 spec: it is for gateways or services (targetRefs), and has no effect',
    ],
  ])('is only warned of: %s', (spec, flaw) => {
    expect(flawsOf(spec)).toEqual([`warning ${flaw}`]);
  });
});
