import { describe, expect, it } from 'vitest';
import type { EnvoyRequest, ErrorDetail } from '../../../../src/shared/xds/messages.ts';
import { type TypeResources, typeUrls } from '../../../../src/shared/xds/resources.ts';
import { stepSubscription } from '../../../../src/pilot-agent/xds-proxy/step-subscription.ts';
import {
  acceptedBy,
  type EnvoySubscription,
  namesOf,
} from '../../../../src/pilot-agent/xds-proxy/envoy-subscription.ts';
import type { ResourceOrigins } from '../../../../src/pilot-agent/xds-proxy/resource-origins.ts';
import { newSubscription } from '../../../../src/shared/xds/type-subscription.ts';
import { resource } from '../../../support/marbles/fake-mesh.ts';

/**
 * The resources by name and content, each created once. In `typeResources`, a content of `null`
 * means that the control plane reported no such resource.
 */
const resourceByContent = new Map<string, ReturnType<typeof resource>>();
const typeResources = (
  contents: Readonly<Record<string, string | null>>,
  version = 'v',
): TypeResources => ({
  version,
  resources: new Map(
    Object.entries(contents).flatMap(([name, content]) => {
      if (content === null) return [];
      const key = `${name} ${content}`;
      const namedResource = resourceByContent.get(key) ?? resource(name, content);
      resourceByContent.set(key, namedResource);
      return [[name, namedResource] as const];
    }),
  ),
  absent: new Set(
    Object.entries(contents).flatMap(([name, content]) => (content === null ? [name] : [])),
  ),
});
const says = (
  contents: Readonly<Record<string, string | null>>,
  version?: string,
): ResourceOrigins => ({
  stored: undefined,
  current: typeResources(contents, version),
});

interface Change {
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
  readonly versions?: Readonly<Record<string, string>>;
  readonly nonce?: string;
  readonly refusal?: ErrorDetail;
}
const base = (nonce = '', refusal?: ErrorDetail) => ({
  node: undefined,
  typeUrl: typeUrls.endpoints,
  nonce,
  refusal,
});
const requested = (before: EnvoySubscription | undefined, request: EnvoyRequest) =>
  stepSubscription(before ?? newSubscription(), { type: 'request', request, source: undefined });
const delta = (
  before: EnvoySubscription | undefined,
  { add = [], remove = [], versions = {}, nonce, refusal }: Change,
) =>
  requested(before, {
    ...base(nonce, refusal),
    names: { kind: 'change', add, remove, versions },
  })[0];
const all = (names: readonly string[], { nonce = '', version = '' } = {}): EnvoyRequest => ({
  ...base(nonce),
  names: { kind: 'all', names, version },
});
const ask = (before: EnvoySubscription | undefined, request: EnvoyRequest) =>
  requested(before, request)[0];

const offer = (before: EnvoySubscription, origins: ResourceOrigins, nonce = '') =>
  stepSubscription(before, { type: 'offer', source: origins, context: { nonce, origins } });

/**
 * Returns the answer that is due, with `changed` as `name content`, and the subscription after it
 * is sent.
 */
const give = (before: EnvoySubscription, sources: ResourceOrigins, nonce = '1') => {
  const [subscription, [outcome]] = offer(before, sources, nonce);
  if (outcome?.type !== 'answer') throw new Error(`nothing is due: ${JSON.stringify(outcome)}`);
  const { changed, removed, all: whole, version, isStored } = outcome.message;
  const text = (resources: typeof changed) =>
    resources.map((each) => `${each.name} ${each.version}`);
  return {
    subscription,
    said: { changed: text(changed), removed, all: text(whole()), version, isStored },
  };
};
/** Sends the answer that is due, and lets Envoy ACK it. */
const accept = (before: EnvoySubscription, sources: ResourceOrigins) =>
  delta(give(before, sources, 'n').subscription, { nonce: 'n' });
const kindOf = (subscription: EnvoySubscription, sources: ResourceOrigins) => {
  const [, [outcome]] = offer(subscription, sources);
  return outcome?.type === 'unsent' ? (outcome.waitsFor ?? 'settled') : outcome?.type;
};
const no: ErrorDetail = { code: 13, message: 'no' };

