// Why: docs/decisions/098-a-call-has-a-caller.md
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import {
  connect,
  ignoreElements,
  map,
  merge,
  mergeMap,
  Observable,
  of,
  switchMap,
  take,
  tap,
} from 'rxjs';
import { ofType } from '../../operators/tagged-union.ts';
import { pemCertificates, timesOf } from '../../shared/certificates/key-pair-flaw.ts';
import type { ServingPair, ServingEvent } from '../identity/serving-files.ts';
import { renewServer, servingFlaw, tlsServer } from '../identity/tls-server.ts';
import { clientLimits } from '../push/client-limits.ts';
import type { DiscoveryEvent } from '../state/discovery-event.ts';
import type { GrpcPort } from './grpc-port.ts';

/**
 * Listens on a port with TLS, once there is a certificate. A later certificate is for connections
 * that begin after it. If TLS cannot use one, emits the reason, and the previous one stays. Hands
 * each connection to `admit` after its handshake, with or without a client certificate. Never
 * completes, never errors. Stops listening on unsubscribe.
 */
export function listenSecurely(
  port: GrpcPort,
  serving$: Observable<ServingEvent>,
  admit: (socket: TLSSocket) => void,
): Observable<DiscoveryEvent> {
  return serving$.pipe(
    map(usable),
    connect((event$) => {
      const certificate$ = event$.pipe(ofType('serving'));
      return merge(
        event$.pipe(mergeMap(eventsOf)),
        certificate$.pipe(
          take(1),
          switchMap(({ serving }) => listenWith(port, serving, certificate$, admit)),
        ),
      );
    }),
  );
}

function usable(event: ServingEvent): ServingEvent {
  if (event.type === 'unserved') return event;
  const reason = servingFlaw(event.serving);
  if (reason === undefined) return event;
  event.serving.key.fill(0);
  return { type: 'unserved', reason };
}

function listenWith(
  port: GrpcPort,
  first: ServingPair,
  later$: Observable<{ readonly serving: ServingPair }>,
  admit: (socket: TLSSocket) => void,
): Observable<DiscoveryEvent> {
  return new Observable((subscriber) => {
    const tls = tlsServer(first, clientLimits.silence.value);
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
    const renewed$ = later$.pipe(
      tap(({ serving }) => renewServer(tls, serving)),
      ignoreElements(),
    );
    const listening$ = port.listen$((socket) => tls.emit('connection', socket));
    return merge(renewed$, listening$).subscribe(subscriber);
  });
}

function eventsOf(event: ServingEvent): Observable<DiscoveryEvent> {
  if (event.type === 'unserved') return of(event);
  const [certificate] = pemCertificates(event.serving.chain) ?? [];
  if (certificate === undefined) return of();
  const [, expires] = timesOf(certificate);
  return of({ type: 'serving', serial: certificate.serialNumber, expires });
}
