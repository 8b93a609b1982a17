import type { Observable } from 'rxjs';
import type { AdsEvent } from './ads-event.ts';
import type { Answer } from './proxy-stream.ts';

/** A message from the stream of one proxy to the server. */
export type CallSign =
  | { readonly type: 'ads-event'; readonly event: AdsEvent }
  | AnswerTurn
  /** The proxy has not taken the answer within 5 s. `since`: ms since 1970. */
  | { readonly type: 'late'; readonly connection: number; readonly since: number }
  /** The proxy has taken the answer. */
  | { readonly type: 'taken'; readonly connection: number };

/** An answer waits for its turn. A stream has one at a time. */
export interface AnswerTurn {
  readonly type: 'turn';
  readonly connection: number;
  readonly purpose: Answer['purpose'];
  /** The approximate size of the answer. */
  readonly bytes: number;
  /** Writes the answer, emits `written` when the turn is over, and completes. */
  readonly written$: Observable<AdsEvent>;
}

/** The streams of these connections end. */
export interface StreamsEnd {
  readonly type: 'end';
  /** The delay of the end of each stream, in ms, by its connection. */
  readonly after: ReadonlyMap<number, number>;
  readonly why: 'the server ends' | 'others wait';
}
