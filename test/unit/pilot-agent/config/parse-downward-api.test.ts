import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wellFormed } from '../../../../src/pilot-agent/bootstrap/proto-json.ts';
import { parseDownwardApi } from '../../../../src/pilot-agent/config/downward-api.ts';
import { anyText } from '../../../golden/arbitrary-inputs.ts';

/** Formats a map as Kubernetes does: sorted, a line each, values by Go's `%q`. */
function formatted(entries: Readonly<Record<string, string>>): string {
  const quote = (value: string) =>
    JSON.stringify(value)
      .replace(/\\u00([01][\da-f])/g, '\\x$1')
      .replaceAll('\x7f', '\\x7f');
  return Object.entries(entries)
    .sort()
    .map(([key, value]) => `${key}=${quote(value)}`)
    .join('\n');
}

describe('parseDownwardApi', () => {
  it.each<{ what: string; entries: Readonly<Record<string, string>> }>([
    { what: 'nothing', entries: {} },
    { what: 'one label', entries: { foo: 'bar' } },
    {
      what: 'five labels',
      entries: {
        app: 'istio-ingressgateway',
        chart: 'gateways',
        heritage: 'Tiller',
        istio: 'ingressgateway',
        'pod-template-hash': '54756dbcf9',
      },
    },
    { what: 'a value with a newline', entries: { config: 'foo: bar\nother: setting', foo: 'bar' } },
    { what: 'weird values', entries: { foo: 'a1_-.as1', bar: 'a=b' } },
  ])('reads what Kubernetes wrote: $what', ({ entries }) => {
    expect(parseDownwardApi(formatted(entries))).toEqual({ ok: true, entries });
  });

  it('reads back whatever Kubernetes wrote', () => {
    const key = fc.stringMatching(/^[a-z0-9./-]+$/);
    fc.assert(
      fc.property(fc.dictionary(key, anyText.map(wellFormed)), (entries) => {
        expect(parseDownwardApi(formatted(entries))).toEqual({ ok: true, entries });
      }),
    );
  });

  it.each<{ what: string; text: string; entries: Readonly<Record<string, string>> }>([
    { what: 'skips a line without =', text: 'just text\n\na="b"\n', entries: { a: 'b' } },
    {
      what: 'takes each escape of Go',
      text: String.raw`a="\a\b\f\n\r\t\v\\\"\x41\102\u00e9\U0001f600"`,
      entries: { a: '\x07\b\f\n\r\t\v\\"ABé😀' },
    },
    { what: 'puts escaped bytes together', text: String.raw`a="\xc3\xa9"`, entries: { a: 'é' } },
    {
      what: 'takes a byte that is not UTF-8 for an unknown character',
      text: String.raw`a="\xff"`,
      entries: { a: '\ufffd' },
    },
    { what: 'takes the later of two', text: 'a="1"\na="2"', entries: { a: '2' } },
  ])('$what', ({ text, entries }) => {
    expect(parseDownwardApi(text)).toEqual({ ok: true, entries });
  });

  it.each([
    ['a value without quotes', 'a=b'],
    ['a quote that does not end', 'a="b'],
    ['something behind the quote', 'a="b"c'],
    ['a quote within', 'a="b"c"'],
    ['an escape that Go does not have', String.raw`a="\q"`],
    ['half an escape', String.raw`a="\x4"`],
    ['a byte that is none', String.raw`a="\400"`],
    ['a character that there is not', String.raw`a="\U00110000"`],
  ])('refuses the file, and names the line: %s', (_, line) => {
    expect(parseDownwardApi(`first="1"\n${line}\nlast="3"`)).toEqual({
      ok: false,
      reason: 'line 2: the value of a is not a quoted text',
    });
  });

  it('reads as much as a pod may have, and not more entries than any has', () => {
    const value = 'a\n"'.repeat(80_000);
    expect(parseDownwardApi(`a=${JSON.stringify(value)}`)).toEqual({
      ok: true,
      entries: { a: value },
    });
    const entries = (count: number) =>
      Array.from({ length: count }, (_, index) => `k${index}=""\n`).join('');
    expect(parseDownwardApi(entries(10_000))).toMatchObject({ ok: true });
    expect(parseDownwardApi(entries(10_001))).toEqual({
      ok: false,
      reason: 'it has more than 10000 entries, which is the limit',
    });
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.string(), (text) => typeof parseDownwardApi(`a="${text}"`).ok === 'boolean'),
    );
  });
});
