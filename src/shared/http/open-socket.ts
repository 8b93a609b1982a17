// Why: docs/decisions/055-the-application-is-parsed-leniently.md
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Observable } from 'rxjs';
import { knownAddresses } from './local-lookup.ts';

/**
 * How to parse answers of the pod's own application, and of no other server. An answer that Go's
 * client accepts must not make the application unhealthy. Headers may have 1 MB, and lines may be
 * folded or end without a carriage return.
 */
export const lenient = { maxHeaderSize: 1 << 20, insecureHTTPParser: true } as const;

/** The options of TLS with a server. */
export interface Secure {
  /**
   * The name of the server in TLS; that of the host if undefined. An address is not sent as a name.
   */
  readonly name: string | undefined;
}

/** Returns the hosts of a probe: `localhost` means every address of this pod. Pure. */
export function hostsOf(host: string, localHosts: readonly string[]): readonly string[] {
  return host === 'localhost' ? localHosts : [host];
}

/**
 * Connects on subscribe; emits the socket when it is ready, and does not complete: unsubscribing
 * destroys it. Tries the hosts in their order, `localhost` as 127.0.0.1 and ::1. Errors if there is
 * no connection. With `secure` it speaks TLS, takes any certificate, as the kubelet does, and
 * offers HTTP/2.
 */
export function openSocket(
  hosts: readonly string[],
  port: number,
  secure?: Secure,
): Observable<Socket> {
  return new Observable((subscriber) => {
    const tried = new Set<Socket>();
    const attempt = ({ host, address }: Place, others: readonly Place[]) => {
      const socket = socketTo(address, port, secure && (secure.name ?? host));
      tried.add(socket);
      socket.on('error', (error: NodeJS.ErrnoException) => {
        const [next, ...rest] = others;
        if (error.syscall !== 'connect' || next === undefined) subscriber.error(error);
        else if (!subscriber.closed) attempt(next, rest);
      });
      socket.once(secure === undefined ? 'connect' : 'secureConnect', () =>
        subscriber.next(socket),
      );
    };
    const [first = { host: '', address: '' }, ...others] = hosts.flatMap((host) =>
      knownAddresses(host).map((address) => ({ host, address })),
    );
    attempt(first, others);
    return () => tried.forEach((socket) => socket.destroy());
  });
}

interface Place {
  readonly host: string;
  readonly address: string;
}

/** Connects to a host; with a name it speaks TLS. */
function socketTo(host: string, port: number, name: string | undefined): Socket {
  if (name === undefined) return connectTcp({ host, port });
  const named = isIP(name) === 0 && { servername: name };
  return connectTls({
    host,
    port,
    rejectUnauthorized: false,
    ALPNProtocols: ['h2', 'http/1.1'],
    ...named,
  });
}
