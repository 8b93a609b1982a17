import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
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
  first: { $typeName: 'refused', reason: 'only a test' },
};
const untaken = (connection: number, megabytes: number, since: number): StreamsEvent => ({
  type: 'untaken',
  connection,
  bytes: megabytes << 20,
  since,
});
const gone = (connection: number): StreamsEvent => ({
  type: 'ads-event',
  event: { type: 'disconnected', connection },
});

/** What the last event comes to: `serve 1`, `refuse 2 code reason`, `end 1:0 2:300 why`. */
const last = (...events: readonly StreamsEvent[]): readonly string[] => {
  const [, effects] = events.reduce<ReturnType<typeof reduceStreams>>(
    ([state], event) => reduceStreams(state, event),
    [noStreams, []],
  );
  return effects.map((effect) => {
    switch (effect.type) {
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

  it('may leave 64 MiB unread together; then the one that waits longest ends', () => {
    expect(last(untaken(1, 30, 5), untaken(2, 34, 3))).toEqual([]);
    expect(last(untaken(1, 30, 5), untaken(2, 34, 3), untaken(3, 1, 9))).toEqual([
      'end 2:0 too much is unread',
    ]);
    expect(last(untaken(1, 65, 5))).toEqual(['end 1:0 too much is unread']);
  });

  it('count no more what was taken, or what was to go to a proxy that is gone', () => {
    const most = untaken(1, 64, 5);
    const taken: StreamsEvent = { type: 'taken', connection: 1 };
    expect(last(most, taken, untaken(2, 1, 9))).toEqual([]);
    expect(last(most, gone(1), untaken(2, 1, 9))).toEqual([]);
    expect(last(most, { type: 'taken', connection: 7 }, untaken(2, 1, 9))).toHaveLength(1);
    // The one that is ended is not counted twice.
    expect(last(most, untaken(2, 1, 9), gone(1), untaken(3, 63, 10))).toEqual([]);
  });
});
