import { join } from 'node:path';
import { map, type Observable } from 'rxjs';
import { preferSet } from './keep-served.ts';
import type { SecretLookup, SecretSources } from './secret-book.ts';
import { caSuffix, dataKeys } from './secret-data.ts';
import type { Secret, SetReading } from './secret.ts';

/** The source of a gateway's secrets: a folder, or the Kubernetes API. */
export interface GatewaySource {
  /**
   * Emits the set of the secret with this name, and then its changes. Never errors.
   *
   * @param kind the part that is wanted
   */
  secret(name: string, kind: Secret['kind']): Observable<SetReading>;
}

/** Served until the wanted secret exists; the name is the Go agent's. */
const fallback = 'gateway-fallback';
/** The secrets of the mesh itself, by the rule of the Go agent. */
const notForGateways = /^(?:istio|prometheus)/;
const lacks = { pair: 'no certificate is there', roots: 'no root is there' } as const;

/**
 * Finds a gateway's secret by its name: `<name>` is the pair of the secret, `<name>-cacert` its
 * roots, or the roots of the secret with that full name. Undefined for a name that no secret can
 * have. While no pair can be served, the fallback is served.
 */
export function gatewaySecrets(source: GatewaySource): (name: string) => SecretLookup | undefined {
  return (name) => {
    // A DNS subdomain (RFC 1123), as Kubernetes names secrets: so no name leads out of a folder.
    if (
      !/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name) ||
      name.includes('..') ||
      notForGateways.test(name)
    )
      return undefined;
    const kind = name.endsWith(caSuffix) ? 'roots' : 'pair';
    const [first, second] =
      kind === 'roots' ? [name.slice(0, -caSuffix.length), name] : [name, fallback];
    const [first$, second$] = [source.secret(first, kind), source.secret(second, kind)];
    return { ok: true, kind, set$: preferPart(kind, first$, second$) };
  };
}

/** Chooses between two sets as {@link preferSet}, by one of their parts. */
function preferPart(
  kind: Secret['kind'],
  first$: Observable<SetReading>,
  second$: Observable<SetReading>,
): Observable<SetReading> {
  return preferSet(first$.pipe(map(withPart(kind))), second$.pipe(map(withPart(kind))));
}

/** Refuses a set without this part, so that another set is used. */
function withPart(kind: Secret['kind']): (reading: SetReading) => SetReading {
  return (reading) => {
    if (reading.type === 'refused') return reading;
    const { source, set, refused } = reading;
    const flaw =
      refused?.[kind] ?? (set[kind] === undefined ? `${source}: ${lacks[kind]}` : undefined);
    return flaw === undefined ? reading : { type: 'refused', source, reason: flaw };
  };
}

/**
 * Returns a source from a folder that has one folder for each secret. Its files are the data keys
 * of the secret, as Kubernetes mounts them.
 */
export function gatewayFolder(
  folder: string,
  sources: Pick<SecretSources, 'files'>,
): GatewaySource {
  const shaped = (name: string, shape: keyof typeof dataKeys) => {
    const { chain, key, root } = dataKeys[shape];
    return {
      chain: join(folder, name, chain),
      key: join(folder, name, key),
      root: join(folder, name, root),
    };
  };
  return {
    secret: (name, kind) => {
      const [tls$, generic$] = [
        sources.files(shaped(name, 'tls')),
        sources.files(shaped(name, 'generic')),
      ];
      return preferPart(kind, tls$, generic$);
    },
  };
}
