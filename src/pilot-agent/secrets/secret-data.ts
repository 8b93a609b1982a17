import { checkedSet } from './checked-set.ts';
import type { SetReading } from './secret.ts';
import { ownMember } from '../../shared/text/own-member.ts';

/**
 * The data keys of a Secret, in the order of the Go agent: those of a generic Secret, then those of
 * `kubernetes.io/tls`.
 */
export const dataKeys = {
  generic: { chain: 'cert', key: 'key', root: 'cacert' },
  tls: { chain: 'tls.crt', key: 'tls.key', root: 'ca.crt' },
} as const;

/** The suffix in the name of a Secret that has only roots. */
export const caSuffix = '-cacert';

/**
 * Reads the set in the data of a Secret: a pair, roots, or both. In a Secret whose name ends with
 * `-cacert`, a certificate without a key is a root. Pure.
 *
 * @param content its data by key
 * @param place its place, for a person
 * @param now ms since 1970
 */
export function secretReading(
  place: string,
  name: string,
  content: string | Uint8Array | object,
  now: number,
): SetReading {
  if (typeof content === 'string' || content instanceof Uint8Array) {
    return {
      type: 'refused',
      source: place,
      reason: `${place}: it is a single text, and not a Secret with a key for each part`,
    };
  }
  const data = bytesIn(content);
  const textOf = (key: string) => ownMember(data, key)?.toString();
  const { generic, tls } = dataKeys;
  const names =
    [generic, tls].find(({ chain, key }) => chain in data && key in data) ??
    (generic.chain in data ? generic : tls);
  const [chain, key] = [textOf(names.chain), data[names.key]];
  const ca = [
    generic.root,
    tls.root,
    ...(name.endsWith(caSuffix) && key === undefined ? [tls.chain] : []),
  ].find((candidate) => candidate in data);
  const roots = ca === undefined ? undefined : textOf(ca);
  const isHalf = (chain === undefined) !== (key === undefined) && ca !== tls.chain;
  const half =
    chain === undefined
      ? `${names.chain}: the certificate is missing`
      : `${names.key}: the key is missing`;
  return checkedSet(
    {
      source: place,
      places: { pair: `${place}: ${names.chain}, ${names.key}`, roots: `${place}: ${ca ?? ''}` },
      set: {
        ...(chain !== undefined && key !== undefined && { pair: { chain, key } }),
        ...(roots !== undefined && { roots }),
      },
      flaws: isHalf ? { pair: `${place}: ${half}` } : {},
    },
    now,
  );
}

/** Returns the bytes by key. Values that are neither bytes nor a text do not belong to a Secret. */
function bytesIn(content: object): Readonly<Record<string, Buffer>> {
  const entries = Object.entries(content).flatMap(([key, value]: readonly [string, unknown]) =>
    value instanceof Uint8Array || typeof value === 'string'
      ? [[key, Buffer.from(value as Uint8Array)] as const]
      : [],
  );
  return Object.fromEntries(entries);
}
