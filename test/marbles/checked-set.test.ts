import { asyncScheduler, defer, type Observable } from 'rxjs';
import { describe, it } from 'vitest';
import { oncePatient, untilWhole } from '../../src/pilot-agent/secrets/checked-set.ts';
import type { SetReading } from '../../src/pilot-agent/secrets/secret.ts';
import { at } from '../../src/testing/at.ts';
import { marbles } from '../support/marbles/marbles.ts';

const set = { pair: { chain: 'chain', key: Buffer.from('key') } };
const half: SetReading = { type: 'refused', source: 'a', reason: 'the key is missing' };
const whole: SetReading = { type: 'set', source: 'a', set };
const values = { h: half, w: whole };

/** Emits the files, whose second half is there from `time` on. */
function writtenUntil(time: number): Observable<SetReading> {
  return defer(() => [asyncScheduler.now() < time ? half : whole]);
}

describe('oncePatient', () => {
  it(
    'emits at once what is whole, and after 80 ms what has become so meanwhile',
    marbles((m) => {
      m.expectObservable(writtenUntil(0).pipe(oncePatient(asyncScheduler))).toBe('(w|)', values);
      m.expectObservable(writtenUntil(80).pipe(oncePatient(asyncScheduler))).toBe(
        at({ '80ms': 'w|' }),
        values,
      );
    }),
  );

  it(
    'emits after 80 ms what is refused then too, which is read again every 30 s',
    marbles((m) => {
      const reading$ = writtenUntil(50_000).pipe(
        oncePatient(asyncScheduler),
        untilWhole(asyncScheduler),
      );
      m.expectObservable(reading$).toBe(at({ '80ms': 'h', '60.16s': 'w|' }), values);
    }),
  );
});
