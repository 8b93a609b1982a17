import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Observable, Subscription } from 'rxjs';

/** Somebody beside the agent who has metrics. */
export interface MetricsSource {
  readonly type: 'envoy' | 'application';
  /** What tells it from others of its type. */
  readonly target: string;
  /** Asks, on subscribe, and emits the answer when its head is there; unsubscribing abandons the rest of it. Errors if there is none. */
  open(headers: OutgoingHttpHeaders): Observable<IncomingMessage>;
}

/** Why a source gives no metrics, or no more of them: a value of the label `reason`. */
export type FaultReason = 'unreachable' | 'timeout' | 'status' | 'format' | 'encoding' | 'too_large' | 'cut_off';

/** Ends the reading of a source. */
export class ScrapeFault extends Error {
  readonly reason: FaultReason;

  constructor(reason: FaultReason) {
    super(reason);
    this.reason = reason;
  }
}

/** A source that is being asked. */
export interface OpenedSource extends Pick<MetricsSource, 'type' | 'target'> {
  /** Where it is: no answer yet; an answer whose turn has not come; being read. */
  stage(): 'asked' | 'answered' | 'read';
  /** Resolves to the answer when it is there to be read; rejects with a {@link ScrapeFault}. */
  read(): Promise<IncomingMessage>;
  /** Ends it for that reason, wherever it is. */
  cut(reason: FaultReason): void;
  /** The reason for which it was ended. */
  wasCut(): FaultReason | undefined;
}

/** Asks a source at once. What it says waits, unread, for its turn; the end of `life` ends it. */
export function openSource(source: MetricsSource, headers: OutgoingHttpHeaders, life: Subscription): OpenedSource {
  let stage: ReturnType<OpenedSource['stage']> = 'asked';
  let wasCut: FaultReason | undefined;
  let abandon: () => void = () => undefined;
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    const asked = source.open(headers).subscribe({
      next: (message) => {
        if (stage === 'asked') stage = 'answered';
        resolve(message);
      },
      error: () => reject(new ScrapeFault('unreachable')),
      complete: () => {
        if (stage === 'asked') reject(new ScrapeFault('unreachable'));
      },
    });
    life.add(asked);
    abandon = () => {
      asked.unsubscribe();
      reject(new ScrapeFault('timeout'));
    };
  });
  answer.catch(() => undefined); // it may fail before its turn
  return {
    type: source.type,
    target: source.target,
    stage: () => stage,
    async read() {
      const message = await answer;
      stage = 'read';
      return message;
    },
    cut(reason) {
      wasCut = reason;
      abandon();
    },
    wasCut: () => wasCut,
  };
}
