import type { ServerHttp2Stream } from 'node:http2';
import type * as Grpc from '@grpc/grpc-js';

/** The properties of a call that gRPC for Node has but does not declare. */
interface Undeclared {
  readonly stream?: ServerHttp2Stream;
  /** The call that an interceptor gets if another interceptor comes before it. */
  readonly nextCall?: Grpc.ServerInterceptingCallInterface;
}

/** Returns the HTTP/2 stream of a call. */
export function streamOf(call: Grpc.ServerInterceptingCallInterface): ServerHttp2Stream {
  const { stream, nextCall } = call as Grpc.ServerInterceptingCallInterface & Undeclared;
  if (stream !== undefined) return stream;
  if (nextCall !== undefined) return streamOf(nextCall);
  throw new Error('this gRPC has no stream below a call: its client cannot be bounded');
}
