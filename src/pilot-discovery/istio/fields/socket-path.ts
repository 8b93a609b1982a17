import { Buffer } from 'node:buffer';
import { type Place, wrong } from './members.ts';

/**
 * In bytes (unix(7)). Envoy NACKs a longer path together with all other endpoints of the cluster.
 */
const longest = 107;

/** Reports the path of a Unix socket, `/path` or `@name`, if it is too long for Envoy. */
export function checkSocketPath(path: string, place: Place): void {
  const bytes = Buffer.byteLength(path);
  if (bytes > longest)
    wrong(place, `the path of a socket has at most ${longest} bytes, and this one ${bytes}`);
}
