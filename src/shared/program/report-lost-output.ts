import type { Writable } from 'node:stream';
import { exitCodes, Fatal } from './exit.ts';

/**
 * Calls `fail` if the output of a program cannot be written: the disk is full, for example. A
 * reader that is gone (`… | head`) is not a failure.
 *
 * Returns a function that resolves when `fail` was called for everything that is lost so far.
 */
export function reportLostOutput(
  output: Writable,
  fail: (failure: Fatal) => void,
): () => Promise<void> {
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE')
      fail(new Fatal(`the output cannot be written: ${error.message}`, exitCodes.unavailable));
  });
  // Node emits the error some ticks after the call of `write` that failed.
  return () => new Promise((resolve) => void setImmediate(resolve));
}
