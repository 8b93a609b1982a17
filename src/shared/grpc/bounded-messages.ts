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
  const unfinished = unfinishedMessages();
  const ended = new WeakSet<ServerHttp2Stream>();

  const refuse = (
    stream: ServerHttp2Stream,
    call: Grpc.ServerInterceptingCallInterface,
    code: Grpc.status,
    details: string,
  ): void => {
    ended.add(stream);
    tell(call.getPeer(), details);
    unfinished.note(stream, { call, progress: noMessage });
    end(stream, call, { code, details, metadata: null });
  };
  /** Refuses streams until no bound is exceeded, after a message has progressed. */
  const bound = (stream: ServerHttp2Stream, { call, progress }: Begun): void => {
    if (progress.isCompressed)
      refuse(stream, call, status.UNIMPLEMENTED, 'compressed messages are not accepted');
    else if (unfinished.note(stream, { call, progress }) > ofConnection)
      refuse(stream, call, status.RESOURCE_EXHAUSTED, excess('its connection', ofConnection));
    else
      for (const [oldest, { call: oldestCall }] of unfinished.begun) {
        if (unfinished.allBytes() <= inAll) break;
        refuse(oldest, oldestCall, status.RESOURCE_EXHAUSTED, excess('all clients', inAll));
      }
  };

  return (_, call) => {
    const stream = streamOf(call);
    let progress = noMessage;
    stream.prependListener('data', (piece: Buffer): void => {
      if (stream.closed || ended.has(stream)) return;
      progress = afterPiece(progress, piece);
      bound(stream, { call, progress });
    });
    stream.once('close', () => unfinished.note(stream, { call, progress: noMessage }));
    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, hand) => {
            const flaw = metadataFlaw(metadata);
            if (flaw !== undefined) refuse(stream, call, status.RESOURCE_EXHAUSTED, flaw);
            else hand(metadata);
          },
        }),
      sendStatus: (sent, next) => {
        closeAfterStatus(stream);
        next(sent);
      },
    });
  };
}

function excess(whose: string, most: number): string {
  return `unfinished messages of ${whose} have more than ${most} bytes`;
}

/** Counts the bytes of all unfinished messages, and of those of each connection. */
function unfinishedMessages() {
  // A stream that is closed no longer has its session.
  type Counted = Begun & { readonly session: Http2Session | undefined };
  const begun = new Map<ServerHttp2Stream, Counted>(); // in the order in which the messages began
  const ofSessions = new WeakMap<Http2Session, number>();
  let allBytes = 0;
  return {
    begun: begun as ReadonlyMap<ServerHttp2Stream, Begun>,
    allBytes: () => allBytes,
    /** Notes the progress of a message; returns the bytes of its connection. */
    note(stream: ServerHttp2Stream, { call, progress }: Begun): number {
      const before = begun.get(stream);
      const more = progress.received - (before?.progress.received ?? 0);
      const session = before?.session ?? stream.session;
      if (progress.received === 0) begun.delete(stream);
      else begun.set(stream, { call, progress, session });
      allBytes += more;
      if (session === undefined) return 0;
      const connectionBytes = (ofSessions.get(session) ?? 0) + more;
      ofSessions.set(session, connectionBytes);
      return connectionBytes;
    },
  };
}

function metadataFlaw(metadata: Grpc.Metadata): string | undefined {
  const size = JSON.stringify(metadata).length;
  return size > largestMetadata
    ? `its metadata has ${size} bytes, and the limit is ${largestMetadata}`
    : undefined;
}

/** Ends a stream, with a status if the client can still receive it. */
function end(
  stream: ServerHttp2Stream,
  call: Grpc.ServerInterceptingCallInterface,
  sent: Parameters<Grpc.ServerInterceptingCallInterface['sendStatus']>[0],
): void {
  if (stream.headersSent) {
    stream.close(errorCodes.enhanceYourCalm);
    return;
  }
  call.sendStatus(sent);
  asyncScheduler.schedule(() => stream.close(errorCodes.none));
}

/** Closes a stream, but not at once: its end would overtake the status. */
function closeAfterStatus(stream: ServerHttp2Stream): void {
  const close = () => asyncScheduler.schedule(() => stream.close(errorCodes.none));
  if (stream.headersSent) stream.once('wantTrailers', close);
  else close();
}
