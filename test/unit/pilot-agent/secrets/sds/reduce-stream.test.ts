import { describe, expect, it } from 'vitest';
import {
  initialStream,
  reduceStream,
  type StreamState,
} from '../../../../../src/pilot-agent/secrets/sds/stream.ts';
import type {
  StreamEffect,
  StreamEvent,
  StreamRequest,
} from '../../../../../src/pilot-agent/secrets/sds/stream-event.ts';
const asks = (
  names: readonly string[],
  more: Partial<StreamRequest> & { readonly version?: string } = {},
): StreamEvent => {
  const { version = '', ...request } = more;
  return {
    type: 'request',
    request: {
      node: 'n',
      nonce: '',
      error: undefined,
      names: { kind: 'all', names, version },
      ...request,
    },
  };
};
const changes = (
  add: readonly string[],
  remove: readonly string[] = [],
  more: Partial<StreamRequest> = {},
  versions = {},
): StreamEvent => ({
  type: 'request',
  request: {
    node: 'n',
    nonce: '',
    error: undefined,
    names: { kind: 'change', add, remove, versions },
    ...more,
  },
});
const comes = (name: string, version: string): StreamEvent => ({
  type: 'secret',
  name,
  version,
  secret: { kind: 'roots', roots: version },
});

const lacks = (name: string): StreamEvent => ({ type: 'missing', name, reason: 'no such file' });

/**
 * Returns an effect as a word: `+a` watch, `-a` unwatch, `push 1 a=v`, `none 1 a`, `acc a=v`, `rej
 * a=v why`, `end why`.
 */
const word = (effect: StreamEffect): string => {
  const pairs = (versions: Iterable<readonly [string, string]>) =>
    [...versions].map((pair) => pair.join('=')).join(' ');
  switch (effect.type) {
    case 'watch':
      return `+${effect.name}`;
    case 'unwatch':
      return `-${effect.name}`;
    case 'push':
      return `push ${effect.push.nonce} ${pairs([...effect.push.secrets].map(([name, { version }]) => [name, version]))}`;
    case 'decline':
      return `none ${effect.nonce} ${effect.names.join(' ')}`;
    case 'accepted':
      return `acc ${pairs(effect.versions)}`;
    case 'rejected':
      return `rej ${pairs(effect.versions)} ${effect.reason}`;
    case 'end':
      return `end ${effect.reason}`;
  }
};

const play = (...events: readonly StreamEvent[]): readonly (readonly string[])[] => {
  let state: StreamState = initialStream;
  return events.map((event) => {
    const [next, effects] = reduceStream(state, event);
    state = next;
    return effects.map(word);
  });
};

