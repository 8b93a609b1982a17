import { TestScheduler } from 'rxjs/testing';
import type { Exit } from '../epochs/ports.ts';

/**
 * How long each answer takes, and each exit after a signal. In ms: so short that it does not move a
 * diagram, which shows whole ms. A power of two, so that its sums are exact.
 */
export const answerTime = 1 / 1024;

/** The behaviour of a proxy, in marbles. Each process counts its frames from its launch. */
export interface Script {
  /**
   * The life of each epoch: S exists, c ends with 0, f with 1, p with 1 because its port is taken,
   * x with 3, k is killed, n never started.
   */
  readonly processes: readonly string[];
  /**
   * The answer of each epoch's admin endpoint, until the next sign: u up, l LIVE, s silent, ? there
   * is none. If it is left out or undefined for an epoch, the epoch is LIVE after `liveAfter`.
   */
  readonly health?: readonly (string | undefined)[];
  /**
   * The time from a launch until the process is LIVE, in ms; 100 if left out, as with a real Envoy.
   */
  readonly liveAfter?: number;
  /**
   * The result of each check: y works, n is refused, a works but not as a child, m works but not
   * beside another Envoy, k was killed, o was killed because memory ran out. The last one is used
   * for all further checks. If left out, each check accepts at once.
   */
  readonly checks?: readonly string[];
  /**
   * The number of requests in flight in each epoch, until the next sign: a digit, or ? for unknown.
   * The time counts from the first frame of the test. If left out there are none.
   */
  readonly active?: readonly string[];
  /**
   * When a child asks its parent to end, in ms after it is LIVE, as `--parent-shutdown-time-s`. If
   * left out, it asks only when it ends cleanly.
   */
  readonly parentShutdown?: number;
  /** The epochs that only SIGKILL ends. */
  readonly ignoresTerm?: readonly number[];
}

export const exits = {
  c: { kind: 'clean' },
  f: { kind: 'failed', code: 1, tail: ['no such file: key.pem'] },
  p: { kind: 'failed', code: 1, tail: [], addressTaken: '0.0.0.0:15001' },
  x: { kind: 'failed', code: 3, tail: [] },
  k: { kind: 'signaled', signal: 'SIGKILL', tail: [] },
  n: { kind: 'spawn-failed', reason: 'ENOENT' },
} as const satisfies Record<string, Exit>;

/** The diagram of the health of an epoch for which the script has none. */
export const standardHealth = ({ liveAfter = 100 }: Script) => `u ${liveAfter - 1}ms l`;

/** Returns when a diagram of health first shows LIVE; undefined for never. */
export const liveAt = (diagram: string): number | undefined =>
  TestScheduler.parseMarbles(diagram, undefined, undefined, false, true).find(
    ({ notification }) => notification.kind === 'N' && notification.value === 'l',
  )?.frame;

/** Returns the last sign of `diagram` up to a time. */
export const signAt = (diagram: string, time: number): string => {
  const signs = TestScheduler.parseMarbles(diagram, undefined, undefined, false, true)
    .filter(({ frame }) => frame <= time)
    .map(({ notification }) =>
      notification.kind === 'N' ? String(notification.value) : undefined,
    );
  return signs.findLast((sign) => sign !== undefined) ?? '?';
};
