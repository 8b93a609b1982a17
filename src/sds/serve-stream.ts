import type { ServerDuplexStream } from '@grpc/grpc-js';
import { distinctUntilChanged, filter, ignoreElements, map, merge, mergeMap, Observable, takeUntil, tap } from 'rxjs';
import { reduceWithEffects } from '../operators/reduce-with-effects.ts';
import { ofType } from '../operators/tagged-union.ts';
import type { DeltaDiscoveryRequest, DiscoveryRequest } from '../proto/envoy/service/discovery/v3/discovery_pb.ts';
import type { SecretBook } from '../secrets/secret-book.ts';
import { secretTypeUrl, toStreamRequest } from './messages.ts';
import { freshStream, type Push, reduceStream, type StreamEffect, type StreamEvent, type StreamRequest } from './stream.ts';
import type { SdsEvent } from './telemetry.ts';

/** What a stream wants done: those effects that go out to the client or the log; and a name for which there is nothing, with the reason. */
type StreamOutput =
  | Exclude<StreamEffect, { readonly type: 'watch' | 'unwatch' }>
  | { readonly type: 'missing'; readonly name: string; readonly reason: string };

/**
 * One stream of the secret discovery protocol: requests in, what is to be done out. Follows a secret of the book as long as the client wants it.
 *
 * Cold, never ends: it is unsubscribed when the stream is over. Errors only if `request$` does.
 */
function sdsStream(request$: Observable<StreamRequest>, book: Pick<SecretBook, 'get'>): Observable<StreamOutput> {
  return new Observable((subscriber) => {
    function follow(name: string): Observable<StreamEvent> {
      return book.get(name).pipe(
        tap(({ served, refused }) => {
          if (served === undefined && refused !== undefined) subscriber.next({ type: 'missing', name, reason: refused });
        }),
        map(({ served }) => served),
        filter((served) => served !== undefined),
        distinctUntilChanged((a, b) => a.version === b.version),
        map((served): StreamEvent => ({ type: 'secret', name, ...served })),
      );
    }
    function carryOut(effect$: Observable<StreamEffect>): Observable<StreamEvent> {
      const unwatch$ = effect$.pipe(ofType('unwatch'));
      return merge(
        effect$.pipe(
          tap((effect) => {
            if (effect.type !== 'watch' && effect.type !== 'unwatch') subscriber.next(effect);
          }),
          ignoreElements(),
        ),
        effect$.pipe(
          ofType('watch'),
          mergeMap(({ name }) => follow(name).pipe(takeUntil(unwatch$.pipe(filter((gone) => gone.name === name))))),
        ),
      );
    }
    const life$ = request$.pipe(
      map((asked): StreamEvent => ({ type: 'request', request: asked })),
      reduceWithEffects(freshStream, reduceStream, carryOut),
    );
    return life$.subscribe({ error: (error: unknown) => subscriber.error(error) });
  });
}

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
