import { connect as connectHttp2, constants } from 'node:http2';
import { map, Observable, switchMap, take } from 'rxjs';
import type { GrpcProbe } from '../config/app-probes.ts';
import { openSocket } from './open-socket.ts';

/** `SERVING` of `grpc.health.v1.HealthCheckResponse.ServingStatus`. */
const serving = 1;
/** An answer has two bytes; what has more than this is none. */
const largestAnswer = 4_096;

/**
 * Asks `grpc.health.v1.Health/Check` and emits 200 if the service is SERVING, otherwise 500, and
 * completes. Errors if nobody answers.
 *
 * Question and answer have one field each, and one call is all there is: that is a few bytes over
 * HTTP/2, and no reason to load a gRPC library.
 */
export function probeGrpc({ port, service }: GrpcProbe): Observable<number> {
  return openSocket('localhost', port).pipe(
    switchMap(
      (socket) =>
        new Observable<Buffer>((subscriber) => {
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
          let size = 0;
          stream.on('error', (error) => subscriber.error(error));
          stream.on('data', (piece: Buffer) => {
            size += piece.length;
            if (size > largestAnswer) subscriber.error(new Error('too much for an answer'));
            else pieces.push(piece);
          });
          stream.on('end', () => {
            subscriber.next(Buffer.concat(pieces));
            subscriber.complete();
          });
          stream.end(frame(service));
          return () => {
            stream.close(constants.NGHTTP2_CANCEL);
            session.destroy();
          };
        }),
    ),
    take(1),
    map((answer) => (servingStatus(answer) === serving ? 200 : 500)),
  );
}

/**
 * A `HealthCheckRequest` (field 1: the service, a string) behind gRPC's prefix: not compressed, and
 * its length.
 */
function frame(service: string): Buffer {
  const name = Buffer.from(service);
  const message = name.length === 0 ? name : Buffer.concat([Buffer.from([0x0a]), varint(name.length), name]);
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
 * Field 1 of a `HealthCheckResponse`, an enum; undefined if the answer is no such message. An error
 * has no message.
 */
function servingStatus(answer: Buffer): number | undefined {
  if (answer.length < 5 || answer[0] !== 0 || answer.length !== 5 + answer.readUInt32BE(1)) return undefined;
  return answer[5] === 0x08 ? answer[6] : undefined;
}
