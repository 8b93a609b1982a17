// Why: docs/decisions/109-answers-wait-for-room.md
import type { Step } from '../../operators/reduce-with-effects.ts';
import type { AnswerTurn, CallSign } from './call-sign.ts';
import { clientLimits } from './client-limits.ts';
import { ConnectionMap } from './connection-map.ts';

type Purpose = AnswerTurn['purpose'];

/**
 * The answer of a stream: it waits, is written, is left to the proxy when its turn is over, and is
 * late after 5 s. `since`: ms since 1970.
 */
type AnswerState =
  | { readonly type: 'waiting'; readonly purpose: Purpose; readonly ticket: number }
  | { readonly type: 'writing' | 'left'; readonly bytes: number }
  | { readonly type: 'late'; readonly bytes: number; readonly since: number };

export interface AnswerTurns {
  /** By the number of the stream. A stream has one answer at a time. */
  readonly answers: ConnectionMap<AnswerState>;
  /** The turns that wait, by their tickets: the oldest first. */
  readonly waiting: Readonly<Record<Purpose, ConnectionMap<AnswerTurn>>>;
  /** The number of turns so far. */
  readonly tickets: number;
  /** The number of turns that have begun and are not over. */
  readonly running: number;
  /** The bytes of all answers that are written and not taken. */
  readonly bytes: number;
}

export const noTurns: AnswerTurns = {
  answers: ConnectionMap.empty(),
  waiting: { change: ConnectionMap.empty(), first: ConnectionMap.empty() },
  tickets: 0,
  running: 0,
  bytes: 0,
};

export type TurnsEvent =
  | Exclude<CallSign, { readonly type: 'ads-event' }>
  /** The turn of an answer is over; or its stream is. */
  | { readonly type: 'written' | 'disconnected'; readonly connection: number };

export type TurnsEffect =
  | { readonly type: 'write'; readonly turn: AnswerTurn }
  /** Others wait because this proxy does not read its answer. */
  | { readonly type: 'evict'; readonly connection: number };

type TurnsStep = Step<AnswerTurns, TurnsEffect>;

/**
 * The room for unread answers, in bytes. Changes come before first answers, which have less room.
 */
const rooms: readonly (readonly [Purpose, number])[] = [
  ['change', clientLimits.unreadInAll.value],
  ['first', clientLimits.unreadFirst.value],
];

/**
 * Decides when answers are written. `most` turns run at once, and an answer is written only if the
 * answers that are not taken leave room. If there is no room for an answer, the proxy that was the
 * first to be late is evicted. Pure.
 */
export function reduceTurns(before: AnswerTurns, event: TurnsEvent, most: number): TurnsStep {
  const effects: TurnsEffect[] = [];
  let state = noted(before, event);
  for (let effect = due(state, most); effect !== undefined; effect = due(state, most)) {
    effects.push(effect);
    state =
      effect.type === 'write' ? started(state, effect.turn) : without(state, effect.connection);
  }
  return [state, effects];
}

/** Returns the next thing to do; undefined for nothing. */
function due(state: AnswerTurns, most: number): TurnsEffect | undefined {
  if (state.running >= most) return undefined;
  for (const [purpose, room] of rooms) {
    const [next] = state.waiting[purpose];
    if (next === undefined) continue;
    if (state.bytes < room) return { type: 'write', turn: next[1] };
    const connection = firstLate(state);
    if (connection !== undefined) return { type: 'evict', connection };
  }
  return undefined;
}

function noted(state: AnswerTurns, event: TurnsEvent): AnswerTurns {
  const { connection } = event;
  switch (event.type) {
    case 'turn':
      return queued(state, event);
    case 'written':
    case 'late': {
      const answer = state.answers.get(connection);
      if (answer === undefined || answer.type === 'waiting') return state;
      const { bytes } = answer;
      const next: AnswerState =
        event.type === 'late'
          ? { type: 'late', bytes, since: event.since }
          : { type: 'left', bytes };
      return added(without(state, connection), connection, next);
    }
    case 'taken':
    case 'disconnected':
      return without(state, connection);
  }
}

function queued(state: AnswerTurns, turn: AnswerTurn): AnswerTurns {
  const { waiting } = state;
  const { connection, purpose } = turn;
  const ticket = state.tickets + 1;
  const queue = waiting[purpose].with(ticket, turn);
  return {
    ...state,
    answers: state.answers.with(connection, { type: 'waiting', purpose, ticket }),
    tickets: ticket,
    waiting: { ...waiting, [purpose]: queue },
  };
}

function started(state: AnswerTurns, { connection, bytes }: AnswerTurn): AnswerTurns {
  return added(without(state, connection), connection, { type: 'writing', bytes });
}

function added(
  state: AnswerTurns,
  connection: number,
  answer: Exclude<AnswerState, { readonly type: 'waiting' }>,
): AnswerTurns {
  return {
    ...state,
    answers: state.answers.with(connection, answer),
    running: state.running + (answer.type === 'writing' ? 1 : 0),
    bytes: state.bytes + answer.bytes,
  };
}

function without(state: AnswerTurns, connection: number): AnswerTurns {
  const answer = state.answers.get(connection);
  if (answer === undefined) return state;
  const after = { ...state, answers: state.answers.without(connection) };
  if (answer.type === 'waiting') {
    const queue = state.waiting[answer.purpose].without(answer.ticket);
    return { ...after, waiting: { ...state.waiting, [answer.purpose]: queue } };
  }
  return {
    ...after,
    running: state.running - (answer.type === 'writing' ? 1 : 0),
    bytes: state.bytes - answer.bytes,
  };
}

/** Returns the stream that was late before all others. */
function firstLate({ answers }: AnswerTurns): number | undefined {
  let [oldest, earliest]: [number | undefined, number] = [undefined, Infinity];
  for (const [connection, answer] of answers)
    if (answer.type === 'late' && answer.since < earliest)
      [oldest, earliest] = [connection, answer.since];
  return oldest;
}
