import { combineLatest, distinctUntilChanged, filter, map, type Observable, type OperatorFunction, pipe, scan } from 'rxjs';
import { type Secret, type SecretSet, type SecretState, secretVersion, type SetReading } from './secret.ts';

/**
 * Makes of the readings of a set the states of one of its secrets: what is refused, or missing in a
 * reading, leaves in place what is served.
 *
 * Emits when the state differs from the one before.
 */
export function keepServed(name: string, kind: Secret['kind']): OperatorFunction<SetReading, SecretState> {
  const start: SecretState = { name, source: '', served: undefined, refused: undefined };
  return pipe(
    scan((state: SecretState, reading: SetReading): SecretState => {
      const { source } = reading;
      const flaw = reading.type === 'refused' ? reading.reason : reading.refused?.[kind];
      if (flaw !== undefined) return { ...state, source: state.served === undefined ? source : state.source, refused: flaw };
      const secret = reading.type === 'set' ? secretOf(reading.set, kind) : undefined;
      if (secret === undefined) return { ...state, source, refused: `${source}: it is not there` };
      return { name, source, served: { secret, version: secretVersion(secret) }, refused: undefined };
    }, start),
    distinctUntilChanged((a, b) => a.served?.version === b.served?.version && a.refused === b.refused),
  );
}

function secretOf({ pair, roots }: SecretSet, kind: Secret['kind']): Secret | undefined {
  if (kind === 'pair') return pair === undefined ? undefined : { kind, ...pair };
  return roots === undefined ? undefined : { kind, roots };
}

/**
 * The first of two sets as soon as it can be served, and from then on; until then the second, if
 * that can be. Emits when both have spoken. As cold as they are.
 */
export function preferSet(first$: Observable<SetReading>, second$: Observable<SetReading>): Observable<SetReading> {
  return combineLatest([first$, second$]).pipe(
    scan(
      ({ isFirst }, [first, second]) => {
        const stays = isFirst || first.type === 'set';
        return { isFirst: stays, reading: !stays && second.type === 'set' ? second : first };
      },
      { isFirst: false, reading: undefined as SetReading | undefined },
    ),
    map(({ reading }) => reading),
    filter((reading) => reading !== undefined),
    distinctUntilChanged(),
  );
}
