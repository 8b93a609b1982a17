import { EventEmitter } from 'node:events';
import { NEVER } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { AdsEvent } from '../../../../src/pilot-discovery/push/ads-event.ts';
import type { Begun, Call } from '../../../../src/pilot-discovery/push/first-request.ts';
import {
  noStreams,
  reduceStreams,
  type StreamsEvent,
} from '../../../../src/pilot-discovery/push/reduce-streams.ts';

const call = new EventEmitter() as unknown as Call;
const begun: Begun = {
  type: 'begun',
  variant: 'delta',
  call,
  first: { type: 'refused', reason: 'only a test' },
};
const gone = (connection: number): StreamsEvent => ({
  type: 'ads-event',
  event: { type: 'disconnected', connection },
});

/**
 * Returns the effects of the last event: `serve 1`, `refuse 2 code reason`, `end 1:0 2:300 why`.
 */
const last = (...events: readonly StreamsEvent[]): readonly string[] => {
  const [, effects] = events.reduce<ReturnType<typeof reduceStreams>>(
    ([state], event) => reduceStreams(state, event, 1),
    [noStreams, []],
  );
  return effects.map((effect) => {
    switch (effect.type) {
      case 'write':
        return `write ${effect.turn.connection}`;
      case 'serve':
        return `serve ${effect.connection}`;
      case 'refuse':
        return `refuse ${effect.connection} ${effect.code} ${effect.reason}, ${effect.isReported ? 'told' : 'quietly'}`;
      case 'end': {
        const ends = [...effect.after].map(([connection, ms]) => `${connection}:${ms}`);
        return `end ${ends.join(' ')} ${effect.why}`;
      }
    }
  });
};

describe('the streams of the server', () => {
  it('have numbers that count up, also those that are refused', () => {
    expect(last(begun)).toEqual(['serve 1']);
    expect(last({ type: 'silent', call, reason: 'nothing' })).toEqual(['refuse 1 8 nothing, told']);
    expect(last(begun, { type: 'silent', call, reason: 'nothing' }, begun)).toEqual(['serve 3']);
  });

  it('are 10,000 at most, and one that ends makes room', () => {
    const all = Array.from({ length: 10_000 }, () => begun);
    expect(last(...all, begun)).toEqual([
      'refuse 10001 8 10000 streams are open, which is the limit, told',
    ]);
    expect(last(...all, gone(1), begun)).toEqual(['serve 10001']);
  });

  it('end one after the other, and none begins then', () => {
    expect(last(begun, begun, begun, { type: 'drain', ms: 600 })).toEqual([
      'end 1:0 2:200 3:400 the server ends',
    ]);
    expect(last({ type: 'drain', ms: 600 }, begun)).toEqual([
      'refuse 1 14 the control plane ends, quietly',
    ]);
  });

  it('write answers in turns, and a stream that is gone makes way', () => {
    const turn = (connection: number): StreamsEvent => ({
      type: 'turn',
      connection,
      purpose: 'change',
      bytes: 9,
      written$: NEVER,
    });
    const written: AdsEvent = {
      type: 'written',
      connection: 1,
      typeUrl: 't',
      bytes: 9,
      queuedMs: 0,
      writingMs: 0,
    };
    expect(last(turn(1))).toEqual(['write 1']);
    expect(last(turn(1), turn(2))).toEqual([]);
    expect(last(turn(1), turn(2), { type: 'ads-event', event: written })).toEqual(['write 2']);
    expect(last(turn(1), turn(2), gone(1))).toEqual(['write 2']);
  });

  it('end if others wait for what they do not take', () => {
    const turn = { type: 'turn', purpose: 'change', bytes: 64 << 20, written$: NEVER } as const;
    expect(
      last(
        { ...turn, connection: 1 },
        { type: 'late', connection: 1, since: 5_000 },
        { ...turn, connection: 2 },
      ),
    ).toEqual(['end 1:0 others wait', 'write 2']);
  });
});
