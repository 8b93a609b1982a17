import type { SubscriptionPolicy, TypeSubscription } from '../../shared/xds/type-subscription.ts';
import { answerNonce } from './answer-nonce.ts';
import type { ConfigSubscriptionKind } from './config-stream.ts';
import type { Answer } from './proxy-stream.ts';
import type { TypedView } from './view.ts';
import { viewComparison } from './view-comparison.ts';

const nothing: TypedView = { version: '', resources: new Map() };

/**
 * `changedNames` is left out, so that all names are compared: the names that differ between two
 * views do not include those of a NACKed answer.
 */
const { isSame, isSameSource, resourcesOf, had, blamed } = viewComparison;

/**
 * How resources of Istio are sent to another control plane. The first request of a type is always
 * answered. In the state-of-the-world variant an answer has all resources of the type: what is not
 * in it is gone. So after a NACK nothing is sent until something changes, and then everything.
 */
export const configOffers: SubscriptionPolicy<ConfigSubscriptionKind> = {
  ...{ isSame, isSameSource, resourcesOf, had, blamed },
  holdsBack: 'whole',
  wildcard: 'by naming nothing',
  staleNames: 'taken',
  choose({ changed, gone, missing }, subscription, context) {
    const removed = [...gone, ...goneByName(subscription, context)];
    const missingCount = context.variant === 'delta' ? missing.length : 0;
    return changed.size + removed.length + missingCount === 0 && subscription.answers > 0
      ? { type: 'nothing' }
      : { type: 'give', given: changed, removed, unanswered: [], leaves: 'nothing' };
  },
  write({ given, removed, clientResources }, before, { typeUrl, variant, view }) {
    const isDelta = variant === 'delta';
    const { version, resources } = view.types.get(typeUrl) ?? nothing;
    const absent = [...before.unanswered].filter((name) => !resources.has(name));
    const whole = [...resources.values()].filter(({ name }) => clientResources.has(name));
    const content = {
      typeUrl,
      version,
      resources: isDelta ? [...given.values()] : whole,
      removed: isDelta ? [...new Set([...removed, ...absent])] : [],
    };
    const nonce = answerNonce(content, before.lastNonce);
    const purpose = before.accepted === undefined ? 'first' : 'change';
    const message: Answer = { ...content, nonce, snapshot: view.snapshot, purpose };
    return { nonce, note: view.snapshot, message };
  },
};

/**
 * Returns the resources that a client named and has, and that are gone. A removal that it NACKed is
 * left out: it would be sent again at once.
 */
function goneByName(
  { wildcard, names, clientResources, refused }: TypeSubscription<ConfigSubscriptionKind>,
  { typeUrl, view }: ConfigSubscriptionKind['context'],
): readonly string[] {
  if (wildcard) return [];
  const { resources } = view.types.get(typeUrl) ?? nothing;
  return [...names].filter(
    (name) => clientResources.has(name) && !resources.has(name) && !refused.has(name),
  );
}
