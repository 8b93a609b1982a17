import { connect as connectHttp2, constants, type IncomingHttpHeaders } from 'node:http2';
import type { Socket } from 'node:net';
import { map, Observable, switchMap, take } from 'rxjs';
import type { GrpcProbe } from '../../config/app-probes.ts';
import { openSocket } from '../../../shared/http/open-socket.ts';
import type { ProbeAnswer } from './probe-http.ts';

/** `SERVING` of `grpc.health.v1.HealthCheckResponse.ServingStatus`. */
const serving = 1;
/** In bytes. A valid answer has 7 bytes at most; an answer with more than this is invalid. */
const largestAnswer = 4_096;

/** The end of a call: its message, and the headers with the status of gRPC. */
interface Ended {
  readonly answer: Buffer;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Calls `grpc.health.v1.Health/Check`. Emits 200 if the service is SERVING, otherwise 500 with the
 * reason, and completes. A status of gRPC other than 0 is a failure, whatever the message says.
 * Errors if there is no answer.
 *
 * Request and response have one field each, and there is only one call: a few bytes over HTTP/2
 * need no gRPC library.
 */
export function probeGrpc(
  { port, service }: GrpcProbe,
  localHosts: readonly string[],
): Observable<ProbeAnswer> {
  return openSocket(localHosts, port).pipe(
    switchMap((socket) => call(socket, { port, service })),
    take(1),
    map(answerOf),
  );
}

/** Calls the method. Emits the end of the call once, then closes the call and the connection. */
function call(
  socket: Socket,
  { port, service }: Pick<GrpcProbe, 'port' | 'service'>,
): Observable<Ended> {
  return new Observable((subscriber) => {
    const session = connectHttp2(`http://localhost:${port}`, { createConnection: () => socket });
    session.on('error', (error) => subscriber.error(error));
    const stream = session.request({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      'content-type': 'application/grpc',
      'user-agent': 'pilot-agent',
      te: 'trailers',
    });
    const pieces: Buffer[] = [];
    let headers: IncomingHttpHeaders = {};
    stream.on('response', (head) => (headers = { ...headers, ...head }));
    stream.on(
      'trailers',
      (trailers: IncomingHttpHeaders) => (headers = { ...headers, ...trailers }),
    );
    let size = 0;
    stream.on('error', (error) => subscriber.error(error));
    stream.on('data', (piece: Buffer) => {
      size += piece.length;
      if (size > largestAnswer)
        subscriber.error(new Error(`the answer has more than ${largestAnswer} bytes`));
      else pieces.push(piece);
    });
    stream.on('end', () => {
      subscriber.next({ answer: Buffer.concat(pieces), headers });
      subscriber.complete();
    });
    stream.end(frame(service));
    return () => {
      stream.close(constants.NGHTTP2_CANCEL);
      session.destroy();
    };
  });
}

function answerOf({ answer, headers }: Ended): ProbeAnswer {
  const status = String(headers['grpc-status'] ?? '');
  if (Number(headers[':status']) !== 200)
    return { status: 500, reason: `HTTP status ${String(headers[':status'])}` };
  if (status !== '0')
    return {
      status: 500,
      reason: status === '' ? 'no status of gRPC' : `gRPC status ${status.slice(0, 5)}`,
    };
  const state = servingStatus(answer);
  return state === serving
    ? { status: 200 }
    : { status: 500, reason: `the service is ${state === 2 ? 'NOT_SERVING' : 'not SERVING'}` };
}

/**
 * Makes a `HealthCheckRequest` (field 1: the service, a string). Before it comes gRPC's prefix: a
 * byte that says "not compressed", and the length of the message.
 */
function frame(service: string): Buffer {
  const name = Buffer.from(service);
  const message =
    name.length === 0 ? name : Buffer.concat([Buffer.from([0x0a]), varint(name.length), name]);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/**
 * Returns field 1 of a `HealthCheckResponse`, an enum; undefined if the answer is no such message.
 */
function servingStatus(answer: Buffer): number | undefined {
  if (answer.length < 5 || answer[0] !== 0 || answer.length !== 5 + answer.readUInt32BE(1))
    return undefined;
  return answer[5] === 0x08 ? answer[6] : undefined;
}
