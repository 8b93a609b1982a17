import { join } from 'node:path';
import { map, type Observable } from 'rxjs';
import { preferSet } from './keep-served.ts';
import type { SecretLookup, SecretSources } from './secret-book.ts';
import { caSuffix, dataKeys } from './secret-data.ts';
import type { SetReading } from './secret.ts';

/** The source of a gateway's secrets: a folder, or the Kubernetes API. */
export interface GatewaySource {
  /** Emits the set of the secret with this name, and then its changes. Never errors. */
  secret(name: string): Observable<SetReading>;
}

/** Served until the wanted secret exists; the name is the Go agent's. */
const fallback = 'gateway-fallback';
/** The secrets of the mesh itself, by the rule of the Go agent. */
const notForGateways = /^(?:istio|prometheus)/;

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
    secret: (name) =>
      preferSet(sources.files(shaped(name, 'tls')), sources.files(shaped(name, 'generic'))),
  };
}
