import { describe, expect, it } from 'vitest';
import {
  nothingListed,
  reduceSecrets,
  type SecretsEffect,
  type AuthoritySecretEvent,
  type SecretsState,
} from '../../../../src/pilot-discovery/ca/reduce-secrets.ts';
import type { SigningAuthority } from '../../../../src/pilot-discovery/ca/signing-authority.ts';

const now = 1_000;
const absent = (name: 'cacerts' | 'istio-ca-secret'): AuthoritySecretEvent => ({
  type: 'content',
  name,
  content: { type: 'absent' },
  now,
});
const validIn = (name: 'cacerts' | 'istio-ca-secret'): AuthoritySecretEvent => ({
  type: 'content',
  name,
  content: {
    type: 'authority',
    authority: { notAfter: 5_000 } as SigningAuthority,
    crl: { kind: 'absent' },
  },
  now,
});
const created = (status: number | undefined, pause = 0): AuthoritySecretEvent => ({
  type: 'created',
  failure: { reason: 'no', status, pause },
  random: 0.5,
  now,
});
const lost = (cause: 'refused' | 'no-answer'): AuthoritySecretEvent => ({
  type: 'lost',
  name: 'istio-ca-secret',
  cause,
  reason: 'away',
  now,
});

/** Folds the events; returns the last state, and all effects. */
function after(...events: readonly AuthoritySecretEvent[]) {
  return events.reduce<{
    readonly state: SecretsState;
    readonly effects: readonly SecretsEffect[];
  }>(
    ({ state, effects }, event) => {
      const [next, more] = reduceSecrets('mesh')(state, event);
      return { state: next, effects: [...effects, ...more] };
    },
    { state: nothingListed, effects: [] },
  );
}
const creations = (effects: readonly SecretsEffect[]) =>
  effects.filter(({ type }) => type === 'create');
const both = [absent('cacerts'), absent('istio-ca-secret')];

describe('reduceSecrets', () => {
  it('makes a root once the API has answered for both Secrets, in whatever order', () => {
    for (const event of both) expect(creations(after(event).effects)).toEqual([]);
    for (const order of [both, both.toReversed()])
      expect(creations(after(...order).effects)).toEqual([{ type: 'create', pause: 0 }]);
  });

  it('makes none while the API does not answer, or refuses, for one of them', () => {
    for (const cause of ['refused', 'no-answer'] as const) {
      const { state, effects } = after(absent('cacerts'), lost(cause));
      expect(creations(effects)).toEqual([]);
      expect(state.reading).toEqual({
        type: 'refused',
        reason: 'Secret/mesh/istio-ca-secret: away',
      });
    }
  });

  it('waits for the Secret of another program if that was first', () => {
    const { state, effects } = after(...both, created(409));
    expect(creations(effects)).toHaveLength(1);
    expect(state.reading).toBeUndefined();
  });

  it('makes it again if the Secret is gone again', () => {
    const { effects } = after(...both, created(409), absent('istio-ca-secret'));
    expect(creations(effects)).toHaveLength(2);
  });

  it('makes no second root while the first is valid, but after it', () => {
    const valid = validIn('istio-ca-secret');
    const gone = after(...both, created(409), valid, absent('istio-ca-secret'));
    expect(creations(gone.effects)).toHaveLength(1);
    expect(gone.state.reading).toEqual({
      type: 'refused',
      reason: 'Secret/mesh/cacerts and Secret/mesh/istio-ca-secret are gone',
    });
    expect(gone.effects.at(-1)).toEqual({ type: 'wait', pause: 4_000 });
    const [, later] = reduceSecrets('mesh')(gone.state, { type: 'passed', now: 5_000 });
    expect(later).toEqual([{ type: 'create', pause: 0 }]);
  });

  it('refuses an authority that expires while it is in use', () => {
    const valid = validIn('cacerts');
    const { state } = after(valid, { type: 'passed', now: 4_999 });
    expect(state.reading?.type).toBe('authority');
    const [expired, effects] = reduceSecrets('mesh')(state, { type: 'passed', now: 5_000 });
    expect(expired.reading?.type).toBe('refused');
    expect(effects).toEqual([{ type: 'rest' }]);
  });

  it('keeps an authority while the API is away, and says if its right is gone', () => {
    const valid = validIn('istio-ca-secret');
    const events = [absent('cacerts'), valid];
    expect(after(...events, lost('no-answer')).state.reading?.type).toBe('authority');
    expect(after(...events, lost('refused')).state.reading?.type).toBe('refused');
    expect(after(...events, lost('refused'), valid).state.reading?.type).toBe('authority');
  });

  it('waits longer after each failure, and as long as the API asks for', () => {
    const refusals = [created(403), created(403), created(undefined), created(429, 60_000)];
    const { state, effects } = after(...both, ...refusals);
    expect(creations(effects).map((effect) => 'pause' in effect && effect.pause)).toEqual([
      0, 1_000, 2_000, 4_000, 60_000,
    ]);
    expect(state.reading).toEqual({
      type: 'refused',
      reason: 'Secret/mesh/istio-ca-secret cannot be made: no',
    });
  });
});
