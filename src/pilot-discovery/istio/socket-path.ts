import { Buffer } from 'node:buffer';
import { type Place, wrong } from './members.ts';

/** In bytes (unix(7)); Envoy refuses a longer one, with all endpoints beside it. */
const longest = 107;

/** Says that Envoy refuses the path of a Unix socket, `/path` or `@name`, for its length. */
export function checkSocketPath(path: string, place: Place): void {
  const bytes = Buffer.byteLength(path);
  if (bytes > longest)
    wrong(place, `the path of a socket has at most ${longest} bytes, and this one ${bytes}`);
}
