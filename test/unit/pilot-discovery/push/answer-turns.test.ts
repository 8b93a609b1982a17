import { NEVER } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  noTurns,
  reduceTurns,
  type TurnsEvent,
} from '../../../../src/pilot-discovery/push/answer-turns.ts';

const turn = (connection: number, purpose: 'first' | 'change' = 'change'): TurnsEvent => ({
  type: 'turn',
  connection,
  purpose,
  written$: NEVER,
});
const writing = (connection: number, megabytes: number): TurnsEvent => ({
  type: 'writing',
  connection,
  bytes: megabytes << 20,
});
const late = (connection: number, since: number): TurnsEvent => ({
  type: 'late',
  connection,
  since,
});
const sign = (type: 'untaken' | 'taken' | 'over' | 'disconnected', connection: number) =>
  ({ type, connection }) as const;
/** The proxy does not take the answer within its turn. */
const left = (connection: number, megabytes: number): readonly TurnsEvent[] => [
  turn(connection),
  writing(connection, megabytes),
  sign('untaken', connection),
  sign('over', connection),
];

/** The effects of each event: `write 1` or `evict 1`. */
const effects = (throttle: number, ...events: readonly TurnsEvent[]): readonly string[] => {
  const all: string[] = [];
  events.reduce((state, event) => {
    const [next, made] = reduceTurns(state, event, throttle);
    for (const effect of made)
      all.push(
        effect.type === 'write' ? `write ${effect.turn.connection}` : `evict ${effect.connection}`,
      );
    return next;
  }, noTurns);
  return all;
};

describe('the turns of answers', () => {
  it('begin in order, each when the size of the one before is known', () => {
    expect(effects(9, turn(1), turn(2), turn(3))).toEqual(['write 1']);
    expect(effects(9, turn(1), turn(2), turn(3), writing(1, 1))).toEqual(['write 1', 'write 2']);
  });

  it('run as many at once as the throttle says', () => {
    const two = [turn(1), writing(1, 1), turn(2), writing(2, 1)];
    expect(effects(2, ...two, turn(3))).toEqual(['write 1', 'write 2']);
    expect(effects(2, ...two, turn(3), sign('over', 2))).toEqual(['write 1', 'write 2', 'write 3']);
  });

  it('wait while 64 MiB are not taken, and go on when there is room', () => {
    const full = [...left(1, 30), ...left(2, 34)];
    expect(effects(9, ...full, turn(3))).toEqual(['write 1', 'write 2']);
    for (const end of ['taken', 'disconnected'] as const)
      expect(effects(9, ...full, turn(3), sign(end, 1)).at(-1)).toBe('write 3');
  });

  it('come for changes before first answers, and leave these only 32 MiB', () => {
    expect(effects(1, ...left(1, 32), turn(2, 'first'), turn(3))).toEqual(['write 1', 'write 3']);
    const both = [turn(1), turn(2, 'first'), turn(3), writing(1, 1), sign('over', 1)];
    expect(effects(1, ...both)).toEqual(['write 1', 'write 3']);
  });

  it('evict the proxy that was late first, if another one waits for room', () => {
    const alone = left(1, 64);
    const two = [...left(1, 30), ...left(2, 34), late(2, 5_000), late(1, 5_010)];
    expect(effects(9, ...alone, late(1, 5_000))).toEqual(['write 1']);
    expect(effects(9, ...two, turn(3))).toEqual(['write 1', 'write 2', 'evict 2']);
    expect(effects(9, ...two, turn(3), sign('disconnected', 2))).toEqual([
      ...['write 1', 'write 2'],
      ...['evict 2', 'write 3'],
    ]);
  });

  it('do not evict a proxy that needs less than 5 s', () => {
    expect(effects(9, ...left(1, 64), turn(2))).toEqual(['write 1']);
    expect(effects(9, ...left(1, 64), turn(2), late(1, 5_000))).toEqual(['write 1', 'evict 1']);
  });

  it('write an answer that is larger than the limit, alone', () => {
    expect(effects(9, turn(1), writing(1, 100), turn(2))).toEqual(['write 1']);
  });

  it('are not held up by a stream that ends before or while its answer is written', () => {
    expect(effects(1, turn(1), turn(2), sign('disconnected', 1), sign('over', 1))).toEqual([
      ...['write 1', 'write 2'],
    ]);
    expect(effects(1, turn(1), turn(2), sign('over', 1))).toEqual(['write 1', 'write 2']);
    expect(effects(1, turn(1), turn(2), sign('disconnected', 2), sign('over', 1))).toEqual([
      'write 1',
    ]);
  });

  it('count what a proxy has not taken once', () => {
    const answers = [...left(1, 40), sign('taken', 1), sign('taken', 1), ...left(2, 40)];
    expect(effects(9, ...answers, turn(3))).toEqual(['write 1', 'write 2', 'write 3']);
  });
});
