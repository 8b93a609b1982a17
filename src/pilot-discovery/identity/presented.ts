import type { X509Certificate } from 'node:crypto';
import { TLSSocket } from 'node:tls';
import type * as Grpc from '@grpc/grpc-js';
import { streamOf } from '../../shared/grpc/stream-of.ts';

/** The proofs of a client's identity. */
export interface Presented {
  /** `IP:port` of the client. */
  readonly address: string;
  readonly certificate: PresentedCertificate;
  /** The values of the metadata `authorization`. */
  readonly authorization: readonly string[];
}

/** The client certificate of the connection, as TLS has judged its chain. */
export type PresentedCertificate =
  | { readonly type: 'none' }
  | { readonly type: 'verified'; readonly certificate: X509Certificate }
  | { readonly type: 'refused'; readonly reason: string };

/** Returns the proofs that the client of a call presents. */
export function presentedIn(
  call: Grpc.ServerInterceptingCallInterface,
  metadata: Grpc.Metadata,
): Presented {
  return {
    address: call.getPeer(),
    certificate: certificateOf(streamOf(call).session?.socket),
    authorization: metadata.get('authorization').map(String),
  };
}

function certificateOf(socket: unknown): PresentedCertificate {
  if (!(socket instanceof TLSSocket))
    return { type: 'refused', reason: 'the connection has no TLS' };
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return { type: 'none' };
  // Node's types say Error; it is the code of OpenSSL.
  const reason = String(socket.authorizationError);
  return socket.authorized ? { type: 'verified', certificate } : { type: 'refused', reason };
}
