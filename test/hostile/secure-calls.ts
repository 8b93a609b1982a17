import type { IncomingHttpHeaders } from 'node:http';
import { type ClientHttp2Session, connect } from 'node:http2';
import { status } from '@grpc/grpc-js';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  IstioCertificateRequestSchema,
  IstioCertificateResponseSchema,
} from '../../src/shared/proto/istio/v1/auth/ca_pb.ts';
import type { WorkloadPair } from '../support/workload-authority.ts';
import { framed } from './raw-grpc.ts';

const path = '/istio.v1.auth.IstioCertificateService/CreateCertificate';

/** A client of the secure port, and its address. */
export interface SecureClient {
  readonly port: number;
  /** The roots of the server, PEM. */
  readonly roots: string;
  readonly pair?: WorkloadPair | undefined;
  /** An address of this machine. */
  readonly from?: string | undefined;
}

/** A request for a certificate. */
export interface CertificateCall {
  readonly csr: string;
  /** In seconds. */
  readonly validity?: number | undefined;
  readonly token?: string | undefined;
}

/** The result of a request. */
export interface CallOutcome {
  /** A status of gRPC; `CLOSED` if there was none. */
  readonly status: string;
  readonly details: string;
  /** PEM, the leaf first. */
  readonly chain: readonly string[];
  readonly ms: number;
}

/** Opens a connection to the secure port. */
export function secureSession({ port, roots, pair, from }: SecureClient): ClientHttp2Session {
  const session = connect(`https://127.0.0.1:${port}`, {
    ca: roots,
    ...(pair && { cert: pair.chain, key: pair.key }),
    ...(from !== undefined && { localAddress: from }),
    maxSessionMemory: 1_000,
  });
  return session.on('error', () => undefined);
}

/** Returns the bytes of a request. */
export const certificateRequest = ({ csr, validity = 0 }: CertificateCall): Buffer =>
  framed(
    toBinary(
      IstioCertificateRequestSchema,
      create(IstioCertificateRequestSchema, { csr, validityDuration: BigInt(validity) }),
    ),
  );

/** Requests a certificate. Never rejects. */
export function askForCertificate(
  session: ClientHttp2Session,
  bytes: Buffer,
  token?: string,
): Promise<CallOutcome> {
  const begun = performance.now();
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  });
  return new Promise((done) => {
    const pieces: Buffer[] = [];
    let [code, details] = ['', ''];
    const note = (headers: IncomingHttpHeaders): void => {
      if (headers['grpc-status'] === undefined) return;
      code = status[Number(headers['grpc-status'])] ?? 'unknown';
      details = decodeURIComponent([headers['grpc-message'] ?? ''].flat().join());
    };
    stream
      .on('response', note)
      .on('trailers', note)
      .on('data', (piece: Buffer) => pieces.push(piece))
      .on('error', () => undefined)
      .on('close', () =>
        done({
          status: code === '' ? 'CLOSED' : code,
          details,
          chain: chainIn(Buffer.concat(pieces)),
          ms: performance.now() - begun,
        }),
      );
    stream.end(bytes);
  });
}

const chainIn = (message: Buffer): readonly string[] =>
  message.length < 5
    ? []
    : fromBinary(IstioCertificateResponseSchema, message.subarray(5)).certChain;
