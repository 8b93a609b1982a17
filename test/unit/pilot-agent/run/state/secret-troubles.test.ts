import { describe, expect, it } from 'vitest';
import {
  afterSds,
  afterState,
  listTroubles,
  noTroubles,
  secretNotes,
  type SecretTroubles,
  secretUnready,
  wasLogged,
} from '../../../../../src/pilot-agent/run/state/secret-troubles.ts';
import type { SdsEvent } from '../../../../../src/pilot-agent/secrets/sds/sds-telemetry.ts';
import type { SecretState } from '../../../../../src/pilot-agent/secrets/secret.ts';

const misses = (name: string, reason = 'no such file', stream = 1): SdsEvent => ({
  type: 'missing',
  stream,
  node: 'pod',
  name,
  reason,
});
const rejects = (name: string): SdsEvent => ({
  type: 'rejected',
  stream: 1,
  node: 'pod',
  versions: new Map([[name, '1']]),
  reason: 'bad key',
});
const is = (name: string, refused?: string): SecretState => {
  const offered = { secret: { kind: 'roots', roots: 'r' }, version: '1' } as const;
  return { name, source: 'files', offered, served: offered, refused, by: 'reading' };
};
const play = (...happened: readonly (SdsEvent | SecretState)[]): SecretTroubles =>
  happened.reduce(
    (troubles, each) => ('type' in each ? afterSds(troubles, each) : afterState(troubles, each)),
    noTroubles,
  );
const troublesAfter = (...happened: readonly (SdsEvent | SecretState)[]) => {
  const troubles = listTroubles(play(...happened));
  return { reason: secretUnready(troubles, undefined), notes: secretNotes(troubles, undefined) };
};

describe('what is wrong with the secrets', () => {
  it.each(['default', 'ROOTCA', 'file-cert:/a~/b', 'file-root:/a'])(
    '%s, which is asked for and is not there, is a reason',
    (name) => {
      expect(troublesAfter(misses(name))).toEqual({
        reason: `secret ${name}: no such file`,
        notes: [],
      });
    },
  );

  it('forgets what was told when a control plane names ever new secrets', () => {
    const many = play(
      ...Array.from({ length: 1_001 }, (_, index) => misses(`file-root:/${index}`)),
    );
    expect(many.logged.size).toBe(1);
    expect(wasLogged(many, misses('file-root:/1000'))).toBe(true);
  });

  it('is why it cannot be had, and since when, of what an authority is to give', () => {
    const authority = { address: 'ca:15012', reason: 'connection refused', since: 60_000 };
    const since =
      'certificate authority ca:15012: connection refused, since 1970-01-01T00:01:00.000Z';
    expect(secretUnready(listTroubles(play(misses('default'))), authority)).toBe(
      `secret default: ${since}`,
    );
    const both = listTroubles(play(misses('ROOTCA'), misses('file-cert:/a~/b')));
    expect(secretNotes(both, authority)).toEqual(['secret file-cert:/a~/b: no such file']);
  });

  it('that of a gateway is a note', () => {
    expect(troublesAfter(misses('shop'))).toEqual({
      reason: undefined,
      notes: ['secret shop: no such file'],
    });
  });

  it('the first is the reason, and the others are notes', () => {
    expect(troublesAfter(misses('default'), misses('ROOTCA', 'empty', 2))).toEqual({
      reason: 'secret default: no such file',
      notes: ['secret ROOTCA: empty'],
    });
  });

  it.each([
    ['default', 'is a reason', { reason: 'secret default: Envoy rejects it: bad key', notes: [] }],
    ['ROOTCA', 'is a reason', { reason: 'secret ROOTCA: Envoy rejects it: bad key', notes: [] }],
    [
      'file-cert:/a~/b',
      'is a reason',
      { reason: 'secret file-cert:/a~/b: Envoy rejects it: bad key', notes: [] },
    ],
    [
      'shop',
      'is a note: it is one host’s',
      { reason: undefined, notes: ['secret shop: Envoy rejects it: bad key'] },
    ],
  ])('%s, which Envoy rejects and has no other of, %s', (name, _, expected) => {
    const nothing = { ...is(name, 'Envoy rejects it: bad key'), served: undefined };
    expect(troublesAfter(is(name), nothing, rejects(name))).toEqual(expected);
    expect(
      troublesAfter(is(name), nothing, rejects(name), { type: 'stream-closed', stream: 1 }),
    ).toEqual({
      reason: undefined,
      notes: [],
    });
    expect(troublesAfter(is(name), nothing, rejects(name), is(name))).toEqual({
      reason: undefined,
      notes: [],
    });
  });

  it.each(['default', 'shop'])('%s, which Envoy rejects and has another of, is a note', (name) => {
    const noted = [`secret ${name} refused: Envoy rejects it: bad key`];
    expect(troublesAfter(is(name), is(name, 'Envoy rejects it: bad key'), rejects(name))).toEqual({
      reason: undefined,
      notes: noted,
    });
  });

  it('is over when the secret is served', () => {
    expect(troublesAfter(misses('default'), is('default'))).toEqual({
      reason: undefined,
      notes: [],
    });
  });

  it('is over when nobody asks for it any more', () => {
    expect(
      troublesAfter(misses('default'), misses('default', 'no such file', 2), {
        type: 'stream-closed',
        stream: 1,
      }).reason,
    ).toBeDefined();
    expect(
      troublesAfter(misses('default'), { type: 'stream-closed', stream: 1 }).reason,
    ).toBeUndefined();
    // A server has come back.
    expect(troublesAfter(misses('default'), { type: 'listening' }).reason).toBeUndefined();
  });

  it('one that is served, but whose newest reading is refused, is a note of its own, until one is taken or it is forgotten', () => {
    const refused = is('default', 'bad key');
    expect(troublesAfter(refused, is('ROOTCA'))).toEqual({
      reason: undefined,
      notes: ['secret default refused: bad key'],
    });
    expect(troublesAfter(refused, is('default')).notes).toEqual([]);
    expect(troublesAfter(refused, { ...is('default'), served: undefined }).notes).toEqual([]);
  });

  it('is told once for each secret and reason, and again after the secret was there', () => {
    expect(wasLogged(noTroubles, misses('default'))).toBe(false);
    expect(wasLogged(play(misses('default')), misses('default', 'no such file', 2))).toBe(true);
    expect(wasLogged(play(misses('default'), misses('default', 'empty')), misses('default'))).toBe(
      true,
    );
    expect(wasLogged(play(misses('default')), misses('default', 'empty'))).toBe(false);
    expect(wasLogged(play(misses('default')), misses('ROOTCA'))).toBe(false);
    expect(wasLogged(play(misses('default'), is('default')), misses('default'))).toBe(false);
  });
});
