import type * as Grpc from '@grpc/grpc-js';
import { concatMap, Observable, type SchedulerLike, Subject, switchMap, timer } from 'rxjs';
import { inSlices } from '../../operators/in-slices.ts';
import type { EnvoyRequest, Variant } from '../../shared/xds/messages.ts';
import { clientLimits } from './client-limits.ts';

export type StreamMessage =
  | { readonly type: 'request'; readonly request: EnvoyRequest }
  /** The request was not decoded, since it cannot come from a proxy. */
  | { readonly type: 'refused'; readonly reason: string };

/** A stream of gRPC for Node; its answers are encoded already. */
export type Call = Grpc.ServerDuplexStream<StreamMessage, Buffer>;

/** The first request of a stream has come. */
export interface Begun {
  readonly type: 'begun';
  readonly variant: Variant;
  readonly call: Call;
  readonly first: StreamMessage;
}

/** A stream that had no request for too long, or while too many other streams had none. */
export interface Silent {
  readonly type: 'silent';
  readonly call: Call;
  readonly reason: string;
}

interface SilenceBounds {
  /** How many streams without a request there may be at a time. */
  readonly most: number;
  /** How long a stream may have no request, in ms. */
  readonly longest: number;
}

/** The bounds for clients. */
export const silence: SilenceBounds = {
  longest: clientLimits.silence.value,
  most: clientLimits.silentStreams.value,
};

/** Streams begin, or are refused, for this time in a row; then other work has its turn. In ms. */
const slice = 5;

/**
 * Waits for the first request of each stream, and emits `begun` with it. Emits `silent` if none
 * comes within `longest`, and for the oldest stream if more than `most` wait. A client that opens
 * many streams without a request costs little: such a stream has no pipeline, and all of them share
 * one timer. A client that opens many streams at once does not delay others: both events come in
 * slices. A stream that has begun is paused until a subscriber resumes it. Never completes, never
 * errors.
 */
export function firstRequests(
  call$: Observable<readonly [Variant, Call]>,
  { most, longest }: SilenceBounds,
  scheduler: SchedulerLike,
): Observable<Begun | Silent> {
  return new Observable((subscriber) => {
    // In both maps the oldest comes first.
    const waiting = new Map<Call, { readonly since: number; readonly forget: () => void }>();
    const decided = new Map<Call, Begun | Silent>();
    const burst$ = new Subject<void>();
    const decide = (sign: Begun | Silent): void => {
      waiting.get(sign.call)?.forget();
      sign.call.once('cancelled', () => decided.delete(sign.call));
      decided.set(sign.call, sign);
      if (decided.size === 1) burst$.next();
    };
    function* signs(): Generator<undefined, void, undefined> {
      for (const [call, sign] of decided) {
        decided.delete(call);
        subscriber.next(sign);
        yield;
      }
    }
    const giveUp = (call: Call, reason: string): void => decide({ type: 'silent', call, reason });
    const wait = ([variant, call]: readonly [Variant, Call]): void => {
      const ends = ['end', 'cancelled', 'error'] as const;
      const forget = (): void => {
        waiting.delete(call);
        call.off('data', begin);
        for (const end of ends) call.off(end, forget);
      };
      const begin = (first: StreamMessage): void => {
        call.pause();
        decide({ type: 'begun', variant, call, first });
      };
      const [oldest] = waiting.keys();
      if (waiting.size === most && oldest !== undefined)
        giveUp(oldest, `it has asked for nothing, and ${most} streams have come since`);
      waiting.set(call, { since: scheduler.now(), forget });
      if (waiting.size === 1) look$.next(longest);
      call.on('data', begin);
      for (const end of ends) call.on(end, forget);
    };
    const error = (bug: unknown): void => subscriber.error(bug);
    const look$ = new Subject<number>();
    const look = (): void => {
      for (const [call, { since }] of waiting) {
        const left = since + longest - scheduler.now();
        if (left > 0) {
          look$.next(left);
          return;
        }
        giveUp(call, `it has asked for nothing within ${longest / 1_000} s`);
      }
    };
    subscriber.add(
      burst$.pipe(concatMap(() => inSlices(signs, slice, scheduler))).subscribe({ error }),
    );
    subscriber.add(
      look$.pipe(switchMap((left) => timer(left, scheduler))).subscribe({ next: look, error }),
    );
    subscriber.add(call$.subscribe({ next: wait, error }));
  });
}
