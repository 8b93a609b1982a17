import type { SubscriptionPolicy } from '../../../shared/xds/type-subscription.ts';
import type { VersionedSecret } from '../secret.ts';
import type { StreamAnswer } from './stream-event.ts';

/** An offer under a name: a secret, or `none` if there is no such secret. */
export type OfferedSecret = VersionedSecret | 'none';

/** The newest offer under each name that the client wants. */
export type OfferedSecrets = ReadonlyMap<string, OfferedSecret>;

/** A subscription to secrets. Its answers are numbered; the nonce is the number. */
export interface SecretKind {
  readonly resource: OfferedSecret;
  readonly had: Pick<VersionedSecret, 'version'>;
  readonly source: OfferedSecrets;
  readonly note: undefined;
  readonly message: StreamAnswer;
  readonly context: OfferedSecrets;
  readonly reason: never;
}

/**
 * Decides which secrets a client is sent. A NACKed version is not sent again. If the secret then
 * returns to the version before it, that version is sent again, because the client may have dropped
 * both. A client gets only secrets that it names, so there is no wildcard. An answer about missing
 * secrets has no secrets in it, because the client NACKs the whole answer.
 */
export const secretPolicy: SubscriptionPolicy<SecretKind> = {
  wildcard: 'never',
  staleNames: 'ignored',
  holdsBack: 'each',
  had: (_, version) => ({ version }),
  blamed: () => [],
  isSame: (previous, offered) =>
    previous === 'none' || offered === 'none'
      ? previous === offered
      : previous.version === offered.version,
  isSameSource: (a, b) => a === b,
  resourcesOf: (offered) => offered,
  choose({ changed: lacks, missing }, { answers, claimed, names }, offered) {
    if (lacks.size === 0) return { type: 'nothing' };
    // In the order in which they came.
    const changed = new Map([...offered].filter(([name]) => lacks.has(name)));
    const secrets = secretsOf(changed);
    const all = secretsOf(offered);
    if (answers === 0 && all.size === names.size && claimed === versionOf(all))
      return { type: 'has' }; // it reconnected and still has all of them
    if (secrets.size === 0 || secrets.size === changed.size)
      return { type: 'give', given: changed, removed: [], unanswered: missing, leaves: 'nothing' };
    const unanswered = [...missing, ...[...changed.keys()].filter((name) => !secrets.has(name))];
    return { type: 'give', given: secrets, removed: [], unanswered, leaves: 'more' };
  },
  write({ given }, { answers }, offered) {
    const nonce = String(answers + 1);
    const secrets = secretsOf(given);
    const version = versionOf(secretsOf(offered));
    const message: StreamAnswer =
      secrets.size === 0
        ? { type: 'decline', nonce, names: [...given.keys()] }
        : { type: 'push', push: { nonce, version, secrets } };
    return { nonce, note: undefined, message };
  },
};

/** Returns the offers that are secrets. Pure. */
export function secretsOf(offered: OfferedSecrets): ReadonlyMap<string, VersionedSecret> {
  return new Map(
    [...offered].flatMap(([name, secret]) => (secret === 'none' ? [] : [[name, secret]])),
  );
}

/**
 * Returns the version of an answer: the joined versions of all secrets that the client has after
 * it.
 */
function versionOf(secrets: ReadonlyMap<string, VersionedSecret>): string {
  return [...secrets]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { version }]) => version)
    .join('+');
}