describe('a subscription of the delta variant', () => {
  it('is for all if the first request names none, or the asterisk; not if a later one names none', () => {
    expect([...namesOf(delta(undefined, {}))]).toEqual(['*']);
    expect([...namesOf(delta(undefined, { add: ['*'] }))]).toEqual(['*']);
    const named = delta(undefined, { add: ['a'] });
    expect([...namesOf(delta(named, {}))]).toEqual(['a']);
    expect([...namesOf(delta(delta(named, { add: ['*'] }), { remove: ['*'] }))]).toEqual(['a']);
  });

  it('is given what it names, and what is new under a name that comes', () => {
    const sources = says({ a: '1', b: '1', c: '1' });
    const first = give(delta(undefined, { add: ['a'] }), sources);
    expect(first.said).toEqual({
      changed: ['a 1'],
      removed: [],
      all: ['a 1'],
      version: 'v',
      isStored: false,
    });
    const second = give(delta(delta(first.subscription, { nonce: '1' }), { add: ['b'] }), sources);
    expect(second.said).toMatchObject({ changed: ['b 1'], all: ['a 1', 'b 1'] });
  });

  it('is not given again what is left, and given again what comes back or is asked for again', () => {
    const sources = says({ a: '1', b: '1' });
    const both = accept(delta(undefined, { add: ['a', 'b'] }), sources);
    const left = delta(both, { remove: ['b'] });
    expect(kindOf(left, sources)).toBe('settled');
    expect(give(delta(left, { add: ['b'] }), sources).said).toMatchObject({ changed: ['b 1'] });
    expect(give(delta(both, { add: ['a'] }), sources).said).toMatchObject({ changed: ['a 1'] });
    // Envoy asks before it ACKs.
    const unanswered = delta(give(delta(undefined, { add: ['a'] }), sources).subscription, {
      add: ['a'],
    });
    expect(give(delta(unanswered, { nonce: '1' }), sources).said).toMatchObject({
      changed: ['a 1'],
    });
  });

  it('is told that there is no such resource, once, and when it goes', () => {
    const first = give(delta(undefined, { add: ['a', 'b'] }), says({ a: '1', b: null }));
    expect(first.said).toMatchObject({ changed: ['a 1'], removed: ['b'] });
    const accepted = delta(first.subscription, { nonce: '1' });
    expect(kindOf(accepted, says({ a: '1', b: null }))).toBe('settled');
    expect(give(accepted, says({ a: null, b: '2' })).said).toMatchObject({
      changed: ['b 2'],
      removed: ['a'],
    });
  });

  it('to all is told of what goes once, and answered if there is none at all', () => {
    const both = accept(delta(undefined, {}), says({ a: '1', b: '1' }));
    const gone = give(both, says({ a: '1' }));
    expect(gone.said).toMatchObject({ changed: [], removed: ['b'], all: ['a 1'] });
    expect(kindOf(delta(gone.subscription, { nonce: '1' }), says({ a: '1' }))).toBe('settled');
    expect(give(delta(undefined, {}), says({})).said).toMatchObject({ changed: [], removed: [] });
  });

  it('with initial versions is given all that the control plane says, and nothing that is stored', () => {
    const versioned = delta(undefined, { add: ['a'], versions: { a: '7', old: '7' } });
    expect(kindOf(versioned, { stored: typeResources({ a: '0' }), current: undefined })).toBe(
      'settled',
    );
    expect(acceptedBy(versioned)).toBeUndefined();
    expect(give(versioned, says({ a: '7' })).said).toMatchObject({ changed: ['a 7'] });
    const whole = delta(undefined, { versions: { a: '7', old: '7' } });
    expect(give(whole, says({ a: '7' })).said).toMatchObject({
      changed: ['a 7'],
      removed: ['old'],
    });
  });

  it('waits for the answer to one push before the next', () => {
    const { subscription } = give(delta(undefined, { add: ['a'] }), says({ a: '1' }));
    expect(kindOf(subscription, says({ a: '2' }))).toBe('in flight');
    expect(kindOf(delta(subscription, { add: ['b'] }), says({ a: '2', b: '1' }))).toBe('in flight');
    expect(give(delta(subscription, { nonce: '1' }), says({ a: '3' })).said).toMatchObject({
      changed: ['a 3'],
    });
  });

  it('is not given again what it has refused until something else is there, and then all that it lacks', () => {
    const accepted = accept(delta(undefined, { add: ['a', 'b'] }), says({ a: '1', b: '1' }));
    const refused = delta(give(accepted, says({ a: '2', b: '1' })).subscription, {
      nonce: '1',
      refusal: no,
    });
    expect(kindOf(refused, says({ a: '2', b: '1' }))).toBe('NACKed');
    expect(refused.refusal).toBe(no);
    expect(acceptedBy(refused)).toBeUndefined();
    expect(give(refused, says({ a: '2', b: '2' })).said).toMatchObject({ changed: ['a 2', 'b 2'] });
    expect(give(refused, says({ a: '3', b: '1' })).said).toMatchObject({ changed: ['a 3'] });
    expect(kindOf(refused, says({ a: '1', b: '1' }))).toBe('settled');
  });
});

