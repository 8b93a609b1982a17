/** What somebody asks of the agent by way of the status port. */
export type StatusRequest =
  | { readonly type: 'quit-requested' }
  | { readonly type: 'drain-requested' }
  | { readonly type: 'restart-requested' }
  | { readonly type: 'level-requested'; readonly level: LogLevel };

/** Levels of the agent's log: from which one on lines are written. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'none';

/** What becomes of the status server, and what is asked of it. */
export type StatusEvent =
  | { readonly type: 'listening' }
  /** It could not listen in the first place. */
  | { readonly type: 'failed'; readonly reason: string }
  /** It listened, and does not any more: it is started again. */
  | { readonly type: 'broken'; readonly reason: string }
  /** A request could not be answered. */
  | { readonly type: 'request-failed'; readonly path: string; readonly reason: string }
  | StatusRequest;
