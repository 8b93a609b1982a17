import type { Writable } from 'node:stream';
import { clientLimits } from './client-limits.ts';

/**
 * Envoy reads an answer before it ACKs it: it has at most one unread answer of each type, and fewer
 * if one type waits for another. A client with more is not Envoy.
 */
const most = { answers: clientLimits.unreadAnswers.value, bytes: clientLimits.unreadBytes.value };

/** The answers that were written to one proxy, and that it has not read. */
export interface UnreadAnswers {
  readonly count: () => number;
  /** Returns whether an answer of this size would be too much. */
  readonly isTooMuch: (bytes: number) => boolean;
  /** Writes one more answer; calls `read` when it has left for the proxy. */
  readonly write: (call: Pick<Writable, 'write'>, bytes: Buffer, read: () => void) => void;
}

export function unreadAnswers(): UnreadAnswers {
  let [answers, all] = [0, 0];
  return {
    count: () => answers,
    isTooMuch: (bytes) => answers >= most.answers && all + bytes > most.bytes,
    write: (call, bytes, read) => {
      [answers, all] = [answers + 1, all + bytes.length];
      call.write(bytes, () => {
        [answers, all] = [answers - 1, all - bytes.length];
        read();
      });
    },
  };
}
