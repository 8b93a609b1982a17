import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { defer, type Observable, of, switchMap } from 'rxjs';
import type { AdminClient } from '../admin/admin-client.ts';
import { adminOverride } from './admin-override.ts';
import { followAdmin } from './follow-admin.ts';
import { sharesPorts } from './shares-ports.ts';

/** What an Envoy is started from, what is put over that, and where its admin endpoint then is, if that is not what its configuration says. */
export interface Standing {
  readonly config: string;
  readonly override: string;
  readonly ipv6: boolean;
  readonly adminPort?: number;
}

/**
 * Finds out how an Envoy can be started beside the one that `admin` leads to, and emits that once, undefined if it can not be: with the same
 * configuration, but an admin endpoint of its own, and clusters that follow it, for which the configuration is written to `copy`. Cold.
 */
export function standBeside(given: Standing, admin: AdminClient, copy: string): Observable<Standing | undefined> {
  return defer(() => readFile(given.config, 'utf8').catch(() => '')).pipe(
    switchMap((text) => sharesPorts(admin, text).pipe(switchMap((shared) => (shared ? prepare(given, text, copy) : of(undefined))))),
  );
}

async function prepare(given: Standing, text: string, copy: string): Promise<Standing> {
  const host = given.ipv6 ? '::1' : '127.0.0.1';
  const adminPort = await freePort(host);
  const followed = followAdmin(text, adminPort);
  if (followed !== undefined) await writeFile(copy, followed, { mode: 0o600 });
  const override = await adminOverride(given.override, host, adminPort);
  return { ...given, config: followed === undefined ? given.config : copy, override, adminPort };
}

function freePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, host, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
