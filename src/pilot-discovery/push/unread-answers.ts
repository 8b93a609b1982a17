import type { Writable } from 'node:stream';
import { clientLimits } from './client-limits.ts';

/**
 * A proxy that accepts answers which it has not read is no Envoy: that has one answer of each type
 * before it, and fewer if one follows another.
 */
const most = { answers: clientLimits.unreadAnswers.value, bytes: clientLimits.unreadBytes.value };

/** The answers that are written to one proxy, and that it has not read. */
export interface UnreadAnswers {
  readonly count: () => number;
  /** Whether an answer of so many bytes would be too much. */
  readonly isTooMuch: (bytes: number) => boolean;
  /** Writes one more; `read` is called once it has left for the proxy. */
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
