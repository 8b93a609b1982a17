import { describe, it } from 'vitest';
import { map, type Observable } from 'rxjs';
import {
  expirySigns,
  type ServedCertificate,
} from '../../src/pilot-agent/secrets/certificate-expiry.ts';
import { at } from '../../src/testing/at.ts';
import { marbles } from '../support/marbles/marbles.ts';

const hour = 3_600_000;
const day = 24 * hour;
/** Returns a certificate that begins with the test and ends at `expires`. */
const living = (expires: number, more: Partial<ServedCertificate> = {}): ServedCertificate => {
  return { name: 'default', serial: '1001', begins: 0, expires, isRenewed: false, ...more };
};
/** Emits `w` for a warning, and `x` for an expired certificate. */
const signs$ = (certificates$: Observable<readonly ServedCertificate[]>) =>
  expirySigns(certificates$).pipe(map(({ type }) => (type === 'certificate-expired' ? 'x' : 'w')));

describe('the warning before a certificate expires', () => {
  it(
    'comes when a quarter of its life is left, each time half of what was left then has gone, until half a day is left, and at the end',
    marbles((m) => {
      const served$ = m.hot('c', { c: [living(16 * day)] });
      const unsub = `^ ${20 * day}ms !`;
      m.expectObservable(signs$(served$), unsub).toBe(
        at({ '12d': 'w', '14d': 'w', '15d': 'w', '15.5d': 'w', '16d': 'x' }),
      );
    }),
  );

  it.each([
    {
      life: 'of three days: a day before',
      expires: 3 * day,
      warnings: { '2d': 'w', '2.5d': 'w', '3d': 'x' },
    },
    {
      life: 'of two days: a day before',
      expires: 2 * day,
      warnings: { '1d': 'w', '1.5d': 'w', '2d': 'x' },
    },
    { life: 'of a day: six hours before, once', expires: day, warnings: { '18h': 'w', '1d': 'x' } },
    {
      life: 'of an hour: a quarter of it before, once',
      expires: hour,
      warnings: { '45m': 'w', '60m': 'x' },
    },
  ])('comes in a life $life', ({ expires, warnings }) => {
    marbles((m) => {
      m.expectObservable(signs$(m.hot('c', { c: [living(expires)] })), `^ ${5 * day}ms !`).toBe(
        at(warnings),
      );
    })();
  });

  it(
    'comes not a minute before',
    marbles((m) => {
      m.expectObservable(
        signs$(m.hot('c', { c: [living(16 * day)] })),
        `^ ${12 * day - 1}ms !`,
      ).toBe('');
    }),
  );

  it(
    'comes at once for one that is near its end when it is served first',
    marbles((m) => {
      const served$ = m.hot('c', { c: [living(8 * hour, { begins: -72 * hour })] });
      m.expectObservable(signs$(served$), '^ 60m !').toBe('w');
    }),
  );

  it(
    'comes once for the same certificate, whatever else is served beside it or anew, and for another one again',
    marbles((m) => {
      const [old, other] = [living(16 * day), living(16 * day, { serial: '1002' })];
      const beside = living(400 * day, { name: 'ROOTCA' });
      const served$ = m.hot(at({ '0s': 'a', '12.5d': 'b', '13d': 'a', '13.5d': 'c' }), {
        a: [old],
        b: [old, beside],
        c: [other],
      });
      m.expectObservable(signs$(served$), `^ ${13.9 * day}ms !`).toBe(
        at({ '12d': 'w', '13.5d': 'w' }),
      );
    }),
  );

  it(
    'does not come for one that has been replaced in time',
    marbles((m) => {
      const served$ = m.hot(at({ '0s': 'a', '11d': 'b' }), {
        a: [living(16 * day)],
        b: [living(400 * day, { begins: 11 * day })],
      });
      m.expectObservable(signs$(served$), `^ ${20 * day}ms !`).toBe('');
    }),
  );

  it(
    'does not come for one that the agent itself renews: but that it has expired is told',
    marbles((m) => {
      const served$ = m.hot('c', { c: [living(16 * day, { isRenewed: true })] });
      m.expectObservable(signs$(served$), `^ ${20 * day}ms !`).toBe(at({ '16d': 'x' }));
    }),
  );
});

describe('that a certificate has expired', () => {
  it.each([
    { what: 'between two looks at the clock', expires: 130_000, moment: '130s' },
    { what: 'in less than a minute', expires: 1_500, moment: '1500ms' },
    { what: 'an odd time after a day', expires: day + 61_234, moment: `${day + 61_234}ms` },
  ])('is told at that moment: $what', ({ expires, moment }) => {
    marbles((m) => {
      const served$ = m.hot('c', {
        c: [living(expires, { isRenewed: true }), living(400 * day, { name: 'ROOTCA' })],
      });
      m.expectObservable(signs$(served$), `^ ${2 * day}ms !`).toBe(at({ [moment]: 'x' }));
    })();
  });
});
