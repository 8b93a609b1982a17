import { X509Certificate } from 'node:crypto';
import { map, type Observable } from 'rxjs';
import { beforeAll, describe, it } from 'vitest';
import { parseCrls, type ParsedCrls } from '../../src/shared/certificates/parse-crls.ts';
import { serveCrl } from '../../src/shared/certificates/serve-crl.ts';
import { at } from '../../src/testing/at.ts';
import { marbles } from '../support/marbles/marbles.ts';
import { type TestIssuer, testIssuer } from '../support/plugged-authority.ts';
import { testCrl } from '../support/test-crl.ts';

const hour = 3_600_000;
let root: TestIssuer;
let other: TestIssuer;
let both: readonly X509Certificate[];
/** The CRLs that are valid for one and for two hours from the start of virtual time. */
let short: string;
let long: string;
/** The CRL that is valid from 5 minutes after that start. */
let early: string;
let ofOther: string;

beforeAll(async () => {
  const dates = { notBefore: -hour, notAfter: 100 * hour };
  root = await testIssuer(dates);
  other = await testIssuer({ ...dates, subject: 'CN=other' });
  both = [root, other].map(({ certificate }) => new X509Certificate(certificate));
  short = await testCrl(root, { from: -hour, to: hour });
  long = await testCrl(root, { from: -hour, to: 2 * hour });
  early = await testCrl(root, { from: 300_000, to: 2 * hour });
  ofOther = await testCrl(other, { from: -hour, to: 2 * hour });
});

const text = (crls: string): ParsedCrls => parseCrls({ kind: 'text', text: crls });
const absent: ParsedCrls = { kind: 'absent' };
/** Returns a content with the first `authorities` of both. */
const input = (content: ParsedCrls, authorities = 1) => ({
  content,
  authorities: both.slice(0, authorities),
  carried: '',
});
type Inputs = Observable<ReturnType<typeof input>>;

/** Emits the name of the served CRLs, and why the newest content is not served: `short: reason`. */
const serving$ = (input$: Inputs): Observable<string> =>
  input$.pipe(
    serveCrl(),
    map(({ text: served, flaw }) => {
      const name = new Map([
        ['', 'none'],
        [short, 'short'],
        [long, 'long'],
        [early, 'early'],
        [long + ofOther, 'long of both'],
      ]).get(served);
      return flaw === undefined ? `${name}` : `${name}: ${flaw}`;
    }),
  );

describe('serveCrl', () => {
  it(
    'serves CRLs until 10 s before they expire, and then none',
    marbles((m) => {
      const input$ = m.cold('r', { r: input(text(short)) });
      m.expectObservable(serving$(input$), '^ 179m !').toBe(at({ '0s': 's', '3590s': 'n' }), {
        s: 'short',
        n: 'none: the CRL of the authority CN=root expires at 1970-01-01T01:00:00.000Z: put a new one in its place',
      });
    }),
  );

  it(
    'serves CRLs that become valid without a change',
    marbles((m) => {
      const input$ = m.cold('e', { e: input(text(early)) });
      m.expectObservable(serving$(input$), '^ 10m !').toBe(at({ '0s': 'n', '300s': 'e' }), {
        n: 'none: the CRL of the authority CN=root is not valid before 1970-01-01T00:05:00.000Z',
        e: 'early',
      });
    }),
  );

  it(
    'keeps the last good ones if others cannot be used, as long as they are good',
    marbles((m) => {
      const input$ = m.cold('s 1s x 1s u 1s l', {
        s: input(text(short)),
        x: input(text('x')),
        u: input({ kind: 'unreadable', reason: 'EACCES' }),
        l: input(text(long)),
      });
      m.expectObservable(serving$(input$), '^ 1m !').toBe(
        at({ '0s': 's', '1001ms': 'x', '2002ms': 'u', '3003ms': 'l' }),
        {
          s: 'short',
          x: 'short: it has no X509 CRL',
          u: 'short: EACCES',
          l: 'long',
        },
      );
    }),
  );

  it(
    'takes them away when a root is added without a CRL, and serves them when it has one',
    marbles((m) => {
      const input$ = m.cold('l 1s a 1s b', {
        l: input(text(long)),
        a: input(text(long), 2),
        b: input(text(long + ofOther), 2),
      });
      m.expectObservable(serving$(input$), '^ 1m !').toBe(
        at({ '0s': 'l', '1001ms': 'a', '2002ms': 'b' }),
        {
          l: 'long',
          a: 'none: the CRL of the authority CN=other is missing',
          b: 'long of both',
        },
      );
    }),
  );

  it(
    'takes a revocation back if the CRLs are gone for 1 s, and not while a file is replaced',
    marbles((m) => {
      const input$ = m.cold('s 999ms a 998ms e 10s l', {
        s: input(text(short)),
        a: input(absent),
        e: input(text(' \n')),
        l: input(text(long)),
      });
      m.expectObservable(serving$(input$), '^ 1m !').toBe(
        at({ '0s': 's', '2s': 'n', '12s': 'l' }),
        {
          s: 'short',
          n: 'none',
          l: 'long',
        },
      );
      const replaced$ = m.cold('s 1s a 500ms l', {
        s: input(text(short)),
        a: input(absent),
        l: input(text(long)),
      });
      m.expectObservable(serving$(replaced$), '^ 1m !').toBe(at({ '0s': 's', '1502ms': 'l' }), {
        s: 'short',
        l: 'long',
      });
    }),
  );

  it(
    'says at once that there are none',
    marbles((m) => {
      const input$ = m.cold('a', { a: input(absent) });
      m.expectObservable(serving$(input$), '^ 1m !').toBe('n', { n: 'none' });
    }),
  );
});
