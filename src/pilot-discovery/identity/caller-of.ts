import type * as Grpc from '@grpc/grpc-js';
import type { Observable } from 'rxjs';
import type { Caller } from './caller.ts';

/**
 * Returns the caller of a call on the secure port. Throws if the call was not authenticated, which
 * would be a bug: no such call reaches a service.
 */
export type CallerOf = (call: { readonly metadata: Grpc.Metadata }) => Caller;

/**
 * A gRPC service of the secure port. It is added to the server on subscription, and emits its
 * events. Each call was authenticated before the service gets it. Cold, for one subscriber; never
 * completes, never errors.
 */
export type SecureService<Event> = (server: Grpc.Server, callerOf: CallerOf) => Observable<Event>;
