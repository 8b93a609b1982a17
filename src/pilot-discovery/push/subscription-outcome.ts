import type { SubscriptionEffect, SubscriptionKind } from '../../shared/xds/type-subscription.ts';
import type { ProxyEffect } from './proxy-stream.ts';
import type { XdsResource } from './view.ts';

/** A subscription to resources of views. */
interface ViewKind extends SubscriptionKind {
  readonly resource: XdsResource;
  readonly note: number;
}

/**
 * Returns the effects that an outcome of a subscription has on its stream; none for `answer` and
 * `unsent`. Pure.
 *
 * @param names all names that the client now subscribes to; empty for all
 */
export function subscriptionOutcome<K extends ViewKind>(
  typeUrl: string,
  names: ReadonlySet<string>,
  outcome: SubscriptionEffect<K>,
): readonly ProxyEffect[] {
  switch (outcome.type) {
    case 'asked':
      return [{ type: 'asked', typeUrl, names }];
    case 'accepted': {
      const { nonce, note: snapshot } = outcome.answer;
      return [{ type: 'accepted', typeUrl, nonce, snapshot }];
    }
    case 'rejected': {
      const { nonce, given } = outcome.answer;
      const blamed = outcome.blamed.flatMap((name) => given.get(name) ?? []);
      return [{ type: 'rejected', typeUrl, nonce, blamed, reason: outcome.refusal.message }];
    }
    case 'answer':
    case 'unsent':
      return [];
  }
}
