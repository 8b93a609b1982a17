import type { Variant } from '../../src/shared/xds/messages.ts';
import { subscriptionMachine } from '../../src/shared/xds/subscription-machine.ts';
import {
  newSubscription,
  type SubscriptionEffect,
  type SubscriptionPolicy,
  type TypeSubscription,
} from '../../src/shared/xds/type-subscription.ts';

/** A kind of subscription whose resources are texts. The version of a resource is its text. */
export interface ToyKind {
  readonly resource: string;
  readonly had: string;
  readonly source: ReadonlyMap<string, string>;
  readonly note: number;
  readonly message: ToyAnswer;
  readonly context: number;
  readonly reason: 'told to wait';
}

export interface ToyAnswer {
  readonly nonce: string;
  readonly given: ReadonlyMap<string, string>;
  readonly removed: readonly string[];
  readonly held: ReadonlyMap<string, string>;
}

/** A policy that sends everything that a client lacks. A name without a resource gets no answer. */
export const toyPolicy: SubscriptionPolicy<ToyKind> = {
  wildcard: 'by naming nothing',
  staleNames: 'taken',
  holdsBack: 'each',
  had: (_, version) => version,
  hadAll: (version, source) => (version === textOf(source) ? source : undefined),
  blamed: ({ given }) => [...given.keys()],
  isSame: (clientResource, resource) => clientResource === resource,
  isSameSource: (a, b) => a === b,
  resourcesOf: (source) => source,
  choose({ changed, gone, missing: unanswered }, { answers, wildcard }) {
    if (changed.size + gone.length === 0 && !(wildcard && answers === 0))
      return { type: 'nothing' };
    return { type: 'give', given: changed, removed: gone, unanswered, leaves: 'nothing' };
  },
  write({ given, removed, clientResources }, { answers }, note) {
    const nonce = String(answers + 1);
    return { nonce, note, message: { nonce, given, removed, held: clientResources } };
  },
};

/** Returns the version of a whole source. */
export function textOf(source: ReadonlyMap<string, string>): string {
  return JSON.stringify([...source]);
}

/** Returns a subscription. Its functions send events to it, and return their effects. */
export function toySubscription(
  variant: Variant,
  policy: Partial<SubscriptionPolicy<ToyKind>> = {},
) {
  const step = subscriptionMachine({ ...toyPolicy, ...policy });
  let state: TypeSubscription<ToyKind> = newSubscription();
  let source: ToyKind['source'] = new Map();
  const tell = (event: Parameters<typeof step>[1]): readonly SubscriptionEffect<ToyKind>[] => {
    const [after, effects] = step(state, event);
    state = after;
    return effects;
  };
  const offer = () => tell({ type: 'offer', source, context: 7 });
  const ask = (
    names: {
      readonly add?: readonly string[];
      readonly remove?: readonly string[];
      readonly versions?: Readonly<Record<string, string>>;
      readonly version?: string;
    } = {},
    nonce = '',
    reason?: string,
  ) => {
    const { add = [], remove = [], versions = {}, version = '' } = names;
    return tell({
      type: 'request',
      source,
      request: {
        nonce,
        refusal: reason === undefined ? undefined : { code: 3, message: reason },
        names:
          variant === 'delta'
            ? { kind: 'change', add, remove, versions }
            : { kind: 'all', names: add, version },
      },
    });
  };
  return {
    ask: (...args: Parameters<typeof ask>) => [...ask(...args), ...offer()],
    show: (resources: Readonly<Record<string, string>>) => {
      source = new Map(Object.entries(resources));
      return offer();
    },
    again: (...names: readonly string[]) => [...tell({ type: 'again', names }), ...offer()],
    state: () => state,
    source: () => source,
  };
}

/**
 * Returns each effect as text: `asked`, `ACK 1`, `NACK 1 a`, `give 1 a=x -b`, or the reason why
 * nothing is sent, if there is one.
 */
export function toyWords(effects: readonly SubscriptionEffect<ToyKind>[]): readonly string[] {
  return effects.flatMap((effect) => {
    switch (effect.type) {
      case 'asked':
        return ['asked'];
      case 'accepted':
        return [`ACK ${effect.answer.nonce}`];
      case 'rejected':
        return [`NACK ${effect.answer.nonce} ${effect.blamed.join(' ')}`];
      case 'unsent':
        return effect.waitsFor ?? [];
      case 'answer': {
        const { nonce, given, removed } = effect.message;
        const texts = [...given].map(([name, text]) => `${name}=${text}`);
        return [['give', nonce, ...texts, ...removed.map((name) => `-${name}`)].join(' ')];
      }
    }
  });
}
