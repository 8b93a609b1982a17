import type { Observable } from 'rxjs';
import type { AdsEvent } from './ads-event.ts';

/** A message from the stream of one proxy to the server. */
export type CallSign =
  | { readonly type: 'ads-event'; readonly event: AdsEvent }
  /** An answer waits for its turn. `written$` writes it, and completes when the turn is over. */
  | { readonly type: 'turn'; readonly written$: Observable<AdsEvent> }
  /** The proxy has not taken the bytes of an answer within its turn. `since`: ms since 1970. */
  | {
      readonly type: 'untaken';
      readonly connection: number;
      readonly bytes: number;
      readonly since: number;
    }
  /** The proxy has taken these bytes. */
  | { readonly type: 'taken'; readonly connection: number };

/** The streams of these connections end. */
export interface StreamsEnd {
  readonly type: 'end';
  /** The delay of each, in ms, by its connection. */
  readonly after: ReadonlyMap<number, number>;
  readonly why: 'the server ends' | 'too much is unread';
}
