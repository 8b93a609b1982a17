import { distinctUntilChanged, type OperatorFunction, pipe, scan } from 'rxjs';
import type { Secret, SecretSet, SetReading } from './secret.ts';
import type { SecretState } from './secret-state.ts';
import { secretVersion } from './secret-version.ts';

/**
 * Makes of the readings of a set the states of one of its secrets: what is refused, or missing in a reading, leaves in place what is served.
 *
 * Emits when the state differs from the one before.
 */
export function keepServed(name: string, kind: Secret['kind']): OperatorFunction<SetReading, SecretState> {
  const start: SecretState = { name, source: '', served: undefined, refused: undefined };
  return pipe(
    scan((state: SecretState, reading: SetReading): SecretState => {
      const { source } = reading;
      if (reading.type === 'refused')
        return { ...state, source: state.served === undefined ? source : state.source, refused: reading.reason };
      const secret = secretOf(reading.set, kind);
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
