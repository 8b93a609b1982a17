import { describe, expect, it } from 'vitest';
import type { Variant } from '../../../../src/shared/xds/messages.ts';
import { toyPolicy, toySubscription, toyWords, textOf } from '../../../support/toy-subscription.ts';

const variants: readonly Variant[] = ['state-of-the-world', 'delta'];

describe.each(variants)('a subscription, %s', (variant) => {
  /** Returns the names that a request repeats. */
  const same = (...add: readonly string[]) => ({ add: variant === 'delta' ? [] : add });

  it('is answered nothing before it asks, and all of what it names then', () => {
    const client = toySubscription(variant);
    expect(toyWords(client.show({ a: '1', b: '1' }))).toEqual([]);
    expect(toyWords(client.ask({ add: ['a'] }))).toEqual(['asked', 'give 1 a=1']);
  });

  it('is for all if the first request names none, and is told of what goes', () => {
    const client = toySubscription(variant);
    client.show({ a: '1', b: '1' });
    expect(toyWords(client.ask())).toEqual(['asked', 'give 1 a=1 b=1']);
    expect(toyWords(client.ask(same(), '1'))).toEqual(['ACK 1']);
    expect(toyWords(client.show({ b: '2' }))).toEqual(['give 2 b=2 -a']);
  });

  it('is answered nothing by an empty answer, if all are asked for and there is none', () => {
    expect(toyWords(toySubscription(variant).ask())).toEqual(['asked', 'give 1']);
    const never = toySubscription(variant, { wildcard: 'by asterisk' });
    expect(toyWords(never.ask())).toEqual(['asked']);
    expect(toyWords(never.ask({ add: ['*'] }))).toEqual(['asked', 'give 1']);
  });

  it('takes an asterisk for a name if nobody can ask for all', () => {
    const client = toySubscription(variant, { wildcard: 'never' });
    client.show({ '*': '1', a: '1' });
    expect(toyWords(client.ask({ add: ['*'] }))).toEqual(['asked', 'give 1 *=1']);
  });

  it('has one answer in flight, and is given the newest after it', () => {
    const client = toySubscription(variant);
    client.show({ a: '1' });
    client.ask({ add: ['a'] });
    expect(toyWords(client.show({ a: '2' }))).toEqual(['in flight']);
    expect(toyWords(client.show({ a: '3' }))).toEqual(['in flight']);
    expect(toyWords(client.ask(same('a'), '1'))).toEqual(['ACK 1', 'give 2 a=3']);
  });

  it('has no more to send while an answer with all is in flight', () => {
    const client = toySubscription(variant);
    client.ask({ add: ['a'] });
    client.show({ a: '1' });
    expect(toyWords(client.ask(same('a')))).toEqual([]);
  });

  it('takes no ACK of an older answer', () => {
    const client = toySubscription(variant);
    client.show({ a: '1' });
    client.ask({ add: ['a'] });
    client.ask(same('a'), '1');
    client.show({ a: '2' });
    expect(toyWords(client.ask(same('a'), '1'))).toEqual([]);
    expect(client.state().inFlight?.nonce).toBe('2');
    expect(toyWords(client.ask(same('a'), '2'))).toEqual(['ACK 2']);
  });

  it('is not given again what it has NACKed, and is given all else', () => {
    const client = toySubscription(variant);
    client.show({ a: '1', b: '1' });
    client.ask({ add: ['a', 'b'] });
    client.ask(same('a', 'b'), '1');
    client.show({ a: 'bad', b: '1' });
    expect(toyWords(client.ask(same('a', 'b'), '2', 'no'))).toEqual(['NACK 2 a', 'NACKed']);
    expect(client.state().clientResources).toEqual(new Map(Object.entries({ a: '1', b: '1' })));
    expect(toyWords(client.show({ a: 'bad', b: '2' }))).toEqual(['give 3 b=2']);
    expect(toyWords(client.ask(same('a', 'b'), '3'))).toEqual(['ACK 3', 'NACKed']);
    expect(toyWords(client.show({ a: '1', b: '2' }))).toEqual([]);
    expect(toyWords(client.show({ a: '4', b: '2' }))).toEqual(['give 4 a=4']);
  });

  it('is given again all that it lacks if a NACK holds back the whole, once something changes', () => {
    const client = toySubscription(variant, { holdsBack: 'whole' });
    client.show({ a: 'bad', b: '1' });
    client.ask({ add: ['a', 'b'] });
    expect(toyWords(client.ask(same('a', 'b'), '1', 'no'))).toEqual(['NACK 1 a b', 'NACKed']);
    expect(toyWords(client.show({ a: 'bad', b: '1' }))).toEqual(['NACKed']);
    expect(toyWords(client.show({ a: 'bad', b: '2' }))).toEqual(['give 2 a=bad b=2']);
    expect(client.state().refused.size).toBe(0);
  });

  it('is given what is good once the bad one that came with it has gone', () => {
    const client = toySubscription(variant, { holdsBack: 'whole' });
    client.show({ a: '1', b: 'bad' });
    client.ask({ add: ['a', 'b'] });
    client.ask(same('a', 'b'), '1', 'no');
    expect(toyWords(client.show({ a: '1' }))).toEqual(['give 2 a=1']);
  });

  it('forgets that something was NACKed as a whole once the client lacks nothing', () => {
    const client = toySubscription(variant, { holdsBack: 'whole' });
    client.show({ a: '1' });
    client.ask({ add: ['a'] });
    client.ask(same('a'), '1');
    client.show({ a: 'bad' });
    client.ask(same('a'), '2', 'no');
    expect(toyWords(client.show({ a: '1' }))).toEqual([]);
    expect(toyWords(client.show({ a: 'bad' }))).toEqual(['give 3 a=bad']);
  });

  it('goes on with what is blamed alone', () => {
    const client = toySubscription(variant, { blamed: () => ['a'] });
    client.show({ a: 'bad', b: '1' });
    client.ask({ add: ['a', 'b'] });
    client.ask(same('a', 'b'), '1', 'no');
    expect(client.state().clientResources).toEqual(new Map([['b', '1']]));
  });

  it('is given again what it has to be, and nothing that it does not want', () => {
    const client = toySubscription(variant);
    client.show({ a: '1', b: '1' });
    client.ask({ add: ['a'] });
    expect(toyWords(client.again('a', 'b'))).toEqual(['in flight']);
    expect(toyWords(client.ask(same('a'), '1'))).toEqual(['ACK 1', 'give 2 a=1']);
    expect(toyWords(client.again('b'))).toEqual([]);
  });

  it('has all of a source as one object', () => {
    const client = toySubscription(variant, { changedNames: () => [] });
    client.show({ a: '1', b: '1' });
    client.ask();
    expect(client.state().clientResources).toBe(client.source());
    const other = toySubscription(variant);
    other.show({ a: '1', b: '1' });
    other.ask();
    expect(other.state().clientResources).not.toBe(other.source());
    expect(other.state().clientResources).toEqual(other.source());
  });

  it('looks only at what differs from the source of which nothing was left', () => {
    const client = toySubscription(variant, {
      changedNames: (before, after) =>
        [...after.keys()].filter((name) => before.get(name) !== after.get(name)),
      isSame: (clientResource, resource) =>
        clientResource === resource && clientResource !== 'not to be looked at',
    });
    client.show({ a: 'not to be looked at', b: '1' });
    client.ask();
    client.ask(same(), '1');
    expect(toyWords(client.show({ a: 'not to be looked at', b: '2' }))).toEqual(['give 2 b=2']);
    expect(client.state().clientResources).toBe(client.source());
  });

  it('waits for what the policy says', () => {
    const client = toySubscription(variant, {
      choose: () => ({ type: 'wait', waitsFor: 'told to wait' }),
    });
    client.show({ a: '1' });
    expect(toyWords(client.ask({ add: ['a'] }))).toEqual(['asked', 'told to wait']);
  });

  it('keeps the note of what was ACKed last', () => {
    const client = toySubscription(variant);
    client.show({ a: '1' });
    client.ask({ add: ['a'] });
    expect(client.state().accepted).toBeUndefined();
    client.ask(same('a'), '1');
    expect(client.state().accepted).toBe(7);
  });
});

