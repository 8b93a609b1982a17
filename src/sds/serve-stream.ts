import type { ServerDuplexStream } from '@grpc/grpc-js';
import { Observable, tap } from 'rxjs';
import type { DeltaDiscoveryRequest, DiscoveryRequest } from '../proto/envoy/service/discovery/v3/discovery_pb.ts';
import type { SecretBook } from '../secrets/secret-book.ts';
import { sdsStream } from './sds-stream.ts';
import type { SdsEvent } from './sds-event.ts';
import { secretTypeUrl } from './secret-type-url.ts';
import type { Push, StreamRequest } from './stream-model.ts';
import { toStreamRequest } from './to-stream-request.ts';

/** INVALID_ARGUMENT: https://grpc.io/docs/guides/status-codes/ */
const invalidArgument = 3;

/**
 * Serves one gRPC stream, from `stream-opened` to `stream-closed`, and completes when it is over, whoever ends it. `encode` makes an answer of a push.
 *
 * Cold, for one subscriber; unsubscribing lets go of the secrets. Never errors.
 */
export function serveStream<Response>(
  stream: number,
  call: ServerDuplexStream<DiscoveryRequest | DeltaDiscoveryRequest, Response>,
  book: Pick<SecretBook, 'get'>,
  encode: (push: Push) => Response,
): Observable<SdsEvent> {
  return new Observable((subscriber) => {
    let node = '';
    const refuse = (reason: string) => {
      subscriber.next({ type: 'stream-refused', stream, reason });
      call.emit('error', { code: invalidArgument, details: reason });
    };
    const close = () => {
      subscriber.next({ type: 'stream-closed', stream });
      subscriber.complete();
    };
    const request$ = new Observable<StreamRequest>((requests) => {
      call.on('data', (message: DiscoveryRequest | DeltaDiscoveryRequest) => {
        if (message.typeUrl !== '' && message.typeUrl !== secretTypeUrl) refuse(`${message.typeUrl} is not served here`);
        else requests.next(toStreamRequest(message));
      });
    });
    call.on('end', () => {
      call.end();
      close();
    });
    call.on('cancelled', close);
    call.on('error', close);

    subscriber.next({ type: 'stream-opened', stream });
    return sdsStream(request$.pipe(tap((request) => (node ||= request.node))), book).subscribe({
      next: (output) => {
        switch (output.type) {
          case 'push': {
            call.write(encode(output.push));
            const versions = new Map([...output.push.secrets].map(([name, { version }]) => [name, version]));
            subscriber.next({ type: 'pushed', stream, node, versions });
            return;
          }
          case 'end':
            refuse(output.reason);
            return;
          default:
            subscriber.next({ ...output, stream, node });
        }
      },
      error: (error: unknown) => subscriber.error(error),
    });
  });
}
