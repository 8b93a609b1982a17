// Why: docs/decisions/044-a-nacked-secret-is-not-served.md
import {
  combineLatest,
  distinctUntilChanged,
  filter,
  map,
  type Observable,
  type OperatorFunction,
  pipe,
  scan,
} from 'rxjs';
import {
  rejectionText,
  type Secret,
  type SecretAnswer,
  type SecretSet,
  type SecretState,
  secretVersion,
  type SetReading,
  type VersionedSecret,
} from './secret.ts';

/** A secret that can be served, and its source. */
interface SourcedSecret extends VersionedSecret {
  readonly source: string;
}

/** The history of a secret. */
interface Kept {
  /** The source of the last reading. */
  readonly source: string;
  /** The newest secret that can be served, and the one before it. */
  readonly newest: SourcedSecret | undefined;
  readonly previous: SourcedSecret | undefined;
  /** The last secret that an Envoy ACKed. */
  readonly accepted: SourcedSecret | undefined;
  /** Envoy's answer to the newest secret. A NACK stands until there is a newer secret. */
  readonly answer:
    | { readonly kind: 'none' | 'awaited' | 'accepted' }
    | { readonly kind: 'rejected'; readonly reason: string };
  /** Why the last reading cannot be served. */
  readonly flaw: string | undefined;
  /** Why the newest CRLs are not served beside the roots. */
  readonly crlFlaw: string | undefined;
  readonly by: SecretState['by'];
}

const nothing: Kept = {
  source: '',
  newest: undefined,
  previous: undefined,
  accepted: undefined,
  answer: { kind: 'none' },
  flaw: undefined,
  crlFlaw: undefined,
  by: 'reading',
};

/**
 * Turns the readings of a set, and the answers of Envoy, into the states of one of its secrets. If
 * a reading is refused or lacks the secret, or if Envoy NACKs the secret, the one that is served
 * stays.
 *
 * Emits when the state differs from the previous one.
 */
export function keepServed(
  name: string,
  kind: Secret['kind'],
): OperatorFunction<SetReading | SecretAnswer, SecretState> {
  return pipe(
    scan(
      (kept: Kept, event: SetReading | SecretAnswer) =>
        'version' in event ? afterAnswer(kept, event) : afterReading(kept, event, kind),
      nothing,
    ),
    map((kept) => stateOf(name, kept)),
    distinctUntilChanged(
      (a, b) =>
        a.offered?.version === b.offered?.version &&
        a.served?.version === b.served?.version &&
        a.refused === b.refused,
    ),
  );
}

function afterReading(kept: Kept, reading: SetReading, kind: Secret['kind']): Kept {
  const { source } = reading;
  const read: Kept = { ...kept, source, by: 'reading' };
  const flaw = reading.type === 'refused' ? reading.reason : reading.refused?.[kind];
  if (flaw !== undefined) return { ...read, flaw };
  const secret = reading.type === 'set' ? secretOf(reading.set, kind) : undefined;
  if (secret === undefined) return { ...read, flaw: `${source}: it is not there` };
  const newest = { secret, version: secretVersion(secret), source };
  const crlFlaw = kind === 'roots' && reading.type === 'set' ? reading.crlFlaw : undefined;
  const next: Kept = { ...read, newest, flaw: undefined, crlFlaw };
  return newest.version === kept.newest?.version
    ? next
    : { ...next, previous: kept.newest, answer: { kind: 'none' } };
}

function afterAnswer(kept: Kept, answer: SecretAnswer): Kept {
  const { newest, previous } = kept;
  const after: Kept = { ...kept, by: 'answer' };
  const isOfNewest = answer.version === newest?.version && kept.answer.kind !== 'rejected';
  switch (answer.type) {
    case 'pushed':
      return isOfNewest && kept.answer.kind === 'none'
        ? { ...after, answer: { kind: 'awaited' } }
        : after;
    case 'accepted':
      if (isOfNewest) return { ...after, accepted: newest, answer: { kind: 'accepted' } };
      return answer.version === previous?.version ? { ...after, accepted: previous } : after;
    case 'rejected':
      if (isOfNewest && kept.accepted === undefined && hasCrl(newest))
        return withoutCrl(after, newest, answer.reason);
      return isOfNewest
        ? { ...after, answer: { kind: 'rejected', reason: rejectionText(answer.reason) } }
        : after;
  }
}

const hasCrl = ({ secret }: SourcedSecret): boolean =>
  secret.kind === 'roots' && secret.crl !== undefined;

/** Without its roots Envoy would refuse everybody, so it gets them without the CRLs. */
function withoutCrl(kept: Kept, { secret, source }: SourcedSecret, reason: string): Kept {
  const plain: Secret = secret.kind === 'roots' ? { kind: 'roots', roots: secret.roots } : secret;
  return {
    ...kept,
    newest: { secret: plain, version: secretVersion(plain), source },
    answer: { kind: 'none' },
    crlFlaw: `${rejectionText(reason)}; no certificate counts as revoked`,
  };
}

function stateOf(
  name: string,
  { source, newest, accepted, answer, flaw, crlFlaw, by }: Kept,
): SecretState {
  const isRejected = answer.kind === 'rejected';
  const offered = isRejected ? (accepted ?? newest) : newest;
  const served = isRejected ? accepted : answer.kind === 'awaited' ? (accepted ?? newest) : newest;
  const refused = flaw ?? (isRejected ? answer.reason : crlFlaw);
  return { name, source: served?.source ?? source, offered, served, refused, by };
}

function secretOf(
  { pair, roots, trustDomains, crl }: SecretSet,
  kind: Secret['kind'],
): Secret | undefined {
  if (kind === 'pair') return pair === undefined ? undefined : { kind, ...pair };
  if (roots === undefined) return undefined;
  return {
    kind,
    roots,
    ...(trustDomains !== undefined && { trustDomains }),
    ...(crl !== undefined && { crl }),
  };
}

/**
 * Chooses between two sets, once both have emitted. Until the first set can be served, emits the
 * second set if that can be served, otherwise the first. Afterwards emits only the first set. Cold
 * if both are.
 */
export function preferSet(
  first$: Observable<SetReading>,
  second$: Observable<SetReading>,
): Observable<SetReading> {
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
