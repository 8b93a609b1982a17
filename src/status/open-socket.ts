import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Observable } from 'rxjs';

/**
 * Connects on subscribe; emits the socket when it can be spoken on, and does not complete:
 * unsubscribing destroys it. Errors if there is no connection. With `secure` it speaks TLS, takes
 * any certificate, as the kubelet does, and offers HTTP/2.
 */
export function openSocket(host: string, port: number, secure?: { readonly name: string }): Observable<Socket> {
  return new Observable((subscriber) => {
    const at = { host, port };
    const socket =
      secure === undefined
        ? connectTcp(at)
        : connectTls({ ...at, rejectUnauthorized: false, ALPNProtocols: ['h2', 'http/1.1'], ...(isIP(secure.name) === 0 && { servername: secure.name }) }); // prettier-ignore
    socket.on('error', (error) => subscriber.error(error));
    socket.once(secure === undefined ? 'connect' : 'secureConnect', () => subscriber.next(socket));
    return () => socket.destroy();
  });
}
