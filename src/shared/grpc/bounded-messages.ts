// Why: docs/decisions/103-grpc-stays-with-its-library.md
import type { Http2Session, ServerHttp2Stream } from 'node:http2';
import type * as Grpc from '@grpc/grpc-js';
import { asyncScheduler } from 'rxjs';
import { streamOf } from './stream-of.ts';
import { afterPiece, type MessageProgress, noMessage } from './message-progress.ts';

/** The largest total size of unfinished messages, in bytes. */
export interface MessageBounds {
  readonly ofConnection: number;
  readonly inAll: number;
}

/** Reports that a stream was ended because it exceeded a bound; `address` is the client's. */
export type ReportRefused = (address: string, reason: string) => void;

/** https://www.rfc-editor.org/rfc/rfc9113#section-7 */
const errorCodes = { none: 0, enhanceYourCalm: 11 };

/** The largest metadata of a request, in bytes: a token has a few KB. */
const largestMetadata = 16 << 10;

interface Begun {
  readonly call: Grpc.ServerInterceptingCallInterface;
  readonly progress: MessageProgress;
}

/**
 * Bounds the memory that a gRPC server uses for unfinished messages. On each stream of each
 * connection, gRPC collects a message until it is complete and then decompresses it: 4 KB can
 * become 4 MB.
 *
 * A stream is ended if it takes its connection over the connection's bound. If all connections
 * together exceed their bound, the stream with the oldest unfinished message is ended: a client
 * that behaves well finishes a message in a moment. A compressed message ends its stream, because
 * no Envoy and no agent compresses. A stream with more than 16 KiB of metadata is ended too. A
 * stream that the server has ended is also closed; otherwise gRPC keeps the collected bytes until
 * the client closes it.
 */
export function boundedMessages(
  { ServerInterceptingCall, status }: Pick<typeof Grpc, 'ServerInterceptingCall' | 'status'>,
  { ofConnection, inAll }: MessageBounds,
  tell: ReportRefused = () => undefined,
): Grpc.ServerInterceptor {
  const begun = new Map<ServerHttp2Stream, Begun>(); // in the order in which the messages began
  const ofSessions = new WeakMap<Http2Session, number>();
  const ended = new WeakSet<ServerHttp2Stream>();
  let allBytes = 0;

  const note = (stream: ServerHttp2Stream, { call, progress }: Begun): number => {
    const more = progress.received - (begun.get(stream)?.progress.received ?? 0);
    if (progress.received === 0) begun.delete(stream);
    else begun.set(stream, { call, progress });
    allBytes += more;
    const { session } = stream;
    if (session === undefined) return 0;
    const connectionBytes = (ofSessions.get(session) ?? 0) + more;
    ofSessions.set(session, connectionBytes);
    return connectionBytes;
  };
  const refuse = (
    stream: ServerHttp2Stream,
    call: Grpc.ServerInterceptingCallInterface,
    code: Grpc.status,
    details: string,
  ): void => {
    ended.add(stream);
    tell(call.getPeer(), details);
    note(stream, { call, progress: noMessage });
    if (stream.headersSent) {
      stream.close(errorCodes.enhanceYourCalm);
      return;
    }
    call.sendStatus({ code, details, metadata: null });
    asyncScheduler.schedule(() => stream.close(errorCodes.none));
  };

  return (_, call) => {
    const stream = streamOf(call);
    let progress = noMessage;
    const take = (piece: Buffer): void => {
      if (stream.closed || ended.has(stream)) return;
      progress = afterPiece(progress, piece);
      if (progress.isCompressed) {
        refuse(stream, call, status.UNIMPLEMENTED, 'compressed messages are not accepted');
        return;
      }
      const connectionBytes = note(stream, { call, progress });
      if (connectionBytes > ofConnection) {
        refuse(
          stream,
          call,
          status.RESOURCE_EXHAUSTED,
          `unfinished messages of its connection have more than ${ofConnection} bytes`,
        );
        return;
      }
      for (const [oldest, { call: oldestCall }] of begun) {
        if (allBytes <= inAll) break;
        refuse(
          oldest,
          oldestCall,
          status.RESOURCE_EXHAUSTED,
          `unfinished messages of all clients have more than ${inAll} bytes`,
        );
      }
    };
    stream.prependListener('data', take);
    stream.once('close', () => note(stream, { call, progress: noMessage }));
    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, hand) => {
            const size = JSON.stringify(metadata).length;
            if (size > largestMetadata)
              refuse(
                stream,
                call,
                status.RESOURCE_EXHAUSTED,
                `its metadata has ${size} bytes, and ${largestMetadata} are the limit`,
              );
            else hand(metadata);
          },
        }),
      sendStatus: (sent, next) => {
        // Not at once: the end of the stream would overtake the status.
        const close = () => asyncScheduler.schedule(() => stream.close(errorCodes.none));
        if (stream.headersSent) stream.once('wantTrailers', close);
        else close();
        next(sent);
      },
    });
  };
}
