import { describe, expect, it } from 'vitest';
import { readCrls } from '../../../../src/shared/certificates/read-crl.ts';

const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, content.length]), content]);
};
const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts);
const oid = der(0x06, Buffer.from([0x2a, 0x03]));
const time = der(0x17, Buffer.from('260101000000Z'));
const extension = (...critical: readonly Uint8Array[]) =>
  sequence(oid, ...critical, der(0x04, Buffer.from([0x05, 0x00])));
const isCritical = der(0x01, Buffer.from([0xff]));

/** Returns a CRL with one revoked certificate, whose entry ends with these lists of extensions. */
function crl(...lists: readonly Uint8Array[]): string {
  return crlUntil([], ...lists);
}

/** Returns such a CRL with this `nextUpdate`, if there is one. */
function crlUntil(end: readonly Uint8Array[], ...lists: readonly Uint8Array[]): string {
  const entry = sequence(der(0x02, Buffer.from([1])), time, ...lists);
  const signed = sequence(sequence(oid), sequence(), time, ...end, sequence(entry));
  const all = sequence(signed, sequence(oid), der(0x03, Buffer.from([0, 1])));
  return `-----BEGIN X509 CRL-----\n${all.toString('base64')}\n-----END X509 CRL-----\n`;
}

describe('an entry of a CRL', () => {
  it.each([
    ['none', crl()],
    ['one', crl(sequence(extension()))],
  ])('may have extensions: %s', (_, text) => {
    expect(readCrls(text)).toMatchObject([{ revoked: 1 }]);
  });

  it('may have no critical extension, which Envoy does not take', () => {
    expect(readCrls(crl(sequence(extension(), extension(isCritical))))).toBe(
      'an X509 CRL has a critical extension, which Envoy does not take',
    );
  });

  it('may have no empty list of extensions, which Envoy does not take', () => {
    expect(readCrls(crl(sequence()))).toBe('an X509 CRL does not parse');
  });
});

describe('the end of a CRL', () => {
  const utc = (text: string) => der(0x17, Buffer.from(text));
  const general = (text: string) => der(0x18, Buffer.from(text));

  it.each([
    ['none', [], Infinity],
    ['UTCTime', [utc('270101000000Z')], Date.UTC(2027, 0)],
    ['GeneralizedTime', [general('20270101000000Z')], Date.UTC(2027, 0)],
  ])('may be %s', (_, end, nextUpdate) => {
    expect(readCrls(crlUntil(end))).toMatchObject([{ nextUpdate, revoked: 1 }]);
  });

  it.each([
    ['a fraction', general('20270101000000.5Z')],
    ['an offset', utc('270101000000+0100')],
    ['no seconds', utc('2701010000Z')],
    ['a day that does not exist', utc('270199000000Z')],
    ['nothing', utc('')],
  ])('has no other form, as RFC 5280 says: %s', (_, end) => {
    expect(readCrls(crlUntil([end]))).toBe('an X509 CRL does not parse');
  });
});
