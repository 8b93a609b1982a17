import { shownPast } from '../report/shown-past.ts';
import type { Span } from './timeline.ts';

/** The part of the past that is shown: up to now, or a fixed span. */
export type Window =
  | { readonly kind: 'last'; readonly ms: number }
  | { readonly kind: 'all' }
  | ({ readonly kind: 'span' } & Span);

/**
 * Returns the span that a window shows now; it does not begin before the start of the agent. Pure.
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

/** Returns a window around a span, with some space on both sides. Pure. */
export function around({ from, to }: Span): Window {
  const room = Math.max(1_000, (to - from) / 10);
  return { kind: 'span', from: from - room, to: to + room };
}
