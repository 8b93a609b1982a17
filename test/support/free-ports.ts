import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

/**
 * Resolves to `count` ports of 127.0.0.1 in a row that nobody listens on, and that no process of
 * this machine that lives has got from here. Some programs are told one port and take the next ones
 * too.
 *
 * They are outside the range from which the kernel takes the local ports of outgoing connections,
 * so that none of those can take one before its user binds it. Test files run side by side, so each
 * port is claimed before it is tried: a try takes it for a moment from who is about to bind it.
 */
export async function freePorts(count: number): Promise<number[]> {
  const { lowest, highest } = range();
  const ports: number[] = [];
  let port = lowest + Math.floor(Math.random() * (highest - lowest));
  for (let tried = 0; ports.length < count; tried++) {
    if (tried > highest - lowest)
      throw new Error(`no ${count} free ports from ${lowest} to ${highest}`);
    port = port < highest ? port + 1 : lowest;
    if (port === lowest) ports.length = 0;
    if ((await isClaimed(port)) && (await isFree(port))) ports.push(port);
    else ports.length = 0;
  }
  return ports;
}

function range(): { lowest: number; highest: number } {
  const [first = 32_768, last = 60_999] = readFileSync(
    '/proc/sys/net/ipv4/ip_local_port_range',
    'utf8',
  )
    .trim()
    .split(/\s+/)
    .map(Number);
  if (first > 12_000) return { lowest: 10_000, highest: first - 1 };
  if (last < 64_000) return { lowest: last + 1, highest: 65_535 };
  return { lowest: 20_000, highest: 32_767 }; // the kernel keeps nothing back here: a collision is possible, if unlikely
}

/** Claims a port until this process ends, by an abstract socket; false if another one has. */
function isClaimed(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const claim = createServer().unref();
    claim.once('error', () => resolve(false));
    claim.listen(`\0${`pilot-agent-test-port-${port}`.padEnd(107, '-')}`, () => resolve(true));
  });
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
