import { shownPast } from '../report/shown-past.ts';
import type { Span } from './timeline.ts';

/** What of the past is shown: up to now, or a span that stays. */
export type Window =
  | { readonly kind: 'last'; readonly ms: number }
  | { readonly kind: 'all' }
  | ({ readonly kind: 'span' } & Span);

/**
 * The span that a window shows now, of an agent that was started at a time: no longer than that is
 * ago. Pure.
 */
export function spanOf(window: Window, startedAt: number, now: number): Span {
  switch (window.kind) {
    case 'span':
      return { from: window.from, to: window.to };
    case 'last':
      return shownPast(startedAt, now, window.ms);
    case 'all':
      return shownPast(startedAt, now);
  }
}

/** A window around a span, with some room on both sides. Pure. */
export function around({ from, to }: Span): Window {
  const room = Math.max(1_000, (to - from) / 10);
  return { kind: 'span', from: from - room, to: to + room };
}
