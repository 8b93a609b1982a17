// Why: docs/decisions/113-one-instance-writes-the-status.md
import { backOff, jitter } from '../../operators/back-off.ts';
import type { Step } from '../../operators/reduce-with-effects.ts';
import { unreachable } from '../../operators/tagged-union.ts';
import { isObject } from '../text/is-object.ts';
import { ownMember } from '../text/own-member.ts';
import type { KubeFailure } from './failure.ts';
import type { KubeAnswer } from './kube-api.ts';
import { asObject } from './kube-object.ts';

/** The same times as in the controllers of Kubernetes. In ms. */
export const leaseTimes = {
  /** Another instance may take a lease that was not renewed for this time. */
  lasts: 15_000,
  /** The holder stops this time after it sent its last renewal that succeeded. */
  deadline: 10_000,
  /** From an answer to the next question or renewal. */
  pause: 2_000,
  /** The longest pause if an instance that does not lead gets no answer. */
  longestPause: 30_000,
} as const;
const spread = 0.2;

export type ElectionEvent =
  /** It is time for the next question, or for the renewal. */
  | { readonly type: 'due' }
  | { readonly type: 'read'; readonly answer: KubeAnswer; readonly random: number }
  /** The lease has had this version for as long as a lease lasts, by the clock of this program. */
  | { readonly type: 'unrenewed'; readonly version: string }
  | { readonly type: 'written'; readonly answer: KubeAnswer; readonly random: number }
  /** The deadline of this attempt is over: it began when the attempt was sent. */
  | { readonly type: 'deadline'; readonly attempt: number }
  /** This instance ends: it gives the lease back, and takes part no longer. */
  | { readonly type: 'end' };

/** The next thing to do. A wait replaces the wait before it. */
export type ElectionEffect =
  | { readonly type: 'wait'; readonly pause: number }
  | { readonly type: 'read' }
  /** Creates the lease if there is none, or else changes the lease of this version alone. */
  | {
      readonly type: 'write';
      readonly attempt: number;
      readonly lease: SeenLease | undefined;
      readonly why: 'take' | 'renew' | 'give-back';
    }
  | { readonly type: 'observe'; readonly version: string };

/** The lease as the API had it last. */
export interface SeenLease {
  readonly version: string;
  /** '' for nobody. */
  readonly holder: string;
  readonly transitions: number;
}

export type ElectionNews =
  | { readonly type: 'elected' }
  /** This instance no longer leads. */
  | { readonly type: 'resigned'; readonly reason: string }
  /** The API refuses the questions or the writes. They are tried again. */
  | { readonly type: 'refused'; readonly reason: string };

export interface ElectionState {
  readonly role: 'follows' | 'leads' | 'gives-back' | 'left';
  readonly lease: SeenLease | undefined;
  /** The version that was read last: how long it stays the same is measured. */
  readonly observed: string | undefined;
  /** The version that was not renewed in time. */
  readonly unrenewed: string | undefined;
  /** The numbers of the last write, the last good one, and the last whose deadline is over. */
  readonly attempt: number;
  readonly succeeded: number;
  readonly expired: number;
  /** Consecutive failures, and the status of the refusal that was reported. */
  readonly failures: number;
  readonly reported: number | undefined;
  /** The news of the last event. */
  readonly news: readonly ElectionNews[];
}

export const notElected: ElectionState = {
  role: 'follows',
  lease: undefined,
  observed: undefined,
  unrenewed: undefined,
  attempt: 0,
  succeeded: 0,
  expired: 0,
  failures: 0,
  reported: undefined,
  news: [],
};

type Next = Step<ElectionState, ElectionEffect>;

/**
 * Decides who leads: the holder of a lease. An instance takes the lease if nobody holds it, or if
 * its version stayed the same for as long as a lease lasts. The clocks of machines are never
 * compared: each instance measures by its own timers. The leader stops before another instance may
 * take the lease. Pure.
 */
export function reduceElection(before: ElectionState, event: ElectionEvent): Next {
  const state: ElectionState = { ...before, news: [] };
  if (state.role === 'left') return [state, []];
  if (state.role === 'gives-back') return whileGivingBack(state, event);
  switch (event.type) {
    case 'end':
      return state.role === 'leads'
        ? write({ ...state, role: 'gives-back' }, 'give-back')
        : [{ ...state, role: 'left' }, []];
    case 'due':
      return state.role === 'leads' ? write(state, 'renew') : [state, [{ type: 'read' }]];
    case 'read':
      return event.answer.ok
        ? afterReading(state, seenLease(event.answer.value), event.random)
        : event.answer.failure.status === 404
          ? write({ ...state, lease: undefined }, 'take')
          : afterFailure(state, event.answer.failure, event.random);
    case 'unrenewed':
      return [{ ...state, unrenewed: event.version }, []];
    case 'written':
      return event.answer.ok
        ? afterWriting(state, seenLease(event.answer.value), event.random)
        : afterFailure(state, event.answer.failure, event.random);
    case 'deadline':
      return afterDeadline({ ...state, expired: event.attempt });
    default:
      return unreachable(event);
  }
}

