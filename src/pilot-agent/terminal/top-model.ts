import { type Heard, type Link, nothingHeard } from '../report/heard.ts';
import type { LiveEvent } from '../report/live-events.ts';
import type { ScreenSize } from './screen-size.ts';

/** What the agent can be asked for, and the path that asks for it. */
export type Order = 'drain' | 'restart';

/** Lines below this level are not shown. */
export const levels = ['debug', 'info', 'warn', 'error'] as const;
/** How much of the past the timeline shows, in ms; 0: all that is known. */
export const spans = [60_000, 600_000, 3_600_000, 0] as const;

/** All that the screen shows, and how. */
export interface TopState extends Heard {
  readonly size: ScreenSize;
  /** In ms since 1970. */
  readonly now: number;
  readonly link: Link;
  /** The epoch that is looked at. */
  readonly selected: number | undefined;
  /** What keys are for: to watch, to write the filter, to answer a question, to close the help. */
  readonly mode: 'watch' | 'filter' | 'help' | Order;
  /** Lines of the log have to have it. */
  readonly filter: string;
  readonly level: (typeof levels)[number];
  readonly span: (typeof spans)[number];
  /** A line that is too long is cut, or takes several lines of the screen. */
  readonly long: 'cut' | 'whole';
  /** What came of the last order. */
  readonly told: string | undefined;
  /** Changes when all has to be drawn anew. */
  readonly drawing: number;
  readonly isOver: boolean;
}

/** A key as Node's readline names it. `text`: what it writes, if it writes something. */
export interface Key {
  readonly name: string;
  readonly text: string;
  readonly isCtrl: boolean;
}

export type TopEvent =
  | { readonly type: 'key'; readonly key: Key }
  | { readonly type: 'resized'; readonly size: ScreenSize }
  | { readonly type: 'clock'; readonly now: number }
  | { readonly type: 'connected' }
  | { readonly type: 'away'; readonly reason: string }
  | { readonly type: 'heard'; readonly live: LiveEvent }
  | { readonly type: 'answered'; readonly order: Order; readonly answer: string }
  /** Somebody has asked this program to stop for a while. */
  | { readonly type: 'suspend-requested' }
  | { readonly type: 'resumed' }
  /** Somebody has asked this program to end, or nobody sees it any more. */
  | { readonly type: 'end-requested' };

export type TopEffect =
  | { readonly type: 'order'; readonly order: Order }
  /** Gives the terminal back and stops, until `resumed`. */
  | { readonly type: 'suspend' }
  /** Takes the terminal. */
  | { readonly type: 'open' };

export function firstTopState(size: ScreenSize, now: number): TopState {
  return {
    size,
    now,
    link: { kind: 'connecting' },
    ...nothingHeard,
    selected: undefined,
    mode: 'watch',
    filter: '',
    level: 'info',
    span: 600_000,
    long: 'cut',
    told: undefined,
    drawing: 0,
    isOver: false,
  };
}
