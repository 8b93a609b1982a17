import type { Exit } from './ports.ts';

/**
 * Lines that say why a process ends. They come from Envoy's own handlers, the C++ runtime, the
 * allocator, a sanitizer, Lua and V8.
 */
const telling =
  /assert failure|\bpanic\b|^Caught .+, suspect faulting address|terminate called|terminating (?:due to|with)|Uncaught .*exception|Check failed:|Fatal (?:error in|JavaScript)|ERROR: \w*Sanitizer|double free|corrupt|stack smashing|bad_alloc|Unable to allocate/i;

const frame = /^#\d+: /;

/** In characters. */
const longest = 300;

/**
 * Returns the last messages of an Envoy with one more added. If there are `most` already, a message
 * takes the place of the last stack frame, or of the oldest message if there is no frame. A frame
 * takes the place of the oldest message, unless that says why Envoy ended. Pure.
 */
export function withMessage(
  tail: readonly string[],
  message: string,
  most: number,
): readonly string[] {
  if (tail.length < most) return [...tail, message];
  const isFrame = frame.test(message);
  if (isFrame && tail.findIndex((earlier) => causeIn(earlier) !== undefined) === 0) return tail;
  const left = isFrame ? 0 : tail.findLastIndex((earlier) => frame.test(earlier));
  return [...tail.toSpliced(Math.max(left, 0), 1), message];
}

function causeIn(message: string): string | undefined {
  return message.split('\n').find((line) => telling.test(line));
}

/**
 * Returns Envoy's message about why it ended, in one line; undefined if there is none. A signal may
 * come from outside: then the last message has nothing to do with the end. Pure.
 */
export function exitWords(exit: Exit): string | undefined {
  if (!('tail' in exit)) return undefined;
  const cause = exit.tail.map(causeIn).find((line) => line !== undefined);
  const words = cause ?? (exit.kind === 'failed' ? exit.tail.at(-1)?.split('\n')[0] : undefined);
  return words === undefined || words.trim() === '' ? undefined : printable(words);
}

/** Describes in one line how an Envoy ended, and why if it wrote that. Pure. */
export function exitCause(exit: Exit): string {
  const words = exitWords(exit);
  return words === undefined ? how(exit) : `${how(exit)}: ${words}`;
}

function how(exit: Exit): string {
  switch (exit.kind) {
    case 'clean':
      return 'exit 0';
    case 'failed':
      return `exit ${exit.code}`;
    case 'signaled':
      return exit.outOfMemory === true ? `${exit.signal}, out of memory` : exit.signal;
    case 'spawn-failed':
      return `not started: ${printable(exit.reason)}`;
    case 'unknown':
      return 'it is gone, and nobody saw how';
  }
}

function printable(text: string): string {
  return text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, longest);
}
