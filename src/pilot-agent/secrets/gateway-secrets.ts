import { join } from 'node:path';
import { map, type Observable } from 'rxjs';
import { preferSet } from './keep-served.ts';
import type { Found, SecretSources } from './secret-book.ts';
import { caSuffix, dataKeys } from './secret-data.ts';
import type { SetReading } from './secret.ts';

/** Where the secrets of a gateway are, whatever it is: a folder, or the Kubernetes API. */
export interface GatewaySource {
  /** The set of the secret of this name, as it is, and then as it changes. Never errors. */
  secret(name: string): Observable<SetReading>;
}

/** Served until the secret that is wanted is there; the name is the Go agent's. */
const fallback = 'gateway-fallback';
/** Secrets of the mesh itself, as the Go agent tells them. */
const notForGateways = /^(?:istio|prometheus)/;

/**
 * Finds a gateway's secret by its name: `<name>` is the pair of the secret, `<name>-cacert` its
 * roots, or those of a secret of that name. Undefined for a name that can be none of a secret. As
 * long as there is no pair that can be served, the fallback is.
 */
export function gatewaySecrets(source: GatewaySource): (name: string) => Found | undefined {
  return (name) => {
    // DNS subdomain (RFC 1123), as Kubernetes names secrets: so no name leads out of a folder.
    if (
      !/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name) ||
      name.includes('..') ||
      notForGateways.test(name)
    )
      return undefined;
    if (name.endsWith(caSuffix)) {
      const within$ = source.secret(name.slice(0, -caSuffix.length)).pipe(map(withRoots));
      return { ok: true, kind: 'roots', set$: preferSet(within$, source.secret(name)) };
    }
    return {
      ok: true,
      kind: 'pair',
      set$: preferSet(source.secret(name).pipe(map(withPair)), source.secret(fallback)),
    };
  };
}

function withPair(reading: SetReading): SetReading {
  if (reading.type === 'refused' || reading.refused?.pair === undefined) return reading;
  return { type: 'refused', source: reading.source, reason: reading.refused.pair };
}

function withRoots(reading: SetReading): SetReading {
  if (reading.type === 'refused' || reading.set.roots !== undefined) return reading;
  return {
    type: 'refused',
    source: reading.source,
    reason: reading.refused?.roots ?? `${reading.source}: no root is there`,
  };
}

/**
 * A source that is a folder with a folder for each secret, whose files are its data keys, as
 * Kubernetes mounts them.
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
    secret: (name) =>
      preferSet(sources.files(shaped(name, 'tls')), sources.files(shaped(name, 'generic'))),
  };
}
