import { expect, it } from 'vitest';
import { identitiesText, principalsOf } from '../../../demo/identities-text.ts';
import { testIssuer } from '../../support/plugged-authority.ts';

const named = (name: string) => `spiffe://cluster.local/ns/shop/sa/${name}`;

it('the header of a sidecar names both principals', () => {
  const header = `By=${named('echo')};Hash=${'0'.repeat(64)};Subject="";URI=${named('client')}`;
  expect(principalsOf(header)).toBe(`${named('client')} → ${named('echo')}`);
  expect(principalsOf(undefined)).toBe('nobody → nobody');
});

it('calls and certificates stand in columns, and a foreign issuer is named as one', async () => {
  const [root, foreign] = await Promise.all([testIssuer(), testIssuer({ subject: 'CN=foreign' })]);
  const notAfter = 1_900_000_000_000;
  const [client, server] = await Promise.all([
    testIssuer({ subject: 'CN=a', isCa: false, notAfter }, root),
    testIssuer({ subject: 'CN=b', isCa: false, notAfter }, foreign),
  ]);
  const text = identitiesText(
    new Map([
      ['b → a', 7],
      ['a → longer', 12],
    ]),
    [
      { name: 'client', chain: client.certificate },
      { name: 'b', chain: server.certificate },
    ],
    root.certificate,
    notAfter - 90_000,
  );
  const lines = text.split('\n');
  expect(lines.slice(1, 3)).toEqual(['  a → longer  12', '  b → a       7']);
  expect(lines[4]).toMatch(/^ {2}client +[0-9A-F]+ +CN=root +expires in 90 s$/);
  expect(lines[5]).toMatch(/^ {2}b {7}.*not the root of this mesh {2}expires in 90 s$/);
  expect(identitiesText(new Map(), [], root.certificate, 0).split('\n')).toHaveLength(3);
});