describe('an answer with something bad in it', () => {
  it('holds back what is good in it only until the bad one is gone', () => {
    const { subscription } = give(delta(undefined, {}), says({ a: '1', b: 'bad' }));
    const refused = delta(subscription, { nonce: '1', refusal: no });
    expect(kindOf(refused, says({ a: '1', b: 'bad' }))).toBe('NACKed');
    expect(give(refused, says({ a: '1' })).said).toMatchObject({ changed: ['a 1'] });
  });
});

describe('a subscription of the state of the world', () => {
  it('is for all if it has never named one', () => {
    expect([...namesOf(ask(undefined, all([])))]).toEqual(['*']);
    expect([...namesOf(ask(ask(undefined, all([])), all([])))]).toEqual(['*']);
    expect([...namesOf(ask(ask(undefined, all(['a'])), all([])))]).toEqual([]);
  });

  it('does not take an answer to an older push, nor its names', () => {
    const { subscription } = give(ask(undefined, all(['a'])), says({ a: '1' }), '2');
    expect(requested(subscription, all(['b'], { nonce: '1' }))).toEqual([subscription, []]);
    const [, [verdict]] = requested(subscription, all(['a', 'b'], { nonce: '2' }));
    expect(verdict).toMatchObject({ type: 'accepted' });
  });

  it('with a version of its own is not given what is stored', () => {
    const stored = typeResources({ a: '0' });
    expect(
      kindOf(ask(undefined, all(['a'], { version: '7' })), { stored, current: undefined }),
    ).toBe('settled');
    expect(give(ask(undefined, all(['a'])), { stored, current: undefined }).said).toMatchObject({
      changed: ['a 0'],
      isStored: true,
    });
  });
});

describe('what Envoy has accepted', () => {
  const sources = says({ a: '1', b: null }, '5');
  const first = give(delta(undefined, { add: ['a', 'b'] }), sources).subscription;

  it('is all that it has asked for, with what there is not', () => {
    expect(acceptedBy(delta(first, { nonce: '1' }))).toEqual(
      typeResources({ a: '1', b: null }, '5'),
    );
  });

  it('is nothing while an answer is open, or a name has no answer', () => {
    expect(acceptedBy(delta(undefined, { add: ['a'] }))).toBeUndefined();
    expect(acceptedBy(first)).toBeUndefined();
    expect(acceptedBy(delta(first, { nonce: '1', add: ['c'] }))).toBeUndefined();
  });

  it('is empty if it wants no name any more before an answer', () => {
    const named = delta(undefined, { add: ['a'] });
    expect(acceptedBy(delta(named, { remove: ['a'] }))).toEqual(typeResources({}, ''));
  });

  it('is pruned to what it names still', () => {
    expect(acceptedBy(delta(first, { nonce: '1', remove: ['b'] }))).toEqual(
      typeResources({ a: '1' }, '5'),
    );
  });
});
