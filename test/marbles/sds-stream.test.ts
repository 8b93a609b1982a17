import { EMPTY, map } from 'rxjs';
import type { RunHelpers } from 'rxjs/testing';
import { describe, it } from 'vitest';
import { fetchSecrets } from '../../src/pilot-agent/secrets/sds/fetch-secrets.ts';
import { sdsStream } from '../../src/pilot-agent/secrets/sds/serve-stream.ts';
import type { StreamRequest } from '../../src/pilot-agent/secrets/sds/stream-event.ts';
import { absentSecret, type SecretState } from '../../src/pilot-agent/secrets/secret.ts';
import { marbles } from '../support/marbles/marbles.ts';

const state = (version: string): SecretState => {
  const offered = { secret: { kind: 'roots', roots: version }, version } as const;
  return {
    name: 'default',
    source: 'files',
    offered,
    served: offered,
    refused: undefined,
    by: 'reading',
  };
};
/** The states of the secret: versions 1 to 4, and `x` for no secret. */
const states: Record<string, SecretState> = {
  ...Object.fromEntries(['1', '2', '3', '4'].map((version) => [version, state(version)])),
  x: absentSecret('default', 'no such file'),
};

const first: StreamRequest = {
  node: 'pod',
  nonce: '',
  error: undefined,
  names: { kind: 'all', names: ['default'], version: '' },
};
const answerTo = (nonce: string, error?: string): StreamRequest => ({
  ...first,
  node: '',
  nonce,
  error,
});
/**
 * The requests: `s` subscribes, `a` ACKs the first push, `r` NACKs it, and `u` ACKs it and
 * unsubscribes from everything.
 */
const requests: Record<string, StreamRequest> = {
  s: first,
  a: answerTo('1'),
  r: answerTo('1', 'bad key'),
  u: { ...answerTo('1'), names: { kind: 'all', names: [], version: '' } },
};

/**
 * Draws the outputs of a stream: a push by its version, `A` for an ACK, `R` for a NACK, `m` for a
 * missing secret, `N` for the answer that there is no secret, and `E` for the end.
 */
function draw(
  m: RunHelpers,
  { questions, secret }: { readonly questions: string; readonly secret: string },
) {
  const secret$ = m.hot(secret, states);
  const outputs$ = sdsStream(m.hot(questions, requests), { get: () => secret$ }).pipe(
    map((output) => {
      if (output.type === 'push') return output.push.version;
      return { accepted: 'A', rejected: 'R', missing: 'm', decline: 'N', end: 'E' }[output.type];
    }),
  );
  return { outputs$, follows: secret$.subscriptions };
}

describe('a stream of secrets', () => {
  it.each([
    {
      what: 'pushes a secret as soon as it is there',
      questions: 's',
      secret: '2s 1',
      expected: '2s 1',
    },
    {
      what: 'lets what is newer wait for the answer to a push',
      questions: 's 2s a',
      secret: '1s 1 499ms 2',
      expected: '1s 1 1s (A2)',
    },
    {
      what: 'lets it wait for a refusal too',
      questions: 's 2s r',
      secret: '1s 1 499ms 2',
      expected: '1s 1 1s (R2)',
    },
    {
      what: 'pushes only the newest of what has waited',
      questions: 's 2s a',
      secret: '1s 1 99ms 2 99ms 3 99ms 4',
      expected: '1s 1 1s (A4)',
    },
    {
      what: 'pushes at once when nothing is under way',
      questions: 's 2s a',
      secret: '1s 1 2s 2',
      expected: '1s 1 1s A 999ms 2',
    },
    {
      what: 'does not push again what is refused, but the next one',
      questions: 's 2s r',
      secret: '1s 1 2s 1 999ms 2',
      expected: '1s 1 1s R 1999ms 2',
    },
    {
      what: 'says why there is none, and pushes it when there is',
      questions: 's',
      secret: '1s x 999ms 1',
      expected: '1s (mN)',
    },
    {
      what: 'pushes it when there is one, after the answer to that',
      questions: 's 2s r',
      secret: '1s x 999ms 1',
      expected: '1s (mN) 997ms 1',
    },
    { what: 'ends if nobody says who asks', questions: 'a', secret: '1s 1', expected: 'E' },
  ])('$what', ({ questions, secret, expected }) => {
    marbles((m) => {
      m.expectObservable(draw(m, { questions, secret }).outputs$).toBe(expected);
    })();
  });

  it(
    'follows a secret for as long as it is wanted',
    marbles((m) => {
      const { outputs$, follows } = draw(m, { questions: 's 2s u', secret: '1s 1 2s 2' });
      m.expectObservable(outputs$).toBe('1s 1 1s A');
      m.expectSubscriptions(follows).toBe('^ 2s !');
    }),
  );
});

describe('fetchSecrets', () => {
  it.each([
    {
      what: 'answers at once if all are there',
      firstSecret: '1',
      secondSecret: '2',
      expected: '(f|)',
      answer: { version: '1+2', missing: [] },
    },
    {
      what: 'waits for the last of them',
      firstSecret: '1',
      secondSecret: '1999ms 2',
      expected: '1999ms (f|)',
      answer: { version: '1+2', missing: [] },
    },
    {
      what: 'waits 2 s, and names what has not come',
      firstSecret: '1s 1',
      secondSecret: 'x',
      expected: '2s (f|)',
      answer: { version: '1', missing: ['other'] },
    },
  ])('$what', ({ firstSecret, secondSecret, expected, answer }) => {
    marbles((m) => {
      const secrets = new Map([
        ['one', m.cold(firstSecret, states)],
        ['other', m.cold(secondSecret, states)],
      ]);
      const fetched$ = fetchSecrets([...secrets.keys()], {
        get: (name) => secrets.get(name) ?? EMPTY,
      });
      const version$ = fetched$.pipe(
        map(({ push, missing }) => ({ version: push.version, missing })),
      );
      m.expectObservable(version$).toBe(expected, { f: answer });
    })();
  });

  it(
    'answers nobody’s names at once',
    marbles((m) => {
      const version$ = fetchSecrets([], { get: () => EMPTY }).pipe(
        map(({ push }) => push.secrets.size),
      );
      m.expectObservable(version$).toBe('(n|)', { n: 0 });
    }),
  );
});
