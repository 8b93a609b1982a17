import { describe, expect, it } from 'vitest';
import type { CaEvent } from '../../../../../src/pilot-agent/secrets/ca/ca-secrets.ts';
import type { IdentityEvent } from '../../../../../src/pilot-agent/secrets/workload-socket/socket-secrets.ts';
import {
  afterCa,
  afterSocket,
  type Awaiting,
  awaitedText,
} from '../../../../../src/pilot-agent/run/state/awaited-authority.ts';

const requestAt = (time: number): CaEvent => ({ type: 'asked', at: time, isRetry: time > 0 });
const failed = (reason: string): CaEvent => ({
  type: 'request-failed',
  reason,
  failures: 1,
  took: 0,
  delay: 50,
});
const issued: CaEvent = { type: 'issued', took: 0, delay: 1_000 };
const play = (...events: readonly CaEvent[]) =>
  events.reduce<Awaiting>((before, event) => afterCa(before, 'ca:15012', event), {
    stage: 'not asked',
  });

describe('an authority is awaited', () => {
  const awaited = { stage: 'awaited', address: 'ca:15012', since: 0 };

  it('from the first request on, with the newest trouble, since the first request', () => {
    expect(play()).toEqual({ stage: 'not asked' });
    expect(play(requestAt(0))).toEqual({ ...awaited, reason: 'it has not answered yet' });
    const later = play(requestAt(0), failed('connection refused'), requestAt(60_000));
    expect(later).toEqual({ ...awaited, reason: 'connection refused' });
    expect(
      play(requestAt(0), failed('connection refused'), requestAt(60_000), failed('busy')),
    ).toEqual({
      ...awaited,
      reason: 'busy',
    });
  });

  it('until the first certificate is there, and never again', () => {
    expect(play(requestAt(0), issued)).toEqual({ stage: 'served' });
    expect(play(requestAt(0), issued, requestAt(1), failed('connection refused'))).toEqual({
      stage: 'served',
    });
  });

  it('over a workload socket, until there is an identity', () => {
    const events: readonly IdentityEvent[] = [
      { type: 'socket-asked', at: 5 },
      { type: 'identity-refused', reason: 'it is not there' },
      { type: 'identity-given', id: 'spiffe://a/b', before: undefined },
    ];
    const states = events.map((_, index) =>
      events
        .slice(0, index + 1)
        .reduce<Awaiting>((before, event) => afterSocket(before, './socket', event), {
          stage: 'not asked',
        }),
    );
    const waiting = { stage: 'awaited', address: './socket', since: 5 };
    expect(states).toEqual([
      { ...waiting, reason: 'it has not answered yet' },
      { ...waiting, reason: 'it is not there' },
      { stage: 'served' },
    ]);
  });

  it('in words that name it, what is wrong, and since when', () => {
    expect(awaitedText({ address: 'ca:15012', reason: 'busy', since: 0 })).toBe(
      'certificate authority ca:15012: busy, since 1970-01-01T00:00:00.000Z',
    );
  });
});
