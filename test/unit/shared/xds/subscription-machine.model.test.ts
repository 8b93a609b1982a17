import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Variant } from '../../../../src/shared/xds/messages.ts';
import type { SubscriptionPolicy } from '../../../../src/shared/xds/type-subscription.ts';
import {
  type ToyAnswer,
  type ToyKind,
  toySubscription,
} from '../../../support/toy-subscription.ts';
import { modelRuns } from '../../../support/model-runs.ts';

type World = Readonly<Record<string, string>>;

type Happening =
  | { readonly type: 'world'; readonly world: World }
  | { readonly type: 'names'; readonly names: readonly string[] }
  /** The client reads an answer, if there is one, and ACKs it, or NACKs it if it is bad. */
  | { readonly type: 'read' }
  | { readonly type: 'reconnect' };

/** Connects a client that follows the protocol to a subscription. */
function connected(
  variant: Variant,
  policy: Partial<SubscriptionPolicy<ToyKind>>,
  isForAll: boolean,
) {
  let subscription = toySubscription(variant, policy);
  let world: World = {};
  let names: readonly string[] = isForAll ? [] : ['a'];
  let clientResources = new Map<string, string>();
  let lastNonce = '';
  let inbox: readonly ToyAnswer[] = [];

  const hear = (effects: ReturnType<typeof subscription.show>): void => {
    for (const effect of effects) if (effect.type === 'answer') inbox = [...inbox, effect.message];
    expect(inbox.length, 'one answer is in flight').toBeLessThanOrEqual(1);
  };
  const ask = (
    add: readonly string[],
    remove: readonly string[],
    isAnswer: boolean,
    reason?: string,
  ) =>
    hear(
      subscription.ask(
        { add: variant === 'delta' ? add : names, remove },
        variant === 'delta' && !isAnswer ? '' : lastNonce,
        reason,
      ),
    );
  const connect = (): void => {
    subscription = toySubscription(variant, policy);
    [inbox, lastNonce] = [[], ''];
    hear(subscription.show(world));
    const versions = Object.fromEntries(clientResources);
    hear(subscription.ask({ add: names, ...(variant === 'delta' && { versions }) }));
  };
  const read = (): void => {
    const [answer] = inbox;
    if (answer === undefined) return;
    inbox = [];
    lastNonce = answer.nonce;
    const isWanted = (name: string) => isForAll || names.includes(name);
    const given = [...answer.given].filter(([name]) => isWanted(name));
    const bad = given.some(([, text]) => text === 'bad');
    // Envoy applies the good part of an answer, or rejects it as a whole.
    const isRejected = bad && policy.holdsBack === 'whole';
    for (const [name, text] of given) {
      // A name that was unsubscribed and is subscribed again is answered again.
      const isKnown = isForAll && policy.holdsBack === 'each' && clientResources.get(name) === text;
      expect(isKnown, 'nothing is sent twice').toBe(false);
      if (text !== 'bad' && !isRejected) clientResources.set(name, text);
    }
    if (!isRejected) for (const name of answer.removed) clientResources.delete(name);
    ask([], [], true, bad ? 'it is bad' : undefined);
  };
  /**
   * Whether the server would not see a change of names. A client that leaves a name and returns to
   * it unseen has lost its resource, and the server does not know.
   */
  const isUnseen = () => inbox.length > 0 && policy.staleNames !== 'taken';
  connect();
  return {
    happen(happening: Happening): void {
      if (happening.type === 'world') {
        world = happening.world;
        hear(subscription.show(world));
      } else if (happening.type === 'read') read();
      else if (happening.type === 'reconnect') {
        if (variant === 'state-of-the-world') clientResources = new Map();
        connect();
      } else if (!isForAll && !isUnseen()) {
        const before = names;
        names = happening.names;
        const remove = before.filter((name) => !names.includes(name));
        for (const name of remove) clientResources.delete(name);
        const add = names.filter((name) => !before.includes(name));
        if (add.length + remove.length > 0) ask(add, remove, false);
      }
    },
    /** Reads all answers; returns what the client has and what it should have. */
    rest() {
      for (let times = 0; inbox.length > 0; times += 1) {
        expect(times, 'it comes to rest').toBeLessThan(100);
        read();
      }
      const wanted = Object.entries(world).filter(([name]) => isForAll || names.includes(name));
      // A client that subscribes by name may keep a removed resource: it knows which are in force.
      const has = [...clientResources].filter(([name]) => isForAll || name in world);
      return { has: Object.fromEntries(has), wanted: Object.fromEntries(wanted) };
    },
  };
}

const text = fc.constantFrom('1', '2', 'bad');
const world = fc.dictionary(fc.constantFrom('a', 'b', 'c'), text, { noNullPrototype: true });
const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('world' as const), world }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('names' as const),
      names: fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { minLength: 1 }),
    }),
  },
  { weight: 4, arbitrary: fc.constant<Happening>({ type: 'read' }) },
  { weight: 1, arbitrary: fc.constant<Happening>({ type: 'reconnect' }) },
);
const variants: readonly Variant[] = ['state-of-the-world', 'delta'];
const stale = ['taken', 'ignored in flight', 'ignored'] as const;
const holdsBackOptions = ['each', 'whole'] as const;
const cases = variants.flatMap((variant) =>
  stale.flatMap((staleNames) =>
    holdsBackOptions.flatMap((holdsBack) =>
      [true, false].map((isForAll) => ({ variant, staleNames, holdsBack, isForAll })),
    ),
  ),
);

describe('a subscription, whatever happens', () => {
  it.each(cases)(
    'brings the client what it wants: $variant, names $staleNames, holds back $holdsBack, for all $isForAll',
    ({ variant, staleNames, holdsBack, isForAll }) => {
      const blamed: SubscriptionPolicy<ToyKind>['blamed'] = ({ given, before }) =>
        holdsBack === 'whole'
          ? [...before.keys()]
          : [...given.keys()].filter((name) => given.get(name) === 'bad');
      fc.assert(
        fc.property(fc.array(happening, { maxLength: 25 }), (happenings) => {
          const client = connected(variant, { staleNames, holdsBack, blamed }, isForAll);
          for (const each of happenings) client.happen(each);
          const { has, wanted } = client.rest();
          if (!Object.values(wanted).includes('bad')) expect(has).toEqual(wanted);
        }),
        { numRuns: modelRuns(300) },
      );
    },
  );
});
