import type { Observable } from 'rxjs';

/** What a source has to say about itself: it listens, something may have changed, or a part of it can not be listened to for now. */
export type SourceChange =
  | { readonly type: 'ready' }
  | { readonly type: 'changed'; readonly path?: string }
  | { readonly type: 'watch-failed'; readonly path: string; readonly reason: string };

/**
 * A piece of configuration that may change while Envoy runs.
 *
 * A change only triggers, the reading decides: `changes$` may speak too often, never too rarely.
 */
export interface ConfigSource {
  /** Emits `ready` when it starts to listen, since what changed before that went unheard. Never errors. */
  readonly changes$: Observable<SourceChange>;
  /** Cold: one reading a subscription. Never errors: what can not be read has a hash too. */
  readonly hash$: Observable<string>;
}
