import type * as Grpc from '@grpc/grpc-js';
import { concatMap, Observable, type SchedulerLike, Subject, switchMap, timer } from 'rxjs';
import { inSlices } from '../../operators/in-slices.ts';
import type {
  DeltaDiscoveryRequest,
  DiscoveryRequest,
} from '../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import type { Variant } from '../../shared/xds/messages.ts';
import { clientLimits } from './client-limits.ts';

/** A request that is not decoded, since it is no proxy's. */
export interface UnreadRequest {
  readonly $typeName: 'refused';
  readonly reason: string;
}

export type StreamMessage = DiscoveryRequest | DeltaDiscoveryRequest | UnreadRequest;

/** A stream as gRPC for Node has it; answers are encoded already. */
export type Call = Grpc.ServerDuplexStream<StreamMessage, Buffer>;

/** A stream has begun: somebody has asked for something on it. */
export interface Begun {
  readonly type: 'begun';
  readonly variant: Variant;
  readonly call: Call;
  readonly first: StreamMessage;
}

/** Nobody has, for too long, or while too many others did not either. */
export interface Silent {
  readonly type: 'silent';
  readonly call: Call;
  readonly reason: string;
}

interface SilenceBounds {
  /** How many streams may say nothing at a time. */
  readonly most: number;
  /** How long, in ms. */
  readonly longest: number;
}

/** What clients may. */
export const silence: SilenceBounds = {
  longest: clientLimits.silence.value,
  most: clientLimits.silentStreams.value,
};

/** So many ms streams begin, or are refused, in a row; then others have their turn. */
const slice = 5;

/**
 * Waits for the first request of each stream, and emits `begun` with it; or `silent` if none comes,
 * after `longest` or, for the oldest one, once there are more than `most`. Whoever opens many
 * streams and says nothing costs little: such a stream has no pipeline, and all of them have one
 * timer. Whoever opens many at once holds up nobody else: both signs come in slices. A stream that
 * has begun is paused until somebody listens and resumes it. Never completes, never errors.
 */
export function firstRequests(
  call$: Observable<readonly [Variant, Call]>,
  { most, longest }: SilenceBounds,
  scheduler: SchedulerLike,
): Observable<Begun | Silent> {
  return new Observable((subscriber) => {
    // The oldest is the first in both.
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
