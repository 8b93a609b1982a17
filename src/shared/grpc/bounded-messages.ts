import type { Http2Session, ServerHttp2Stream } from 'node:http2';
import type * as Grpc from '@grpc/grpc-js';
import { asyncScheduler } from 'rxjs';
import { afterPiece, type MessageProgress, noMessage } from './message-progress.ts';

/** How much is kept of messages that are not finished, in bytes. */
export interface MessageBounds {
  readonly ofConnection: number;
  readonly inAll: number;
}

/** A stream is ended, since it goes beyond a bound; `address` is that of the client. */
export type TellRefused = (address: string, reason: string) => void;

/** https://www.rfc-editor.org/rfc/rfc9113#section-7 */
const errorCodes = { none: 0, enhanceYourCalm: 11 };

/** What a client says beside its messages, in bytes: a token has a few KB. */
const largestMetadata = 16 << 10;

interface Begun {
  readonly call: Grpc.ServerInterceptingCallInterface;
  readonly progress: MessageProgress;
}

/**
 * Bounds what a server of gRPC keeps of messages that are not finished. gRPC collects a message
 * until it is whole, on each stream of each connection, and unpacks it: 4 KB may be 4 MB then.
 *
 * A stream is ended that brings its connection beyond its bound. If all connections together are
 * beyond theirs, the oldest message goes: those of clients that behave are finished in a moment. A
 * message that is compressed ends its stream, for no Envoy and no agent compresses. And a stream
 * that the server has ended is closed: else gRPC keeps what it has collected until the client
 * closes it too. A stream with more than 16 KiB of metadata is ended as well.
 */
export function boundedMessages(
  { ServerInterceptingCall, status }: Pick<typeof Grpc, 'ServerInterceptingCall' | 'status'>,
  { ofConnection, inAll }: MessageBounds,
  tell: TellRefused = () => undefined,
): Grpc.ServerInterceptor {
  const begun = new Map<ServerHttp2Stream, Begun>(); // in the order in which the messages began
  const ofSessions = new WeakMap<Http2Session, number>();
  const ended = new WeakSet<ServerHttp2Stream>();
  let all = 0;

  const note = (stream: ServerHttp2Stream, { call, progress }: Begun): number => {
    const more = progress.held - (begun.get(stream)?.progress.held ?? 0);
    if (progress.held === 0) begun.delete(stream);
    else begun.set(stream, { call, progress });
    all += more;
    const { session } = stream;
    if (session === undefined) return 0;
    const its = (ofSessions.get(session) ?? 0) + more;
    ofSessions.set(session, its);
    return its;
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
        refuse(stream, call, status.UNIMPLEMENTED, 'compressed messages are not taken');
        return;
      }
      const its = note(stream, { call, progress });
      if (its > ofConnection) {
        refuse(
          stream,
          call,
          status.RESOURCE_EXHAUSTED,
          `unfinished messages of its connection have more than ${ofConnection} bytes`,
        );
        return;
      }
      for (const [oldest, { call: of }] of begun) {
        if (all <= inAll) break;
        refuse(
          oldest,
          of,
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
                `its metadata have ${size} bytes, and ${largestMetadata} are the limit`,
              );
            else hand(metadata);
          },
        }),
      sendStatus: (sent, next) => {
        // Not at once: what is told would be overtaken by the end of the stream.
        const close = () => asyncScheduler.schedule(() => stream.close(errorCodes.none));
        if (stream.headersSent) stream.once('wantTrailers', close);
        else close();
        next(sent);
      },
    });
  };
}

/** The stream below a call, which gRPC for Node has and does not declare. */
function streamOf(call: Grpc.ServerInterceptingCallInterface): ServerHttp2Stream {
  const { stream } = call as Grpc.ServerInterceptingCallInterface & {
    readonly stream?: ServerHttp2Stream;
  };
  if (stream === undefined)
    throw new Error('this gRPC has no stream below a call: its messages cannot be bounded');
  return stream;
}
