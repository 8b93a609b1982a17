import type { Step } from '../../operators/reduce-with-effects.ts';
import type { CallSign, StreamsEnd } from './call-sign.ts';
import { clientLimits } from './client-limits.ts';
import { ConnectionMap } from './connection-map.ts';
import type { Begun, Call, Silent } from './first-request.ts';
import { statusCodes } from './reduce-call.ts';

/** An event of the streams of the server. Each stream has a number, which counts up. */
export type StreamsEvent =
  | Begun
  | Silent
  /** All streams end, over `ms`. */
  | { readonly type: 'drain'; readonly ms: number }
  | Exclude<CallSign, { readonly type: 'turn' }>;

export type StreamsEffect =
  | { readonly type: 'serve'; readonly connection: number; readonly begun: Begun }
  | {
      readonly type: 'refuse';
      readonly connection: number;
      readonly call: Call;
      readonly code: number;
      readonly reason: string;
      readonly isReported: boolean;
    }
  | StreamsEnd;

/** Bytes that a proxy has not taken. `since`: ms since 1970. */
interface Untaken {
  readonly bytes: number;
  readonly since: number;
}

export interface StreamsState {
  /** The number of streams since the start. */
  readonly count: number;
  readonly open: ConnectionMap<'open'>;
  readonly isDraining: boolean;
  readonly untaken: ConnectionMap<Untaken>;
  /** The untaken bytes of all proxies. */
  readonly bytes: number;
}

export const noStreams: StreamsState = {
  count: 0,
  open: ConnectionMap.empty(),
  isDraining: false,
  untaken: ConnectionMap.empty(),
  bytes: 0,
};

type StreamsStep = Step<StreamsState, StreamsEffect>;

const mostStreams = clientLimits.streams.value;
const mostBytes = clientLimits.unreadInAll.value;

/**
 * Decides on the streams of the server. If the untaken bytes of all proxies are above the limit, it
 * ends the stream that has waited longest. Pure.
 */
export function reduceStreams(state: StreamsState, event: StreamsEvent): StreamsStep {
  switch (event.type) {
    case 'begun':
      return begun({ ...state, count: state.count + 1 }, event);
    case 'silent': {
      const count = state.count + 1;
      const { call, reason } = event;
      const code = statusCodes.exhausted;
      const effect = {
        type: 'refuse',
        connection: count,
        call,
        code,
        reason,
        isReported: true,
      } as const;
      return [{ ...state, count }, [effect]];
    }
    case 'drain': {
      const { size } = state.open;
      const delays = [...state.open].map(
        ([connection], index) => [connection, (event.ms * index) / size] as const,
      );
      const end: StreamsEnd = { type: 'end', after: new Map(delays), why: 'the server ends' };
      return [{ ...state, isDraining: true }, [end]];
    }
    case 'untaken':
      return untaken(state, event.connection, { bytes: event.bytes, since: event.since });
    case 'taken':
      return [taken(state, event.connection), []];
    case 'ads-event': {
      const { event: adsEvent } = event;
      if (adsEvent.type !== 'disconnected') return [state, []];
      const after = taken(state, adsEvent.connection);
      return [{ ...after, open: after.open.without(adsEvent.connection) }, []];
    }
  }
}

function begun(state: StreamsState, event: Begun): StreamsStep {
  const { count: connection, open, isDraining } = state;
  const { call } = event;
  const refuse = { type: 'refuse', connection, call } as const;
  if (isDraining) {
    const reason = 'the control plane ends';
    return [state, [{ ...refuse, code: statusCodes.unavailable, reason, isReported: false }]];
  }
  if (open.size === mostStreams) {
    const reason = `${mostStreams} streams are open, which is the limit`;
    return [state, [{ ...refuse, code: statusCodes.exhausted, reason, isReported: true }]];
  }
  const after = { ...state, open: open.with(connection, 'open') };
  return [after, [{ type: 'serve', connection, begun: event }]];
}

function untaken(before: StreamsState, connection: number, answer: Untaken): StreamsStep {
  const state = {
    ...before,
    untaken: before.untaken.with(connection, answer),
    bytes: before.bytes + answer.bytes,
  };
  if (state.bytes <= mostBytes) return [state, []];
  const [oldest] = [...state.untaken].reduce((first, next) =>
    next[1].since < first[1].since ? next : first,
  );
  const end: StreamsEnd = { type: 'end', after: new Map([[oldest, 0]]), why: 'too much is unread' };
  return [taken(state, oldest), [end]];
}

function taken(state: StreamsState, connection: number): StreamsState {
  const answer = state.untaken.get(connection);
  return answer === undefined
    ? state
    : { ...state, untaken: state.untaken.without(connection), bytes: state.bytes - answer.bytes };
}
