import type { SdsEvent } from '../../secrets/sds/sds-telemetry.ts';
import { rejectionText, type SecretState } from '../../secrets/secret.ts';
import { type AwaitedAuthority, awaitedText } from './awaited-authority.ts';

/** What is wrong with one secret. */
export interface SecretTrouble {
  readonly name: string;
  readonly reason: string;
  /** Envoy has one, and what came last is refused; else it asks for one and there is none. */
  readonly isServed: boolean;
}

/** What is wrong with the secrets, and what of it was told. A fold of what happens with them. */
export interface SecretTroubles {
  /** By stream: what its client asks for in vain, or rejects while it has no other; and why. */
  readonly missing: ReadonlyMap<number, ReadonlyMap<string, string>>;
  /** The secrets of which there is one that Envoy has, or is given. */
  readonly served: ReadonlySet<string>;
  /** What is served, and why what came last is refused. */
  readonly refused: ReadonlyMap<string, string>;
  /** By secret: the reasons that were told for that there is none. */
  readonly told: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Of what was told: a control plane may name ever new secrets. */
const mostTold = 1_000;

export const noTroubles: SecretTroubles = {
  missing: new Map(),
  served: new Set(),
  refused: new Map(),
  told: new Map(),
};

/** What is wrong once a secret is in another state. Pure. */
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
    told: without(before.told, name),
  };
}

/** What is wrong once more has happened on the streams. Pure. */
export function afterSds(before: SecretTroubles, event: SdsEvent): SecretTroubles {
  switch (event.type) {
    case 'listening': // the streams of a server that has failed are gone with it
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
      const told = before.told.get(name) ?? new Set();
      return {
        ...lacking(before, event),
        told: new Map(before.told.size < mostTold ? before.told : []).set(
          name,
          new Set([...told, reason]),
        ),
      };
    }
    default:
      return before;
  }
}

/** The client of a stream has nothing under a name. */
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
 * Whether the log has it already: a name is missed on every stream, and an authority asked again.
 * Pure.
 */
export function wasTold({ told }: SecretTroubles, event: SdsEvent): boolean {
  return event.type === 'missing' && told.get(event.name)?.has(event.reason) === true;
}

/** Each secret with which something is wrong, once: those that are missing first. Pure. */
export function listTroubles({ missing, refused }: SecretTroubles): readonly SecretTrouble[] {
  const wanted = new Map([...missing.values()].flatMap((names) => [...names]));
  return [
    ...[...wanted].map(([name, reason]) => ({ name, reason, isServed: false })),
    ...[...refused].map(([name, reason]) => ({ name, reason, isServed: true })),
  ];
}

/**
 * Without one of its own secrets a workload can answer nobody by mTLS. Those of a gateway are one
 * host's each.
 */
const ofWorkload = /^(?:default$|ROOTCA$|file-cert:|file-root:)/;

/** What an authority gives, where there is one. */
const ofAuthority = /^(?:default|ROOTCA)$/;

/**
 * Why Envoy is not ready for want of a secret: the first of the workload's own that it asks for and
 * that cannot be served; undefined if there is none. Pure.
 */
export function secretUnready(
  troubles: readonly SecretTrouble[],
  authority: AwaitedAuthority | undefined,
): string | undefined {
  const trouble = troubles.find(({ name, isServed }) => !isServed && ofWorkload.test(name));
  return trouble === undefined ? undefined : told(trouble, authority);
}

/** Why Envoy may wait without asking for a secret: its control plane wants a certificate. Pure. */
export function uncertified(authority: AwaitedAuthority): string {
  return `no certificate yet: ${awaitedText(authority)}`;
}

/** The others, which speak against nothing. Pure. */
export function secretNotes(
  troubles: readonly SecretTrouble[],
  authority: AwaitedAuthority | undefined,
): readonly string[] {
  const reason = secretUnready(troubles, authority);
  return troubles.map((trouble) => told(trouble, authority)).filter((text) => text !== reason);
}

function told(
  { name, reason, isServed }: SecretTrouble,
  authority: AwaitedAuthority | undefined,
): string {
  if (isServed) return `secret ${name} refused: ${reason}`;
  return `secret ${name}: ${authority !== undefined && ofAuthority.test(name) ? awaitedText(authority) : reason}`;
}

function without<K, V>(map: ReadonlyMap<K, V>, key: K): ReadonlyMap<K, V> {
  return map.has(key) ? new Map([...map].filter(([each]) => each !== key)) : map;
}
