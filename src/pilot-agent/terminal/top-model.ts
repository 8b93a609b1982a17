import { type AgentView, type Link, emptyAgentView } from '../report/agent-view.ts';
import type { LiveEvent } from '../report/live-events.ts';
import type { ScreenSize } from './screen-size.ts';

/** An order to the agent, which is also the path of the request. */
export type Order = 'drain' | 'restart';

/** The levels: lines below the chosen one are not shown. */
export const levels = ['debug', 'info', 'warn', 'error'] as const;
/** How much of the past the timeline shows, in ms; 0: all of it. */
export const spans = [60_000, 600_000, 3_600_000, 0] as const;

/** The content of the screen, and how it is shown. */
export interface TopState extends AgentView {
  readonly size: ScreenSize;
  /** In ms since 1970. */
  readonly now: number;
  readonly link: Link;
  /** The epoch that the user has selected. */
  readonly selected: number | undefined;
  /** The effect of keys: watch, write the filter, answer a question, or close the help. */
  readonly mode: 'watch' | 'filter' | 'help' | Order;
  /** Only lines of the log with this text are shown. */
  readonly filter: string;
  readonly level: (typeof levels)[number];
  readonly span: (typeof spans)[number];
  /** A long line is cut, or takes several lines of the screen. */
  readonly long: 'cut' | 'whole';
  /** The result of the last order. */
  readonly lastResult: string | undefined;
  /** Changes when the whole screen must be drawn again. */
  readonly drawing: number;
  readonly isOver: boolean;
}

/** A key as Node's readline names it. `text`: the text that it writes, if any. */
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
  /** A request to stop this program for a while. */
  | { readonly type: 'suspend-requested' }
  | { readonly type: 'resumed' }
  /** A request to end this program, or its terminal is gone. */
  | { readonly type: 'end-requested' };

export type TopEffect =
  | { readonly type: 'order'; readonly order: Order }
  /** Gives the terminal back and stops the program, until `resumed`. */
  | { readonly type: 'suspend' }
  /** Takes the terminal. */
  | { readonly type: 'open' };

export function firstTopState(size: ScreenSize, now: number): TopState {
  return {
    size,
    now,
    link: { kind: 'connecting' },
    ...emptyAgentView,
    selected: undefined,
    mode: 'watch',
    filter: '',
    level: 'info',
    span: 600_000,
    long: 'cut',
    lastResult: undefined,
    drawing: 0,
    isOver: false,
  };
}
