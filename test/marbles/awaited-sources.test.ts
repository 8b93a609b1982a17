import { map, type Observable } from 'rxjs';
import { describe, it } from 'vitest';
import { awaitedSources } from '../../src/pilot-agent/run/sources/awaited-sources.ts';
import type { ContributingSource } from '../../src/pilot-agent/sources/contribution.ts';
import { compose, noSource } from '../../src/pilot-agent/sources/compose.ts';
import { source, type SourceOptions } from '../../src/pilot-agent/sources/source.ts';
import { at } from '../../src/testing/at.ts';
import { marbles } from '../support/marbles/marbles.ts';

const random = () => 0.5;
function awaited(contributor: ContributingSource, customConfigFile = ''): Observable<string> {
  return awaitedSources(contributor, { customConfigFile }).pipe(
    map((names) => names.join(' and ')),
  );
}

describe('the first Envoy', () => {
  const asEnvoy: SourceOptions = { as: 'envoy', random };

  it(
    'waits for the source that its configuration is to come from, and is told why it is not there',
    marbles((m) => {
      let tries = 0;
      const url = source(
        'url',
        () => (tries++ < 2 ? m.cold('#', {}, new Error(`refused ${tries}`)) : m.cold('(a|)')),
        asEnvoy,
      );
      const names = { a: 'source url (refused 1)', b: 'source url (refused 2)', n: '' };
      m.expectObservable(awaited(url)).toBe(at({ '0s': 'a', '1s': 'b', '3s': 'n|' }), names);
    }),
  );

  it(
    'waits 1 s before it says so, and no longer than the source takes',
    marbles((m) => {
      const names = { a: 'source slow (it has not been read yet)', n: '' };
      m.expectObservable(awaited(source('slow', () => m.cold('4s a'), asEnvoy))).toBe(
        at({ '1s': 'a', '4s': 'n|' }),
        names,
      );
    }),
  );

  it(
    'does not wait if a custom configuration can serve, if another source has one, or for other sources',
    marbles((m) => {
      const away = () => source('away', () => m.cold('#', {}, new Error('away')), asEnvoy);
      m.expectObservable(awaited(away(), '/envoy.yaml')).toBe('|');
      m.expectObservable(
        awaited(
          compose(
            away(),
            source('there', () => m.cold('(a|)'), asEnvoy),
          ),
        ),
      ).toBe('|');
      m.expectObservable(
        awaited(source('other', () => m.cold('#', {}, new Error('away')), { random })),
      ).toBe('|');
      m.expectObservable(awaited(noSource)).toBe('|');
    }),
  );
});
