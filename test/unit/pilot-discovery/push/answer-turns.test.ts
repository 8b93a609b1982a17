import { NEVER } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  noTurns,
  reduceTurns,
  type TurnsEvent,
} from '../../../../src/pilot-discovery/push/answer-turns.ts';

const turn = (
  connection: number,
  megabytes = 1,
  purpose: 'first' | 'change' = 'change',
): TurnsEvent => ({ type: 'turn', connection, purpose, bytes: megabytes << 20, written$: NEVER });
const late = (connection: number, since: number): TurnsEvent => ({
  type: 'late',
  connection,
  since,
});
const written = (connection: number): TurnsEvent => ({ type: 'written', connection });
const answerTaken = (connection: number): TurnsEvent => ({ type: 'taken', connection });
const gone = (connection: number): TurnsEvent => ({ type: 'disconnected', connection });
/** Returns the events of a proxy that does not read the answer within its turn. */
const left = (connection: number, megabytes: number): readonly TurnsEvent[] => [
  turn(connection, megabytes),
  written(connection),
];

/** Returns the effects of all events: `1` writes the answer of stream 1, `-1` evicts its proxy. */
const effects = (throttle: number, ...events: readonly TurnsEvent[]): string => {
  const all: number[] = [];
  events.reduce((state, event) => {
    const [next, stepEffects] = reduceTurns(state, event, throttle);
    for (const effect of stepEffects)
      all.push(effect.type === 'write' ? effect.turn.connection : -effect.connection);
    return next;
  }, noTurns);
  return all.join(' ');
};

describe('the turns of answers', () => {
  it('run as many at once as the throttle says, in order', () => {
    const three = [turn(1), turn(2), turn(3)];
    expect(effects(9, ...three)).toBe('1 2 3');
    expect(effects(2, ...three)).toBe('1 2');
    expect(effects(2, ...three, written(2))).toBe('1 2 3');
    expect(effects(2, ...three, gone(1))).toBe('1 2 3');
  });

  it('wait while 64 MiB are not taken, and go on when there is room', () => {
    const full = [...left(1, 30), ...left(2, 34), turn(3), turn(4)];
    expect(effects(9, ...full)).toBe('1 2');
    expect(effects(9, ...full, answerTaken(1))).toBe('1 2 3 4');
    expect(effects(9, ...full, gone(1))).toBe('1 2 3 4');
  });

  it('come for changes before first answers, and leave these only 32 MiB', () => {
    expect(effects(1, ...left(1, 32), turn(2, 1, 'first'), turn(3))).toBe('1 3');
    expect(effects(1, turn(1), turn(2, 1, 'first'), turn(3), written(1), written(3))).toBe('1 3 2');
  });

  it('evict the proxy that was late first, if another one waits for room', () => {
    const two = [...left(1, 30), ...left(2, 34), late(2, 5_000), late(1, 5_010)];
    expect(effects(9, ...two)).toBe('1 2');
    expect(effects(9, ...two, turn(3))).toBe('1 2 -2 3');
    expect(effects(9, ...two, turn(3, 70), turn(4))).toBe('1 2 -2 3 -1');
  });

  it('do not evict a proxy that needs less than 5 s', () => {
    expect(effects(9, ...left(1, 64), turn(2))).toBe('1');
    expect(effects(9, ...left(1, 64), turn(2), late(1, 5_000))).toBe('1 -1 2');
  });

  it('write an answer that is larger than the limit, alone', () => {
    expect(effects(9, turn(1, 100), turn(2))).toBe('1');
  });

  it('are not held up by a stream that ends before its answer is written', () => {
    expect(effects(1, turn(1), turn(2), turn(3), gone(2), written(1))).toBe('1 3');
  });

  it('count what a proxy has not taken once', () => {
    expect(
      effects(9, ...left(1, 40), answerTaken(1), answerTaken(1), ...left(2, 40), turn(3)),
    ).toBe('1 2 3');
    expect(effects(1, turn(1), written(1), written(1), answerTaken(1), turn(2), turn(3))).toBe(
      '1 2',
    );
  });
});