/** If the answer is that of an earlier renewal, the lease with its version is given back again. */
function whileGivingBack(state: ElectionState, event: ElectionEvent): Next {
  if (event.type !== 'written' || !event.answer.ok) return [state, []];
  const lease = seenLease(event.answer.value);
  return lease === undefined || lease.holder === ''
    ? [{ ...resigned(state, 'this instance ends'), role: 'left' }, []]
    : write({ ...state, lease }, 'give-back');
}

function write(
  state: ElectionState,
  why: Extract<ElectionEffect, { readonly type: 'write' }>['why'],
): Next {
  const attempt = state.attempt + 1;
  return [{ ...state, attempt }, [{ type: 'write', attempt, lease: state.lease, why }]];
}

function afterReading(state: ElectionState, lease: SeenLease | undefined, random: number): Next {
  const answered = { ...state, lease, failures: 0, reported: undefined };
  if (lease === undefined) return [answered, [wait(leaseTimes.pause, random)]];
  if (lease.holder === '' || lease.version === state.unrenewed) return write(answered, 'take');
  const { version } = lease;
  const observe: readonly ElectionEffect[] =
    version === state.observed ? [] : [{ type: 'observe', version }];
  return [{ ...answered, observed: version }, [...observe, wait(leaseTimes.pause, random)]];
}

/** An answer that comes after its deadline elects nobody: the lease may have another holder. */
function afterWriting(state: ElectionState, lease: SeenLease | undefined, random: number): Next {
  const written = { ...state, lease, failures: 0, reported: undefined };
  const pause = wait(leaseTimes.pause, random);
  if (lease === undefined || state.expired >= state.attempt) return [written, [pause]];
  const elected = { ...written, succeeded: state.attempt };
  return state.role === 'leads'
    ? [elected, [pause]]
    : [{ ...elected, role: 'leads', news: [{ type: 'elected' }] }, [pause]];
}

/** A conflict says that another instance has the lease. Other failures may pass in time. */
function afterFailure(state: ElectionState, failure: KubeFailure, random: number): Next {
  const { status, reason, pause } = failure;
  const failures = state.failures + 1;
  const isRefused = status === 403 || status === 401;
  const isNews = isRefused && status !== state.reported;
  const failed: ElectionState = {
    ...state,
    failures,
    reported: isRefused ? status : state.reported,
    news: isNews ? [{ type: 'refused', reason }] : [],
  };
  if (status === 409) {
    const next = wait(leaseTimes.pause, random);
    return state.role === 'leads'
      ? [resigned(failed, 'another instance has changed the lease'), [next]]
      : [failed, [next]];
  }
  const { pause: first, longestPause: longest } = leaseTimes;
  const shortest = state.role === 'leads' ? first : backOff({ first, longest }, failures - 1);
  return [failed, [wait(Math.max(shortest, pause), random)]];
}

const afterDeadline = (state: ElectionState): Next =>
  state.role === 'leads' && state.expired >= state.succeeded
    ? [resigned(state, 'the lease could not be renewed in time'), []]
    : [state, []];

const resigned = (state: ElectionState, reason: string): ElectionState => ({
  ...state,
  role: 'follows',
  news: [...state.news, { type: 'resigned', reason }],
});

const wait = (pause: number, random: number): ElectionEffect => ({
  type: 'wait',
  pause: jitter(pause, spread, random),
});

/** Returns a lease; undefined if the answer is none. */
function seenLease(value: unknown): SeenLease | undefined {
  const object = asObject(value);
  if (object === undefined) return undefined;
  const spec = isObject(object['spec']) ? object['spec'] : {};
  const [holder, transitions] = [
    ownMember(spec, 'holderIdentity'),
    ownMember(spec, 'leaseTransitions'),
  ];
  return {
    version: object.metadata.resourceVersion,
    holder: typeof holder === 'string' ? holder : '',
    transitions: typeof transitions === 'number' ? transitions : 0,
  };
}
