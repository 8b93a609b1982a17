import { lookup } from 'node:dns';
import { describe, expect, it, vi } from 'vitest';
import {
  blockedRanges,
  guardedLookup,
  usuallyBlocked,
} from '../../../../../src/pilot-discovery/registry/keys/blocked-ranges.ts';

vi.mock('node:dns', () => ({ lookup: vi.fn() }));

function rangesOf(text: string) {
  const ranges = blockedRanges(text);
  if ('wrong' in ranges) throw new Error(ranges.wrong);
  return ranges;
}

describe('the ranges from which no keys are fetched', () => {
  it.each([
    ['127.0.0.1', true],
    ['127.255.255.255', true],
    ['0.0.0.0', true],
    ['169.254.169.254', true],
    ['::1', true],
    ['::', true],
    ['fe80::1', true],
    ['febf::1', true],
    ['fd00:ec2::254', true],
    ['::ffff:127.0.0.1', true],
    ['::ffff:a9fe:a9fe', true],
    ['128.0.0.1', false],
    ['10.0.0.1', false],
    ['169.253.1.1', false],
    ['fec0::1', false],
    ['2001:db8::1', false],
    ['::ffff:10.0.0.1', false],
  ])('usually: %s %s', (address, isBlocked) => {
    expect(rangesOf(usuallyBlocked).blocks(address)).toBe(isBlocked);
  });

  it('are those that are said', () => {
    const ranges = rangesOf('10.0.0.0/8, 2001:db8::/32');
    expect(
      ['10.1.1.1', '2001:db8::1', '127.0.0.1'].map((address) => ranges.blocks(address)),
    ).toEqual([true, true, false]);
    expect(rangesOf('none').blocks('127.0.0.1')).toBe(false);
  });

  it.each(['10.0.0.0', '10.0.0.0/33', 'a/8', '10.0.0.0/8/8', '2001:db8::/129', '', '10.0.0.0/-1'])(
    'are no such thing as %s',
    (range) => {
      expect(blockedRanges(range)).toEqual({ wrong: range });
    },
  );
});

describe('the look-up of a host', () => {
  const lookUp = (addresses: readonly string[], all: boolean) =>
    new Promise((done) => {
      vi.mocked(lookup).mockImplementation(((_: string, __: object, answer: unknown) =>
        (answer as (error: null, records: unknown) => void)(
          null,
          addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
        )) as never);
      guardedLookup(rangesOf(usuallyBlocked))('a.example.com', { all }, (error, address, family) =>
        done(error === null ? [address, family] : error.message),
      );
    });

  it('gives what is not blocked', async () => {
    expect(await lookUp(['10.0.0.1', '10.0.0.2'], false)).toEqual(['10.0.0.1', 4]);
    expect(await lookUp(['10.0.0.1'], true)).toEqual([
      [{ address: '10.0.0.1', family: 4 }],
      undefined,
    ]);
  });

  it.each([true, false])('fails if one of the addresses is blocked', async (all) => {
    expect(await lookUp(['10.0.0.1', '127.0.0.1'], all)).toBe(
      'a.example.com has the address 127.0.0.1, which is blocked',
    );
  });
});