describe('a state-of-the-world stream', () => {
  it('pushes a secret when it is there, and its next version after an acknowledgement', () => {
    expect(
      play(
        asks(['a']),
        comes('a', '1'),
        asks(['a'], { nonce: '1', version: '1' }),
        comes('a', '2'),
      ),
    ).toEqual([['+a'], ['push 1 a=1'], ['acc a=1'], ['push 2 a=2']]);
  });

  it('keeps the newest of what comes while a push is not acknowledged', () => {
    expect(
      play(
        asks(['a']),
        comes('a', '1'),
        comes('a', '2'),
        comes('a', '3'),
        asks(['a'], { nonce: '1' }),
      ),
    ).toEqual([['+a'], ['push 1 a=1'], [], [], ['acc a=1', 'push 2 a=3']]);
  });

  it('pushes nothing when the newest is what was pushed before', () => {
    expect(
      play(
        asks(['a']),
        comes('a', '1'),
        comes('a', '2'),
        comes('a', '1'),
        asks(['a'], { nonce: '1' }),
      ).at(-1),
    ).toEqual(['acc a=1']);
  });

  it('says nothing after a refusal, and pushes the next version', () => {
    const refusal = asks(['a'], { nonce: '1', error: 'bad key' });
    expect(play(asks(['a']), comes('a', '1'), refusal, comes('a', '1'), comes('a', '2'))).toEqual([
      ['+a'],
      ['push 1 a=1'],
      ['rej a=1 bad key'],
      [],
      ['push 2 a=2'],
    ]);
  });

  it('serves several names on a stream, each as it comes (the Go agent refuses the stream)', () => {
    expect(
      play(
        asks(['default', 'extra-resource-name']),
        comes('default', '1'),
        asks(['default', 'extra-resource-name'], { nonce: '1' }),
      ),
    ).toEqual([['+default', '+extra-resource-name'], ['push 1 default=1'], ['acc default=1']]);
  });

  it('pushes of several secrets only those that the client does not have', () => {
    const both = ['a', 'b'];
    expect(
      play(
        asks(both),
        comes('a', '1'),
        comes('b', '1'),
        asks(both, { nonce: '1' }),
        asks(both, { nonce: '2' }),
        comes('b', '2'),
      ).slice(3),
    ).toEqual([['acc a=1', 'push 2 b=1'], ['acc b=1'], ['push 3 b=2']]);
  });

  it('follows the names of the last request', () => {
    expect(
      play(
        asks(['a']),
        comes('a', '1'),
        asks(['b'], { nonce: '1' }),
        comes('a', '2'),
        comes('b', '1'),
      ),
    ).toEqual([['+a'], ['push 1 a=1'], ['acc a=1', '-a', '+b'], [], ['push 2 b=1']]);
  });

  it('takes no notice of the answer to an older push', () => {
    const acknowledged = [
      asks(['a']),
      comes('a', '1'),
      asks(['a'], { nonce: '1' }),
      comes('a', '2'),
    ];
    expect(play(...acknowledged, asks(['b'], { nonce: '1', error: 'late' })).at(-1)).toEqual([]);
  });

  it('does not push what a client that has come back has already', () => {
    expect(play(asks(['a'], { version: '1' }), comes('a', '1'), comes('a', '2'))).toEqual([
      ['+a'],
      [],
      ['push 1 a=2'],
    ]);
  });

  it('pushes to a client that has come back what is newer', () => {
    expect(play(asks(['a'], { version: '1' }), comes('a', '2'))).toEqual([['+a'], ['push 1 a=2']]);
  });

  it('pushes all to a client that has come back for several names: its version may be that of any of them', () => {
    expect(
      play(
        asks(['a', 'b'], { version: '1' }),
        comes('a', '1'),
        asks(['a', 'b'], { nonce: '1' }),
        comes('b', '1'),
      ),
    ).toEqual([['+a', '+b'], ['push 1 a=1'], ['acc a=1'], ['push 2 b=1']]);
  });

  it('says once that there is none, takes the refusal of that for no news, and pushes the secret when it is there', () => {
    const refusal = asks(['a'], { nonce: '1', error: 'not of the type' });
    expect(
      play(
        asks(['a']),
        lacks('a'),
        lacks('a'),
        refusal,
        lacks('a'),
        comes('a', '1'),
        asks(['a'], { nonce: '2' }),
      ),
    ).toEqual([['+a'], ['none 1 a'], [], [], [], ['push 2 a=1'], ['acc a=1']]);
  });

  it('pushes a secret that comes before the client has answered that there is none', () => {
    expect(
      play(
        asks(['a']),
        lacks('a'),
        comes('a', '1'),
        asks(['a'], { nonce: '1', error: 'no' }),
      ).slice(2),
    ).toEqual([[], ['push 2 a=1']]);
  });

  it('says that there is none in an answer of its own, after what there is', () => {
    const both = ['a', 'b'];
    expect(
      play(
        asks(both),
        comes('a', '1'),
        lacks('b'),
        asks(both, { nonce: '1' }),
        asks(both, { nonce: '2', error: 'no' }),
      ),
    ).toEqual([['+a', '+b'], ['push 1 a=1'], [], ['acc a=1', 'none 2 b'], []]);
  });

  it('does not say that there is none to a client that has one, from this stream or from another', () => {
    expect(
      play(asks(['a']), comes('a', '1'), asks(['a'], { nonce: '1' }), lacks('a')).at(-1),
    ).toEqual([]);
    expect(play(asks(['a'], { version: '1' }), lacks('a')).at(-1)).toEqual([]);
  });

  it('ends without a node id in the first request, and needs none later', () => {
    expect(play(asks(['a'], { node: '' }))).toEqual([['end the first request has no node id']]);
    expect(play(asks(['a']), asks(['a', 'b'], { node: '' }))).toEqual([['+a'], ['+b']]);
  });

  it('takes a request without names for one that wants nothing', () => {
    expect(play(asks([]), asks(['a']), asks([]))).toEqual([[], ['+a'], ['-a']]);
  });
});

