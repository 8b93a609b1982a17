import type { SdsEvent } from '../../secrets/sds/sds-telemetry.ts';
import { rejectionText, type SecretState } from '../../secrets/secret.ts';
import { type AwaitedAuthority, awaitedText } from './awaited-authority.ts';

/** The trouble of one secret. */
export interface SecretTrouble {
  readonly name: string;
  readonly reason: string;
  /**
   * Envoy has this secret, and the newest version is refused. If false, Envoy asks for it and gets
   * none.
   */
  readonly isServed: boolean;
}

/** The troubles of all secrets, and which of them were logged: a fold of their events. */
export interface SecretTroubles {
  /**
   * By stream: the secrets that its client lacks, and why. Either none can be served, or the client
   * NACKed the secret and has no other version.
   */
  readonly missing: ReadonlyMap<number, ReadonlyMap<string, string>>;
  /** The secrets that Envoy has, or is given. */
  readonly served: ReadonlySet<string>;
  /** The secrets that are served, and why their newest version is refused. */
  readonly refused: ReadonlyMap<string, string>;
  /** By secret: the reasons for its absence that were logged. */
  readonly logged: ReadonlyMap<string, ReadonlySet<string>>;
}

/** The limit of logged secrets: a control plane may name new secrets without end. */
const mostLogged = 1_000;

export const noTroubles: SecretTroubles = {
  missing: new Map(),
  served: new Set(),
  refused: new Map(),
  logged: new Map(),
};

/** Returns the troubles after a change of a secret. Pure. */
export function afterState(
  before: SecretTroubles,
  { name, served, refused }: SecretState,
): SecretTroubles {
  const others = new Set([...before.served].filter((other) => other !== name));
  if (served === undefined)
    return { ...before, served: others, refused: without(before.refused, name) };
  return {
    served: others.add(name),
    missing: new Map([...before.missing].map(([stream, names]) => [stream, without(names, name)])),
    refused:
      refused === undefined
        ? without(before.refused, name)
        : new Map(before.refused).set(name, refused),
    logged: without(before.logged, name),
  };
}

/** Returns the troubles after one more event of the streams. Pure. */
export function afterSds(before: SecretTroubles, event: SdsEvent): SecretTroubles {
  switch (event.type) {
    case 'listening': // the streams of a failed server are gone with it
      return { ...before, missing: new Map() };
    case 'stream-closed':
      return { ...before, missing: without(before.missing, event.stream) };
    case 'rejected':
      return [...event.versions.keys()]
        .filter((name) => !before.served.has(name))
        .reduce(
          (after, name) =>
            lacking(after, { stream: event.stream, name, reason: rejectionText(event.reason) }),
          before,
        );
    case 'missing': {
      const { name, reason } = event;
      const reasons = before.logged.get(name) ?? new Set();
      return {
        ...lacking(before, event),
        logged: new Map(before.logged.size < mostLogged ? before.logged : []).set(
          name,
          new Set([...reasons, reason]),
        ),
      };
    }
    default:
      return before;
  }
}

/** Records that the client of a stream has no secret under a name. */
function lacking(
  before: SecretTroubles,
  {
    stream,
    name,
    reason,
  }: { readonly stream: number; readonly name: string; readonly reason: string },
): SecretTroubles {
  return {
    ...before,
    missing: new Map(before.missing).set(
      stream,
      new Map(before.missing.get(stream)).set(name, reason),
    ),
  };
}

/**
 * Returns whether this was logged before: each stream reports a missing secret, and an authority is
 * asked repeatedly. Pure.
 */
export function wasLogged({ logged }: SecretTroubles, event: SdsEvent): boolean {
  return event.type === 'missing' && logged.get(event.name)?.has(event.reason) === true;
}

/** Returns the trouble of each secret once, missing secrets first. Pure. */
export function listTroubles({ missing, refused }: SecretTroubles): readonly SecretTrouble[] {
  const wanted = new Map([...missing.values()].flatMap((names) => [...names]));
  return [
    ...[...wanted].map(([name, reason]) => ({ name, reason, isServed: false })),
    ...[...refused].map(([name, reason]) => ({ name, reason, isServed: true })),
  ];
}

/**
 * The secrets of the workload: if one is missing, the workload cannot answer any client by mTLS. A
 * secret of a gateway concerns one host.
 */
const ofWorkload = /^(?:default$|ROOTCA$|file-cert:|file-root:)/;

/** The secrets that an authority provides, if there is one. */
const ofAuthority = /^(?:default|ROOTCA)$/;

/**
 * Returns why a missing secret makes Envoy not ready: the first secret of the workload that Envoy
 * requests and that cannot be served. Undefined if there is none. Pure.
 */
export function secretUnready(
  troubles: readonly SecretTrouble[],
  authority: AwaitedAuthority | undefined,
): string | undefined {
  const trouble = troubles.find(({ name, isServed }) => !isServed && ofWorkload.test(name));
  return trouble === undefined ? undefined : troubleText(trouble, authority);
}

/**
 * Explains why Envoy may wait without a request for a secret: its control plane requires a
 * certificate. Pure.
 */
export function uncertified(authority: AwaitedAuthority): string {
  return `no certificate yet: ${awaitedText(authority)}`;
}

/** Returns the troubles that do not affect readiness. Pure. */
export function secretNotes(
  troubles: readonly SecretTrouble[],
  authority: AwaitedAuthority | undefined,
): readonly string[] {
  const reason = secretUnready(troubles, authority);
  return troubles
    .map((trouble) => troubleText(trouble, authority))
    .filter((text) => text !== reason);
}

function troubleText(
  { name, reason, isServed }: SecretTrouble,
  authority: AwaitedAuthority | undefined,
): string {
  if (isServed) return `secret ${name} refused: ${reason}`;
  return `secret ${name}: ${authority !== undefined && ofAuthority.test(name) ? awaitedText(authority) : reason}`;
}

function without<K, V>(map: ReadonlyMap<K, V>, key: K): ReadonlyMap<K, V> {
  return map.has(key) ? new Map([...map].filter(([entryKey]) => entryKey !== key)) : map;
}
