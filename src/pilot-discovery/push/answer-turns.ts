// Why: docs/decisions/109-answers-wait-for-room.md
import type { Step } from '../../operators/reduce-with-effects.ts';
import type { AnswerTurn, CallSign } from './call-sign.ts';
import { clientLimits } from './client-limits.ts';
import { ConnectionMap } from './connection-map.ts';

type Purpose = AnswerTurn['purpose'];

/** The answer of a stream that is not taken. `since`: ms since 1970. */
type AnswerState =
  | { readonly type: 'waiting'; readonly purpose: Purpose; readonly ticket: number }
  | { readonly type: 'starting' }
  | { readonly type: 'writing' | 'untaken'; readonly bytes: number }
  | { readonly type: 'late'; readonly bytes: number; readonly since: number };

export interface AnswerTurns {
  /** By the number of the stream, which has one at a time. */
  readonly answers: ConnectionMap<AnswerState>;
  /** The turns that wait, by their tickets: the oldest first. */
  readonly waiting: Readonly<Record<Purpose, ConnectionMap<AnswerTurn>>>;
  /** The number of turns so far. */
  readonly tickets: number;
  /** The number of turns that have begun and are not over. */
  readonly running: number;
  /** No turn starts before the size of the last one is known. */
  readonly start: 'may start' | 'one starts';
  /** The bytes of all answers that are written and not taken. */
  readonly bytes: number;
}

export const noTurns: AnswerTurns = {
  answers: ConnectionMap.empty(),
  waiting: { change: ConnectionMap.empty(), first: ConnectionMap.empty() },
  tickets: 0,
  running: 0,
  start: 'may start',
  bytes: 0,
};

export type TurnsEvent =
  | Exclude<CallSign, { readonly type: 'ads-event' }>
  | { readonly type: 'over' | 'disconnected'; readonly connection: number };

export type TurnsEffect =
  | { readonly type: 'write'; readonly turn: AnswerTurn }
  /** Others wait for what this proxy does not take. */
  | { readonly type: 'evict'; readonly connection: number };

type TurnsStep = Step<AnswerTurns, TurnsEffect>;

/** Changes come before first answers, for which there is less room. In bytes. */
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
  const state = noted(before, event);
  if (state.running >= most || state.start === 'one starts') return [state, []];
  for (const [purpose, room] of rooms) {
    const [next] = state.waiting[purpose];
    if (next === undefined) continue;
    if (state.bytes < room) return started(state, next[1]);
    const oldest = firstLate(state);
    if (oldest !== undefined)
      return [without(state, oldest), [{ type: 'evict', connection: oldest }]];
  }
  return [state, []];
}

function noted(state: AnswerTurns, event: TurnsEvent): AnswerTurns {
  const { connection } = event;
  const answer = state.answers.get(connection);
  switch (event.type) {
    case 'turn':
      return queued(state, event);
    case 'writing': {
      const { bytes } = event;
      const after = withAnswer(state, connection, { type: 'writing', bytes });
      return { ...after, bytes: after.bytes + bytes, start: 'may start' };
    }
    case 'untaken':
    case 'late':
      return answer?.type === 'writing' || answer?.type === 'untaken'
        ? withAnswer(state, connection, { ...event, bytes: answer.bytes })
        : state;
    case 'over': {
      const after: AnswerTurns = { ...state, running: state.running - 1 };
      return answer?.type === 'starting' ? without(after, connection) : after;
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
  const after = withAnswer(state, connection, { type: 'waiting', purpose, ticket });
  const queue = waiting[purpose].with(ticket, turn);
  return { ...after, tickets: ticket, waiting: { ...waiting, [purpose]: queue } };
}

function started(state: AnswerTurns, turn: AnswerTurn): TurnsStep {
  const after = withAnswer(without(state, turn.connection), turn.connection, { type: 'starting' });
  return [{ ...after, running: after.running + 1, start: 'one starts' }, [{ type: 'write', turn }]];
}

const withAnswer = (state: AnswerTurns, connection: number, answer: AnswerState): AnswerTurns => ({
  ...state,
  answers: state.answers.with(connection, answer),
});

function without(state: AnswerTurns, connection: number): AnswerTurns {
  const answer = state.answers.get(connection);
  if (answer === undefined) return state;
  const after = { ...state, answers: state.answers.without(connection) };
  switch (answer.type) {
    case 'waiting': {
      const { purpose, ticket } = answer;
      const queue = state.waiting[purpose].without(ticket);
      return { ...after, waiting: { ...state.waiting, [purpose]: queue } };
    }
    case 'starting':
      return { ...after, start: 'may start' };
    default:
      return { ...after, bytes: state.bytes - answer.bytes };
  }
}

/** Returns the stream that was late before all others. */
function firstLate({ answers }: AnswerTurns): number | undefined {
  let [oldest, earliest]: [number | undefined, number] = [undefined, Infinity];
  for (const [connection, answer] of answers)
    if (answer.type === 'late' && answer.since < earliest)
      [oldest, earliest] = [connection, answer.since];
  return oldest;
}
