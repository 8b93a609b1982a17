import type { Step } from '../../operators/reduce-with-effects.ts';
import type { AdsEvent } from './ads-event.ts';
import {
  type AnswerTurns,
  noTurns,
  reduceTurns,
  type TurnsEffect,
  type TurnsEvent,
} from './answer-turns.ts';
import type { AnswerTurn, CallSign, StreamsEnd } from './call-sign.ts';
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
  | CallSign;

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
  | { readonly type: 'write'; readonly turn: AnswerTurn }
  | StreamsEnd;

export interface StreamsState {
  /** The number of streams since the start. */
  readonly count: number;
  readonly open: ConnectionMap<'open'>;
  readonly isDraining: boolean;
  readonly turns: AnswerTurns;
}

export const noStreams: StreamsState = {
  count: 0,
  open: ConnectionMap.empty(),
  isDraining: false,
  turns: noTurns,
};

type StreamsStep = Step<StreamsState, StreamsEffect>;

const mostStreams = clientLimits.streams.value;

/** Decides on the streams of the server. `throttle`: how many are written to at once. Pure. */
export function reduceStreams(
  state: StreamsState,
  event: StreamsEvent,
  throttle: number,
): StreamsStep {
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
    case 'ads-event':
      return reported(state, event.event, throttle);
    default:
      return turning(state, event, throttle);
  }
}

function reported(state: StreamsState, event: AdsEvent, throttle: number): StreamsStep {
  const { type, connection } = event;
  if (type === 'written') return turning(state, { type, connection }, throttle);
  if (type !== 'disconnected') return [state, []];
  const after = { ...state, open: state.open.without(connection) };
  return turning(after, { type, connection }, throttle);
}

function turning(state: StreamsState, event: TurnsEvent, throttle: number): StreamsStep {
  const [turns, effects] = reduceTurns(state.turns, event, throttle);
  return [{ ...state, turns }, effects.map(effectOf)];
}

const effectOf = (effect: TurnsEffect): StreamsEffect =>
  effect.type === 'write'
    ? effect
    : { type: 'end', after: new Map([[effect.connection, 0]]), why: 'others wait' };

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
