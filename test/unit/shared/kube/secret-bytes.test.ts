import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeSecrets } from '../../../../src/shared/kube/kube-object.ts';
import { cutSecrets, fromBase64 } from '../../../../src/shared/kube/secret-bytes.ts';

const key = randomBytes(300);
const secret = (name: string, data: Readonly<Record<string, Buffer>>) => ({
  metadata: {
    name,
    namespace: 'ns',
    resourceVersion: '1',
    annotations: { applied: JSON.stringify({ data: key.toString('base64') }) },
  },
  data: Object.fromEntries(
    Object.entries(data).map(([each, bytes]) => [each, bytes.toString('base64')]),
  ),
  type: 'Opaque',
});
const small = Buffer.from('a');
const bytesOf = (value: unknown, spaces?: number) =>
  Buffer.from(JSON.stringify(value, null, spaces));

describe('the data of Secrets', () => {
  it.each([undefined, 2])(
    'are taken out before the JSON becomes a text: of one, of a list, of an event (indented by %s)',
    (spaces) => {
      const secretObject = secret('a', { 'tls.key': key, empty: Buffer.alloc(0), small });
      for (const value of [
        secretObject,
        { items: [secretObject, secret('b', { key })] },
        { type: 'ADDED', object: secretObject },
      ]) {
        const { json } = cutSecrets(bytesOf(value, spaces));
        expect(json.toString()).not.toContain(key.toString('base64').slice(0, 20));
        expect(() => JSON.parse(json.toString()) as unknown).not.toThrow();
      }
    },
  );

  it('come back as bytes, each in its place; all else stays, but annotations', () => {
    const [a, b] = [
      secret('a', { 'tls.key': key, empty: Buffer.alloc(0), small }),
      secret('data', { key }),
    ];
    const metadata = { ...a.metadata, annotations: { applied: '' } };
    const first = { ...a, metadata, data: { 'tls.key': key, empty: Buffer.alloc(0), small } };
    expect(decodeSecrets(bytesOf(a))).toEqual(first);
    expect(decodeSecrets(bytesOf({ type: 'ADDED', object: a }))).toEqual({
      type: 'ADDED',
      object: first,
    });
    const list = { metadata: { resourceVersion: '5' }, items: [a, b] };
    expect(decodeSecrets(bytesOf(list))).toEqual({
      metadata: { resourceVersion: '5' },
      items: [first, { ...b, metadata: { ...metadata, name: 'data' }, data: { key } }],
    });
  });

  it('of a name that is as long as a key is one stays a text', () => {
    const name = 'n'.repeat(200);
    expect(
      decodeSecrets(bytesOf({ metadata: { name, labels: { data: name } }, data: {} })),
    ).toMatchObject({ metadata: { name, labels: { data: name } } });
  });

  it('from base64 are what Node makes of it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) =>
        Buffer.from(bytes).equals(fromBase64(Buffer.from(Buffer.from(bytes).toString('base64')))),
      ),
    );
  });

  it('that are cut off, or no JSON at all, are refused without a word of what is there', () => {
    const whole = bytesOf({ type: 'ADDED', object: secret('a', { key }) });
    for (let length = 0; length < whole.length; length += 1) {
      expect(() => decodeSecrets(Buffer.from(whole.subarray(0, length)))).toThrow(
        /^its answer is not JSON$/,
      );
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          decodeSecrets(Buffer.from(bytes));
        } catch (error) {
          return (error as Error).message === 'its answer is not JSON';
        }
        return true;
      }),
    );
  });
});
