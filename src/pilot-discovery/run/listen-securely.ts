// Why: docs/decisions/098-a-call-has-a-caller.md
import type { Socket } from 'node:net';
import type { Server, TLSSocket } from 'node:tls';
import {
  connect,
  defer,
  filter,
  ignoreElements,
  map,
  merge,
  mergeMap,
  Observable,
  of,
  pairwise,
  switchMap,
  take,
  tap,
} from 'rxjs';
import { ofType } from '../../operators/tagged-union.ts';
import { pemCertificates, timesOf } from '../../shared/certificates/key-pair-flaw.ts';
import type { ServingEvent } from '../identity/serving-files.ts';
import { renewServer, tlsServer } from '../identity/tls-server.ts';
import { mayRefuse, verifiedClients } from '../identity/verified-clients.ts';
import { clientLimits } from '../push/client-limits.ts';
import type { DiscoveryEvent } from '../state/discovery-event.ts';
import type { GrpcPort } from './grpc-port.ts';

/**
 * Listens on a port with TLS, once there is a certificate. A later certificate is for connections
 * that begin after it. If TLS cannot use one, emits the reason, and the previous one stays. If CRLs
 * change, or a root is removed, closes the connections that have a client certificate. Hands
 * each connection to `admit` after its handshake, with or without a client certificate. Never
 * completes, never errors. Stops listening on unsubscribe.
 */
export function listenSecurely(
  port: GrpcPort,
  serving$: Observable<ServingEvent>,
  admit: (socket: TLSSocket) => void,
): Observable<DiscoveryEvent> {
  return defer(() => {
    const tls = tlsServer(clientLimits.silence.value);
    const verified = verifiedClients(tls);
    return serving$.pipe(
      map((event) => usedBy(tls, event)),
      connect((event$) =>
        merge(
          event$.pipe(mergeMap(eventsOf)),
          event$.pipe(
            ofType('serving'),
            pairwise(),
            filter(([before, after]) => mayRefuse(before.serving, after.serving)),
            tap(() => verified.close()),
            ignoreElements(),
          ),
          event$.pipe(
            ofType('serving'),
            take(1),
            switchMap(() => listenWith(port, tls, admit)),
          ),
        ),
      ),
    );
  });
}

function usedBy(tls: Server, event: ServingEvent): ServingEvent {
  if (event.type === 'unserved') return event;
  const reason = renewServer(tls, event.serving);
  return reason === undefined ? event : { type: 'unserved', reason };
}

function listenWith(
  port: GrpcPort,
  tls: Server,
  admit: (socket: TLSSocket) => void,
): Observable<DiscoveryEvent> {
  return new Observable((subscriber) => {
    const refuse = ({ remoteAddress, remotePort }: Socket, reason: string): void => {
      if (remoteAddress === undefined) return; // the client has gone: a probe of the port does that
      const address = `${remoteAddress}:${remotePort}`;
      subscriber.next({ type: 'caller-refused', address, status: 'TLS', reason });
    };
    tls.on('secureConnection', (socket) => {
      const isRefused = !socket.authorized && socket.getPeerX509Certificate() !== undefined;
      const verdict = String(socket.authorizationError);
      // OpenSSL ends a connection whose client certificate has a bad signature after the handshake.
      socket.on('error', () => {
        if (isRefused) refuse(socket, `the client certificate is not verified: ${verdict}`);
      });
      admit(socket);
    });
    tls.on('tlsClientError', ({ message }, socket) => refuse(socket, message));
    return port.listen$((socket) => tls.emit('connection', socket)).subscribe(subscriber);
  });
}

function eventsOf(event: ServingEvent): Observable<DiscoveryEvent> {
  if (event.type === 'unserved') return of(event);
  const [certificate] = pemCertificates(event.serving.chain) ?? [];
  if (certificate === undefined) return of();
  const [, expires] = timesOf(certificate);
  return of({ type: 'serving', serial: certificate.serialNumber, expires });
}
