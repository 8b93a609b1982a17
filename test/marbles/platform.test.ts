import { isDeepStrictEqual } from 'node:util';
import { distinctUntilChanged, type Observable } from 'rxjs';
import type { RunHelpers } from 'rxjs/testing';
import { describe, it } from 'vitest';
import { amazonPlatform } from '../../src/pilot-agent/bootstrap/amazon-platform.ts';
import { googlePlatform } from '../../src/pilot-agent/bootstrap/google-platform.ts';
import type { MetadataServer } from '../../src/pilot-agent/bootstrap/metadata-server.ts';
import { type Platform, unknownPlatform } from '../../src/pilot-agent/bootstrap/cloud.ts';
import { marbles } from '../support/marbles/marbles.ts';

/**
 * Returns a metadata server that answers by the end of a path, as drawn: `v` is the text, `n` no
 * value. For any other path it answers at once that there is no value.
 */
function fakeServer(m: RunHelpers, answers: Readonly<Record<string, string>>, text: string) {
  const drawn = new Map(
    Object.entries(answers).map(([end, diagram]) => [
      end,
      m.cold(diagram, { v: text, n: undefined }),
    ]),
  );
  const server: MetadataServer = {
    ask: (path): Observable<string | undefined> =>
      [...drawn].find(([end]) => path.endsWith(end))?.[1] ?? m.cold('(n|)', { n: undefined }),
  };
  return { server, subscriptionsOf: (end: string) => drawn.get(end)?.subscriptions ?? [] };
}

describe('the metadata server of Google Cloud', () => {
  const project: Platform = { ...unknownPlatform, metadata: { gcp_project: 'text' } };

  const values = { u: unknownPlatform, p: project };

  it(
    'is known as far as it has answered, until all is answered',
    marbles((m) => {
      const { server } = fakeServer(m, { '/project-id': '1s (v|)', '/id': '4999ms (n|)' }, 'text');
      const expected = '                                u 999ms p 3998ms |';
      m.expectObservable(
        googlePlatform(unknownPlatform, server).pipe(distinctUntilChanged(isDeepStrictEqual)),
      ).toBe(expected, values);
    }),
  );

  it(
    'is given up after 5 s',
    marbles((m) => {
      const { server, subscriptionsOf } = fakeServer(
        m,
        { '/project-id': '1s (v|)', '/id': '6s (v|)' },
        'text',
      );
      const expected = '                                u 999ms p 3999ms |';
      m.expectObservable(
        googlePlatform(unknownPlatform, server).pipe(distinctUntilChanged(isDeepStrictEqual)),
      ).toBe(expected, values);
      m.expectSubscriptions(subscriptionsOf('/id')).toBe('        ^ 4999ms !');
    }),
  );

  it(
    'that never answers leaves what was known before',
    marbles((m) => {
      const { server } = fakeServer(m, { '': '-' }, 'text');
      m.expectObservable(googlePlatform(project, server)).toBe('p 4999ms |', values);
    }),
  );
});

describe('the metadata server of Amazon', () => {
  const account: Platform = { ...unknownPlatform, metadata: { aws_account_id: 'account' } };
  const text = '{"accountId":"account"}';

  it(
    'is waited for: first the token, then the document',
    marbles((m) => {
      const { server } = fakeServer(m, { token: '999ms (v|)', document: '4s (v|)' }, text);
      const expected = '                         4999ms (a|)';
      m.expectObservable(amazonPlatform(server)).toBe(expected, { a: account });
    }),
  );

  it(
    'is asked without a token after 1 s',
    marbles((m) => {
      const { server, subscriptionsOf } = fakeServer(
        m,
        { token: '-', document: '100ms (v|)' },
        text,
      );
      const expected = '1100ms (a|)';
      m.expectObservable(amazonPlatform(server)).toBe(expected, { a: account });
      m.expectSubscriptions(subscriptionsOf('token')).toBe('   ^ 999ms !');
      m.expectSubscriptions(subscriptionsOf('document')).toBe('1s ^ 99ms !');
    }),
  );

  it(
    'is given up after 5 s in all',
    marbles((m) => {
      const { server, subscriptionsOf } = fakeServer(m, { token: '-', document: '10s (v|)' }, text);
      const expected = '5s (u|)';
      m.expectObservable(amazonPlatform(server)).toBe(expected, { u: unknownPlatform });
      m.expectSubscriptions(subscriptionsOf('document')).toBe('1s ^ 3999ms !');
    }),
  );
});
