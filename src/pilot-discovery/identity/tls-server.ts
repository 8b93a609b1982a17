import { constants } from 'node:crypto';
import { createServer, type SecureContextOptions, type Server } from 'node:tls';
import { crlBodies } from '../../shared/certificates/crl-flaw.ts';
import { pemBlock } from '../../shared/certificates/pem-block.ts';
import { trustAnchors } from '../../shared/http/http-answer.ts';
import type { ServingPair } from './serving-files.ts';

/**
 * No tickets and no renegotiation: a resumed session would keep the verdict on a client certificate
 * after the roots have changed.
 */
const secureOptions = constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION;

/**
 * Returns the options for a certificate, and for verifying clients. Throws if the CRLs cannot be
 * read. Pure.
 */
function secureContext({ chain, key, roots, crl = '' }: ServingPair): SecureContextOptions {
  return {
    ...{ cert: chain, key, minVersion: 'TLSv1.2', secureOptions, ...trustAnchors(roots) },
    ...(crl !== '' && { crl: crlsIn(crl) }),
  };
}

/** OpenSSL reads only the first CRL of a text, and no blank lines, so each CRL becomes a text. */
function crlsIn(text: string): string[] {
  const bodies = crlBodies(text);
  if (typeof bodies === 'string') throw new Error(bodies);
  return bodies.map((der) => pemBlock('X509 CRL', der));
}

/**
 * Returns a server that asks each client for a certificate, and also accepts clients without a
 * valid one: the caller of each call is authenticated later. It has no certificate yet.
 *
 * @param handshakeTimeout the longest time until a client has finished its handshake, in ms
 */
export function tlsServer(handshakeTimeout: number): Server {
  return createServer({
    ALPNProtocols: ['h2'],
    handshakeTimeout,
    requestCert: true,
    rejectUnauthorized: false,
  });
}

/**
 * Gives a server a certificate, for later connections. Returns why TLS cannot use the certificate,
 * its roots or its CRLs, and the previous one then stays; undefined if it can. Overwrites the key:
 * only OpenSSL has it then.
 */
export function renewServer(server: Server, serving: ServingPair): string | undefined {
  try {
    server.setSecureContext(secureContext(serving));
    return undefined;
  } catch (error) {
    return `TLS cannot use the certificate, its key, the roots or the CRLs: ${(error as Error).message}`;
  } finally {
    serving.key.fill(0);
  }
}
