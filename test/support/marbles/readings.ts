import { defer, map, type Observable, of } from 'rxjs';
import type {
  ConfigSource,
  SourceChange,
  SourceReading,
} from '../../../src/streams/config-source.ts';
import { type ReadingDelays, readings as readingsOf } from '../../../src/streams/readings.ts';

/** Returns a source whose n-th reading is the n-th character; the last one repeats. */
export function readings(characters: string): Observable<string> {
  let next = 0;
  return defer(() => of(characters.charAt(Math.min(next++, characters.length - 1))));
}

/** A source in a diagram: its changes, and the hashes of its readings. */
export interface DrawnSource {
  readonly changes$: Observable<SourceChange>;
  readonly hash$: Observable<string>;
}

/** Returns a source in the form of the agent: one part, which has the name of the source. */
export function drawnSource({ changes$, hash$ }: DrawnSource, name = 'drawn'): ConfigSource<never> {
  return {
    changes$,
    reading$: hash$.pipe(
      map((hash): SourceReading<never> => ({
        hash,
        config: undefined,
        parts: () => [{ source: name, part: '', hash }],
      })),
    ),
  };
}

/** Returns the hashes of those readings of a source that differ from the reading before. */
export function hashes(source: ConfigSource<never>, delays: ReadingDelays): Observable<string> {
  return readingsOf(source, delays).pipe(map(({ hash }) => hash));
}
