import { map, type Observable, switchMap } from 'rxjs';
import type {
  Contribution,
  ContributingSource,
} from '../../../src/pilot-agent/sources/contribution.ts';
import type { SourceChange } from '../../../src/streams/config-source.ts';

/**
 * What a source tells, as single characters: r it listens, x it has changed, . it was read, f it
 * could not be read.
 */
export function signs({ changes$ }: ContributingSource): Observable<string> {
  const letters: Readonly<Record<SourceChange['type'], string>> = {
    ready: 'r',
    changed: 'x',
    'source-read': '.',
    'source-unreadable': 'f',
    'watch-failed': 'w',
  };
  return changes$.pipe(map(({ type }) => letters[type]));
}

/** What a reading gives, as text: `-` for nothing, and `!` after it where there is a trouble. */
export function given({ reading$ }: ContributingSource): Observable<string> {
  const text = ({ content, trouble }: Contribution) =>
    `${typeof content === 'string' ? content : '-'}${trouble === undefined ? '' : '!'}`;
  return reading$.pipe(map(({ config = [] }) => config.map(text).join('')));
}

/** What a reading gives at each value of `when$`, while somebody listens to the source. */
export function givenAt(
  source: ContributingSource,
  when$: Observable<unknown>,
): Observable<string> {
  return when$.pipe(switchMap(() => given(source)));
}