describe('a state-of-the-world subscription', () => {
  it('that comes with the version of what there is has that', () => {
    const client = toySubscription('state-of-the-world');
    client.show({ a: '1', b: '1' });
    const version = textOf(client.source());
    expect(toyWords(client.ask({ add: ['a'], version }))).toEqual(['asked']);
    expect(client.state()).toMatchObject({ comes: 'with-versions', claimed: version });
    expect(toyWords(client.ask({ add: ['a', 'b'] }))).toEqual(['asked', 'give 1 b=1']);
  });

  it('that has named something is for nothing if it names nothing, however often', () => {
    const client = toySubscription('state-of-the-world');
    client.show({ a: '1', b: '1' });
    client.ask({ add: ['a'] });
    client.ask({}, '1');
    client.ask({}, '1');
    expect(client.state()).toMatchObject({ wildcard: false, clientResources: new Map() });
  });

  it.each([
    ['taken', ['asked', 'in flight'], ['asked', 'give 2 b=1']],
    ['ignored in flight', [], ['asked', 'give 2 b=1']],
    ['ignored', [], []],
  ] as const)('has the names of stale requests %s', (staleNames, inFlight, after) => {
    const client = toySubscription('state-of-the-world', { staleNames });
    client.show({ a: '1', b: '1' });
    client.ask({ add: ['a'] });
    expect(toyWords(client.ask({ add: ['a', 'b'] }, '0'))).toEqual(inFlight);
    client.ask({ add: ['a'] }, '1');
    expect(toyWords(client.ask({ add: ['a', 'b'] }, '0'))).toEqual(after);
  });
});

