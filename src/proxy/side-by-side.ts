import { createServer } from 'node:net';
import { defer, map, type Observable, of, switchMap } from 'rxjs';
import type { AdminClient } from './admin-client.ts';
import { largest, readOutside } from '../shared/files/outside-file.ts';
import { writeWhole } from '../shared/files/whole-file.ts';
import { sharesPorts } from './admin-questions.ts';
import { parseJson } from '../shared/text/parse-json.ts';

/**
 * The configuration from which an Envoy is started, what is merged over it, and the port of its
 * admin endpoint if that differs from the configuration.
 */
export interface StartFrom {
  readonly config: string;
  readonly override: string;
  readonly ipv6: boolean;
  readonly adminPort?: number;
}

/**
 * Emits once how an Envoy can be started beside the Envoy of `admin`; undefined if it cannot be
 * started there. The new one has the same configuration, but a separate admin endpoint. If clusters
 * must follow that endpoint, the configuration is written to `copy`. Cold; errors if there is no
 * free port, or if `copy` cannot be written.
 */
export function sideBySide(
  given: StartFrom,
  admin: AdminClient,
  copy: string,
): Observable<StartFrom | undefined> {
  return defer(() => readOutside(given.config, largest.envoy)).pipe(
    map((file) => (file.kind === 'read' ? file.bytes.toString() : '')),
    switchMap((text) =>
      sharesPorts(admin, text).pipe(
        switchMap((shared) => (shared ? prepare(given, text, copy) : of(undefined))),
      ),
    ),
  );
}

async function prepare(given: StartFrom, text: string, copy: string): Promise<StartFrom> {
  const host = given.ipv6 ? '::1' : '127.0.0.1';
  const adminPort = await freePort(host);
  const followed = followAdmin(text, adminPort);
  if (followed !== undefined) writeWhole(copy, followed);
  const override = adminOverride(host, adminPort);
  return { ...given, config: followed === undefined ? given.config : copy, override, adminPort };
}

function freePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, host, () => {
      const address = server.address();
      server.close(() =>
        resolve(typeof address === 'object' && address !== null ? address.port : 0),
      );
    });
  });
}

/** Returns the override that moves Envoy's admin endpoint to `port`. */
export function adminOverride(host: string, port: number): string {
  return JSON.stringify({
    admin: { address: { socket_address: { address: host, port_value: port } } },
  });
}

/**
 * Returns the bootstrap `text` with changed clusters. If a cluster leads to the admin endpoint of
 * this bootstrap on a loopback address, it leads to `port` instead. So a listener for metrics
 * follows a rescue. Undefined if it has no such cluster, or is not JSON; the agent's own
 * configuration is JSON. Pure.
 */
export function followAdmin(text: string, port: number): string | undefined {
  const bootstrap = parse(text);
  const adminPort = portOf(bootstrap?.admin?.address);
  if (bootstrap === undefined || adminPort === undefined) return undefined;
  const clusters = bootstrap.static_resources?.clusters ?? [];
  const before = JSON.stringify(clusters);
  const after = JSON.stringify(clusters, (_, value: unknown) =>
    portOf(value) === adminPort
      ? {
          ...(value as Address),
          socket_address: { ...(value as Address).socket_address, port_value: port },
        }
      : value,
  );
  if (before === after) return undefined;
  return JSON.stringify({
    ...bootstrap,
    static_resources: { ...bootstrap.static_resources, clusters: parseJson(after) },
  });
}

interface Address {
  readonly socket_address?: { readonly address?: string; readonly port_value?: number };
}

interface Bootstrap {
  readonly admin?: { readonly address?: Address };
  readonly static_resources?: { readonly clusters?: readonly unknown[] };
}

/** Returns the port of a loopback address. */
function portOf(value: unknown): number | undefined {
  const { address, port_value: port } = (value as Address | null | undefined)?.socket_address ?? {};
  return address !== undefined && /^(127\.|::1$|localhost$)/.test(address) ? port : undefined;
}

function parse(text: string): Bootstrap | undefined {
  try {
    return parseJson(text) as Bootstrap;
  } catch {
    return undefined;
  }
}
