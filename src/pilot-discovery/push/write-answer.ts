import { Observable, type SchedulerLike } from 'rxjs';
import type { Variant } from '../../shared/xds/messages.ts';
import type { AdsEvent } from './ads-event.ts';
import { type AnswerProgress, answerProgress } from './answer-progress.ts';
import type { Call } from './first-request.ts';
import { answerSize } from './answer-size.ts';
import type { Answer } from './proxy-stream.ts';

/** A stream to which answers are written. */
export interface AnswerTarget {
  readonly connection: number;
  readonly variant: Variant;
  readonly call: Pick<Call, 'write' | 'writableEnded' | 'destroyed'>;
}

/** A step of an answer: the turn in which it is written, or its progress after that. */
export type AnswerStep =
  | {
      readonly type: 'turn';
      readonly purpose: Answer['purpose'];
      readonly bytes: number;
      readonly written$: Observable<AdsEvent>;
    }
  | { readonly [Type in AnswerProgress]: { readonly type: Type } }[AnswerProgress];

/**
 * Writes one answer. Emits its `turn`; when the server subscribes to `written$` of that, encodes
 * and writes the answer, and emits its progress. The turn completes when the answer is taken or the
 * time of the turn is over, and at once if the stream has ended. Completes when the answer is taken
 * or stuck. Cold; never errors.
 */
export function writeAnswer(
  { connection, variant, call }: AnswerTarget,
  answer: Answer,
  encode: (answer: Answer, variant: Variant) => Buffer,
  scheduler: SchedulerLike,
): Observable<AnswerStep> {
  return new Observable((subscriber) => {
    const queuedAt = scheduler.now();
    const written$ = new Observable<AdsEvent>((turn) => {
      if (subscriber.closed) {
        turn.complete();
        return;
      }
      subscriber.add(() => turn.complete());
      const begunAt = scheduler.now();
      const bytes = encode(answer, variant);
      const progress$ = answerProgress(written(call, bytes), scheduler);
      const endTurn = (): void => {
        turn.next({
          type: 'written',
          connection,
          typeUrl: answer.typeUrl,
          bytes: bytes.length,
          queuedMs: begunAt - queuedAt,
          writingMs: scheduler.now() - begunAt,
        });
        turn.complete();
      };
      const follow = (type: AnswerProgress): void => {
        if (!turn.closed) endTurn();
        subscriber.next({ type });
      };
      subscriber.add(
        progress$.subscribe({
          next: follow,
          error: (bug: unknown) => subscriber.error(bug),
          complete: () => subscriber.complete(),
        }),
      );
    });
    const { purpose } = answer;
    subscriber.next({ type: 'turn', purpose, bytes: answerSize([answer]), written$ });
  });
}

/** Emits when the bytes have left for the proxy, or if nothing can be written. */
function written(call: AnswerTarget['call'], bytes: Buffer): Observable<void> {
  return new Observable((subscriber) => {
    const left = (): void => {
      subscriber.next();
      subscriber.complete();
    };
    if (call.writableEnded || call.destroyed) left();
    else call.write(bytes, left);
  });
}
