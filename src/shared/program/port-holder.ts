import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { isIP } from 'node:net';
import { basename } from 'node:path';

/** A program that listens on a TCP port of this machine, or of this pod. */
export interface PortHolder {
  /** The address on which it listens. */
  readonly address: string;
  /** The user that owns the socket. */
  readonly uid: number;
  /** Undefined if /proc does not show it: the process of another user or of another container. */
  readonly process?: {
    readonly pid: number;
    /** The name of the program, and of its script. Other arguments may be secret. */
    readonly command: string;
  };
}

interface Listening {
  readonly address: string;
  readonly uid: number;
  readonly inode: string;
}

/** The state of a listening socket, as the kernel prints it. */
const listening = '0A';
const wildcards = ['0.0.0.0', '::'];

/**
 * Returns the first program that listens on `port`, so that no other can listen at `host`;
 * undefined if there is none. Reads /proc, and touches no socket.
 *
 * @param host an IP address; any other text means any address
 */
export function portHolder(port: number, host = ''): PortHolder | undefined {
  return portHolders(port, host)[0];
}

/** Returns all programs that {@link portHolder} could return, each process once. */
export function portHolders(port: number, host = ''): readonly PortHolder[] {
  const sockets = listeners(port).filter(({ address }) => standsInTheWay(address, host));
  if (sockets.length === 0) return [];
  const processes = processesOf(new Set(sockets.map(({ inode }) => `socket:[${inode}]`)));
  const holders = sockets.map(({ address, uid, inode }): PortHolder => {
    const process = processes.get(`socket:[${inode}]`);
    return { address, uid, ...(process !== undefined && { process }) };
  });
  return [
    ...new Map(
      holders.map((holder) => [holder.process?.pid ?? `${holder.uid} ${holder.address}`, holder]),
    ).values(),
  ];
}

/** Returns the name of a holder for a message. Pure. */
export function holderName({ uid, process }: PortHolder): string {
  return process === undefined
    ? `a process of user ${uid} that cannot be seen from here, which may be in another container`
    : `process ${process.pid} (${process.command})`;
}

/**
 * Whether a socket prevents another one at `host`. An IPv6 socket at all addresses usually takes
 * the port of IPv4 too.
 */
function standsInTheWay(address: string, host: string): boolean {
  if (isIP(host) === 0 || wildcards.includes(host) || address === '::') return true;
  return address === host || (address === '0.0.0.0' && isIP(host) === 4);
}

function listeners(port: number): readonly Listening[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return ['tcp', 'tcp6'].flatMap((name) =>
    read(`/proc/net/${name}`)
      .split('\n')
      .slice(1)
      .flatMap((line) => {
        const [, local = '', , state, , , , uid, , inode = ''] = line.trim().split(/\s+/);
        if (state !== listening || !local.endsWith(suffix)) return [];
        return [{ address: addressOf(local.slice(0, -suffix.length)), uid: Number(uid), inode }];
      }),
  );
}

/** Parses an address of four-byte words, with the lowest byte first. */
function addressOf(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) => [
    ...Buffer.from(word, 'hex').reverse(),
  ]);
  if (bytes.length === 4) return bytes.join('.');
  if (bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff)
    return bytes.slice(12).join('.'); // IPv4 in IPv6
  const groups = Array.from({ length: 8 }, (_, index) =>
    (((bytes[2 * index] ?? 0) << 8) | (bytes[2 * index + 1] ?? 0)).toString(16),
  );
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

/** Returns the processes that have these sockets, as far as this user can see them. */
function processesOf(
  sockets: ReadonlySet<string>,
): ReadonlyMap<string, NonNullable<PortHolder['process']>> {
  const pids = list('/proc').filter((name) => /^\d+$/.test(name));
  return new Map(
    pids.flatMap((pid) => {
      const links = list(`/proc/${pid}/fd`).map((descriptor) =>
        linkOf(`/proc/${pid}/fd/${descriptor}`),
      );
      const socketLinks = [...new Set(links)].filter((link) => sockets.has(link));
      return socketLinks.map(
        (link) => [link, { pid: Number(pid), command: commandOf(pid) }] as const,
      );
    }),
  );
}

function commandOf(pid: string): string {
  const [program = '', script = ''] = read(`/proc/${pid}/cmdline`).split('\0');
  const name = program === '' ? read(`/proc/${pid}/comm`).trim() : basename(program);
  return script === '' || script.startsWith('-') ? name : `${name} ${script}`;
}

/** Returns the result of `look`; `otherwise` if the process has ended or may not be seen. */
function or<T>(otherwise: T, look: () => T): T {
  try {
    return look();
  } catch {
    return otherwise;
  }
}

const read = (path: string): string => or('', () => readFileSync(path, 'utf8'));
const list = (path: string): readonly string[] => or([], () => readdirSync(path));
const linkOf = (path: string): string => or('', () => readlinkSync(path));
