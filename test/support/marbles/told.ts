import { map, type Observable, switchMap } from 'rxjs';
import type {
  Contribution,
  ContributingSource,
} from '../../../src/pilot-agent/sources/contribution.ts';
import type { SourceChange } from '../../../src/streams/config-source.ts';

/**
 * Returns the events of a source as single characters: r it listens, x it changed, . it was read,
 * f it could not be read, w its watch failed.
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

/** Returns the content of a reading as text: `-` for none, then `!` if there is a trouble. */
export function given({ reading$ }: ContributingSource): Observable<string> {
  const text = ({ content, trouble }: Contribution) =>
    `${typeof content === 'string' ? content : '-'}${trouble === undefined ? '' : '!'}`;
  return reading$.pipe(map(({ config = [] }) => config.map(text).join('')));
}

/**
 * Emits the content of a reading at each value of `when$`. A test needs a subscriber of `changes$`,
 * which reads the source.
 */
export function givenAt(
  source: ContributingSource,
  when$: Observable<unknown>,
): Observable<string> {
  return when$.pipe(switchMap(() => given(source)));
}