describe('an incremental stream', () => {
  it('adds and removes names, whether or not a push is acknowledged', () => {
    expect(
      play(
        changes(['a']),
        comes('a', '1'),
        changes(['b'], ['a']),
        comes('b', '1'),
        changes([], [], { nonce: '1' }),
      ),
    ).toEqual([['+a'], ['push 1 a=1'], ['-a', '+b'], [], ['acc a=1', 'push 2 b=1']]);
  });

  it('does not push the versions that the client begins with', () => {
    expect(play(changes(['a', 'b'], [], {}, { a: '1' }), comes('a', '1'), comes('b', '1'))).toEqual(
      [['+a', '+b'], [], ['push 1 b=1']],
    );
  });

  it('pushes again what is subscribed to again', () => {
    expect(play(changes(['a']), comes('a', '1'), changes(['a'], [], { nonce: '1' }))).toEqual([
      ['+a'],
      ['push 1 a=1'],
      ['acc a=1', 'push 2 a=1'],
    ]);
  });

  it('says once that there is none, but not of what the client begins with, and again to who asks again', () => {
    expect(
      play(
        changes(['a', 'b'], [], {}, { a: '1' }),
        lacks('a'),
        lacks('b'),
        changes([], [], { nonce: '1', error: 'no' }),
      ),
    ).toEqual([['+a', '+b'], [], ['none 1 b'], []]);
    expect(
      play(
        changes(['a']),
        lacks('a'),
        changes([], ['a'], { nonce: '1' }),
        changes(['a']),
        lacks('a'),
      ).slice(2),
    ).toEqual([['-a'], ['+a'], ['none 2 a']]);
  });

  it('takes a refusal for a refusal', () => {
    expect(
      play(
        changes(['a']),
        comes('a', '1'),
        changes([], [], { nonce: '1', error: 'no' }),
        comes('a', '2'),
      ).slice(2),
    ).toEqual([['rej a=1 no'], ['push 2 a=2']]);
  });

  const names = (count: number, from = 0) =>
    Array.from({ length: count }, (_, index) => `a${from + index}`);
  it.each<[what: string, events: readonly StreamEvent[], why: string]>([
    ['10,000 names', [asks(names(10_000))], 'it asks for 10000 secrets, and the limit is 1000'],
    [
      'one name too many, in time',
      [changes(names(1_000)), changes(names(1, 1_000))],
      'it asks for 1001 secrets, and the limit is 1000',
    ],
    [
      'a name that is too long',
      [asks(['a'.repeat(10_000)])],
      'it asks for a name of 10000 characters, and the limit is 8208',
    ],
  ])('ends if a client asks for %s, and looks for none of them', (_, events, why) => {
    expect(play(...events).at(-1)).toEqual([`end ${why}`]);
  });

  it('gives as many names as there may be', () => {
    expect(play(asks(names(1_000))).at(-1)).toHaveLength(1_000);
    expect(
      play(changes(names(1_000)), changes([], names(500)), changes(names(500, 1_000))).at(-1),
    ).toHaveLength(500);
  });

  it.each<[how: string, second: StreamEvent]>([
    ['all names', asks(names(600, 600))],
    ['a change', changes(names(600, 600), names(600))],
    ['a change that repeats names', changes([...names(600), ...names(10, 600)])],
  ])('counts the names that a client wants after a request for %s', (_, second) => {
    expect(
      play(asks(names(600)), second)
        .at(-1)
        ?.filter((line) => line.startsWith('end')),
    ).toEqual([]);
  });

  it('forgets what has been removed: a name that comes back waits for its secret', () => {
    expect(
      play(
        changes(['a']),
        comes('a', '1'),
        changes([], ['a'], { nonce: '1' }),
        comes('a', '2'),
        changes(['a']),
      ).slice(2),
    ).toEqual([['acc a=1', '-a'], [], ['+a']]);
  });
});
