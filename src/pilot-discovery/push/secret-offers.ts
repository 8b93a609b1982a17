import type { SubscriptionPolicy } from '../../shared/xds/type-subscription.ts';
import { secretTypeUrl } from '../../shared/xds/secret-names.ts';
import { answerNonce } from './answer-nonce.ts';
import type { Answer, ProxyKind } from './proxy-stream.ts';
import { viewComparison } from './view-comparison.ts';

/**
 * How secrets are sent to a proxy. It gets those that it names; a name without a secret is not
 * answered until there is one. A secret that is gone is not taken away: Envoy would keep it anyway.
 */
export const secretOffers: SubscriptionPolicy<ProxyKind> = {
  ...viewComparison,
  wildcard: 'never',
  staleNames: 'taken',
  choose: ({ changed, missing }) =>
    changed.size === 0
      ? { type: 'nothing' }
      : { type: 'give', given: changed, removed: [], unanswered: missing, leaves: 'nothing' },
  write({ given }, { lastNonce, accepted }, { state: { secretView } }) {
    const content = {
      typeUrl: secretTypeUrl,
      version: secretView?.version ?? '',
      resources: [...given.values()],
      removed: [],
    };
    const nonce = answerNonce(content, lastNonce);
    const purpose = accepted === undefined ? 'first' : 'change';
    const message: Answer = { ...content, nonce, snapshot: 0, purpose };
    return { nonce, note: 0, message };
  },
};
