import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

/**
 * Resolves to `count` consecutive ports of 127.0.0.1 on which no process listens. No other call in
 * a process that still runs has returned one of them. They are consecutive because some programs
 * take one port as an argument and use the next ones too.
 *
 * They are outside the range from which the kernel takes the local ports of outgoing connections.
 * So no such connection can take a port before its user binds it. Test files run side by side, and
 * a try binds a port for a moment. So a port is claimed before it is tried, or the try could
 * disturb a process that is about to bind it.
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
  // The standard of `fetch` forbids 10080, as the last port of its list.
  if (first > 12_000) return { lowest: 10_081, highest: first - 1 };
  if (last < 64_000) return { lowest: last + 1, highest: 65_535 };
  // These ports are inside the range of the kernel: a collision is possible, but unlikely.
  return { lowest: 20_000, highest: 32_767 };
}

/** Claims a port until this process ends, by an abstract socket; false if it is claimed already. */
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
