import { defer, map, type Observable, of } from 'rxjs';
import type {
  ConfigSource,
  SourceChange,
  SourceReading,
} from '../../../src/streams/config-source.ts';
import { type ReadingDelays, readings as readingsOf } from '../../../src/streams/readings.ts';

/** A source whose n-th reading is the n-th character, and stays at the last. */
export function readings(characters: string): Observable<string> {
  let next = 0;
  return defer(() => of(characters.charAt(Math.min(next++, characters.length - 1))));
}

/** A source, drawn: its changes, and its readings by their hashes. */
export interface DrawnSource {
  readonly changes$: Observable<SourceChange>;
  readonly hash$: Observable<string>;
}

/** A drawn source as the agent has it: one part, which has the name of the source. */
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

/** The hashes of the readings of a source that differ from the one before. */
export function hashes(source: ConfigSource<never>, delays: ReadingDelays): Observable<string> {
  return readingsOf(source, delays).pipe(map(({ hash }) => hash));
}
