import {
  awaySince,
  withLiveEvent,
  type AgentView,
  type Kept,
  type Link,
  emptyAgentView,
} from '../report/agent-view.ts';
import type { LiveEvent, LogReport } from '../report/live-events.ts';

/** A message from the stream of events; `at` in ms since 1970, by the clock of the browser. */
export type PageMessage =
  | { readonly type: 'connected'; readonly at: number }
  | { readonly type: 'away'; readonly at: number; readonly reason: string }
  | { readonly type: 'live-event'; readonly at: number; readonly liveEvent: LiveEvent };

/** A line of the log, with the text that a search looks at, in lower case. */
export interface Logged extends LogReport {
  readonly text: string;
}

/** Everything that the page knows about an agent. */
export interface PageState extends AgentView<Logged> {
  /** Times are by the clock of the agent. */
  readonly link: Link;
  /** The clock of the agent minus that of the browser, in ms. */
  readonly skew: number;
}

export const nothing: PageState = { ...emptyAgentView, link: { kind: 'connecting' }, skew: 0 };

/** The traffic of one hour is kept. */
const limits: Kept<Logged> = {
  epochs: 2_000,
  traffic: 3_600,
  lines: 100_000,
  lineOf: (line) => ({ ...line, text: searched(line) }),
};

/** Returns the state after a message. Pure. */
export function afterMessage(before: PageState, message: PageMessage): PageState {
  const { link, skew } = before;
  switch (message.type) {
    case 'connected':
      return { ...before, link: { kind: 'connected' } };
    case 'away':
      return { ...before, link: awaySince(link, message.reason, message.at + skew) };
    case 'live-event': {
      const { liveEvent, at: receivedAt } = message;
      const now = liveEvent.event === 'report' ? Date.parse(liveEvent.data.at) - receivedAt : skew;
      return { ...withLiveEvent<Logged>(before, liveEvent, limits), link, skew: now };
    }
  }
}

function searched({ msg, event, component, fields }: LogReport): string {
  return `${msg} ${event} ${component} ${JSON.stringify(fields)}`.toLowerCase();
}