describe('a delta subscription', () => {
  it('has what it comes with, and is given what is newer', () => {
    const client = toySubscription('delta');
    client.show({ a: '1', b: '2' });
    const effects = client.ask({ add: ['a', 'b'], versions: { a: '1', b: '1', other: '1' } });
    expect(toyWords(effects)).toEqual(['asked', 'give 1 b=2']);
    expect(client.state()).toMatchObject({ comes: 'with-versions' });
  });

  it('that comes with all is told of what is gone', () => {
    const client = toySubscription('delta');
    client.show({ a: '1' });
    expect(toyWords(client.ask({ versions: { a: '1', b: '1' } }))).toEqual(['asked', 'give 1 -b']);
  });

  it('is given again what it asks for again', () => {
    const client = toySubscription('delta');
    client.show({ a: '1' });
    client.ask({ add: ['a'] });
    expect(toyWords(client.ask({ add: ['a'] }, '1'))).toEqual(['ACK 1', 'asked', 'give 2 a=1']);
  });

  it('has nothing of what it left, and what is removed and added at once is added', () => {
    const client = toySubscription('delta');
    client.show({ a: '1' });
    client.ask({ add: ['a'] });
    client.ask({ remove: ['a'] }, '1');
    expect(client.state()).toMatchObject({ names: new Set(), clientResources: new Map() });
    expect(toyWords(client.ask({ add: ['a'], remove: ['a'] }))).toEqual(['asked', 'give 2 a=1']);
  });

  it('that asks for all no more has what it names', () => {
    const client = toySubscription('delta');
    client.show({ a: '1', b: '1' });
    client.ask({ add: ['*', 'a'] });
    client.ask({ remove: ['*'] }, '1');
    expect([...client.state().clientResources.keys()]).toEqual(['a']);
    expect(toyPolicy.wildcard).toBe('by naming nothing');
  });

  it('goes on with nothing under a name that it left before the NACK', () => {
    const client = toySubscription('delta');
    client.show({ a: '1' });
    client.ask({ add: ['a'] });
    client.ask({}, '1');
    client.show({ a: '2' });
    client.ask({ remove: ['a'] });
    client.ask({}, '2', 'no');
    expect(client.state().clientResources.size).toBe(0);
  });
});
