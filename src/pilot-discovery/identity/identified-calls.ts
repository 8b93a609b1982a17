// Why: docs/decisions/098-a-call-has-a-caller.md
import type * as Grpc from '@grpc/grpc-js';
import {
  catchError,
  fromEvent,
  map,
  mergeMap,
  type Observable,
  of,
  Subject,
  take,
  takeUntil,
} from 'rxjs';
import { streamOf } from '../../shared/grpc/stream-of.ts';
import type { Caller } from './caller.ts';
import { type CallerIdentity, unauthenticated } from './caller-identity.ts';
import { type Presented, presentedIn } from './presented.ts';
import type { CallerOf } from './caller-of.ts';

/** Emits the identity of a client once, and completes. */
export type Identify = (presented: Presented) => Observable<CallerIdentity>;

/** A call was authenticated, or refused. `address` is the client's. */
export type CallSignOfCaller =
  | { readonly type: 'identified'; readonly address: string }
  | {
      readonly type: 'caller-refused';
      readonly address: string;
      readonly status: string;
      readonly reason: string;
    };

export interface IdentifiedCalls {
  /** Lets no call through to a service before its caller is authenticated. */
  readonly interceptor: Grpc.ServerInterceptor;
  readonly callerOf: CallerOf;
  /** Authenticates callers while it is subscribed. For one subscriber; never completes. */
  readonly event$: Observable<CallSignOfCaller>;
}

const statuses = {
  unauthenticated: 'UNAUTHENTICATED',
  unavailable: 'UNAVAILABLE',
  exhausted: 'RESOURCE_EXHAUSTED',
} as const;

/** The reason for a client, which learns nothing about the servers of the mesh. */
const uncheckable =
  'the caller cannot be authenticated now: the log of the control plane has the reason';

interface ArrivedCall {
  readonly call: Grpc.ServerInterceptingCallInterface;
  readonly metadata: Grpc.Metadata;
  readonly hand: (metadata: Grpc.Metadata) => void;
}

/**
 * Authenticates each call of a gRPC server before a service gets it. A call whose caller is not
 * known ends with a status. The token of a call is removed from its metadata.
 */
export function identifiedCalls(
  { ServerInterceptingCall, status }: Pick<typeof Grpc, 'ServerInterceptingCall' | 'status'>,
  identify$: Identify,
): IdentifiedCalls {
  const callers = new WeakMap<Grpc.Metadata, Caller>();
  const arrivedCalls$ = new Subject<ArrivedCall>();
  const settle = (
    { call, metadata, hand }: ArrivedCall,
    address: string,
    identity: CallerIdentity,
  ): CallSignOfCaller => {
    if (identity.ok) {
      callers.set(metadata, identity.caller);
      hand(metadata);
      return { type: 'identified', address };
    }
    const { fault, reason } = identity;
    const details = fault === 'unavailable' ? uncheckable : reason;
    call.sendStatus({ code: status[statuses[fault]], details, metadata: null });
    return { type: 'caller-refused', address, status: statuses[fault], reason };
  };
  return {
    interceptor: (_, call) =>
      new ServerInterceptingCall(call, {
        start: (next) =>
          next({
            onReceiveMetadata: (metadata, hand) => arrivedCalls$.next({ call, metadata, hand }),
          }),
      }),
    callerOf: ({ metadata }) => {
      const caller = callers.get(metadata);
      if (caller === undefined) throw new Error('this call was not authenticated');
      return caller;
    },
    event$: arrivedCalls$.pipe(
      mergeMap((arrivedCall) => {
        const { call, metadata } = arrivedCall;
        const presented = presentedIn(call, metadata);
        metadata.remove('authorization');
        return identify$(presented).pipe(
          catchError((error: unknown) => of(unauthenticated(`this is a bug: ${String(error)}`))),
          take(1),
          map((identity) => settle(arrivedCall, presented.address, identity)),
          takeUntil(fromEvent(streamOf(call), 'close')),
        );
      }),
    ),
  };
}
