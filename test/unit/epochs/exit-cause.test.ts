import { describe, expect, it } from 'vitest';
import { exitCause, exitWords, withMessage } from '../../../src/epochs/exit-cause.ts';
import type { Exit } from '../../../src/epochs/ports.ts';

const by = (signal: NodeJS.Signals, ...tail: readonly string[]): Exit => ({
  kind: 'signaled',
  signal,
  tail,
});
const caught = 'Caught Segmentation fault, suspect faulting address 0x0';
const frames = (count: number) =>
  Array.from({ length: count }, (_, index) => `#${index}: [0x55eb88c0${index}]`);
const tailOf = (messages: readonly string[]) =>
  messages.reduce<readonly string[]>((tail, message) => withMessage(tail, message, 20), []);

describe('why an Envoy ended', () => {
  it.each<readonly [what: string, exit: Exit, cause: string]>([
    [
      'a signal that Envoy has caught',
      by('SIGSEGV', 'all is well', caught, '#0: a', '#1: b'),
      `SIGSEGV: ${caught}`,
    ],
    [
      'an assertion, before the signal',
      by(
        'SIGABRT',
        'assert failure: x != nullptr. Details: y',
        'Caught Aborted, suspect faulting address 0x1',
      ),
      'SIGABRT: assert failure: x != nullptr. Details: y',
    ],
    [
      'the C++ runtime, below a line of the log',
      by(
        'SIGABRT',
        "lds: add listener\nterminate called after throwing an instance of 'std::bad_alloc'\n  what(): x",
      ),
      "SIGABRT: terminate called after throwing an instance of 'std::bad_alloc'",
    ],
    [
      'the C library',
      by('SIGABRT', 'free(): double free detected in tcache 2'),
      'SIGABRT: free(): double free detected in tcache 2',
    ],
    [
      'the allocator',
      by('SIGABRT', 'Unable to allocate 8192 (new failed)', '#0: a'),
      'SIGABRT: Unable to allocate 8192 (new failed)',
    ],
    [
      'V8, of a Wasm filter',
      by('SIGILL', '#\n# Fatal error in , line 0\n# Check failed: a'),
      'SIGILL: # Fatal error in , line 0',
    ],
    [
      'Lua',
      by('SIGABRT', 'PANIC: unprotected error in call to Lua API'),
      'SIGABRT: PANIC: unprotected error in call to Lua API',
    ],
    [
      'an instruction that this CPU lacks',
      by('SIGILL', 'Caught Illegal instruction, suspect faulting address 0x2', '#0: a'),
      'SIGILL: Caught Illegal instruction, suspect faulting address 0x2',
    ],
    [
      'a truncated file that was mapped',
      by('SIGBUS', 'Caught Bus error, suspect faulting address 0x3'),
      'SIGBUS: Caught Bus error, suspect faulting address 0x3',
    ],
    [
      'a signal from outside: what it wrote before says nothing',
      by('SIGTERM', 'lds: add listener'),
      'SIGTERM',
    ],
    [
      'the kernel, for want of memory',
      { kind: 'signaled', signal: 'SIGKILL', tail: ['bye'], outOfMemory: true },
      'SIGKILL, out of memory',
    ],
    ['an exit code, by the last line', { kind: 'failed', code: 3, tail: ['a', 'b'] }, 'exit 3: b'],
    [
      'an exit code, by the line that tells',
      { kind: 'failed', code: 1, tail: ['Uncaught unexpected exception', 'bye'] },
      'exit 1: Uncaught unexpected exception',
    ],
    ['an exit code without a word', { kind: 'failed', code: 1, tail: [] }, 'exit 1'],
    ['no start', { kind: 'spawn-failed', reason: 'no\nsuch file' }, 'not started: no such file'],
    ['nobody who saw it', { kind: 'unknown', tail: ['bye'] }, 'it is gone, and nobody saw how'],
    ['an end in order', { kind: 'clean' }, 'exit 0'],
  ])('is told in one line: %s', (_, exit, cause) => {
    expect(exitCause(exit)).toBe(cause);
  });

  it('is cut, and has nothing that a terminal obeys', () => {
    expect(exitWords(by('SIGABRT', `panic: \u001b[31m${'x'.repeat(1_000)}`))).toMatch(
      /^panic: \[31mx{200,}$/,
    );
    expect(exitWords(by('SIGABRT', `panic: ${'x'.repeat(1_000)}`))).toHaveLength(300);
  });

  it('is kept before the frames of a stack, however deep that is', () => {
    const tail = tailOf(['one', 'two', caught, ...frames(200)]);
    expect(tail).toEqual([caught, ...frames(19)]);
    expect(exitCause(by('SIGSEGV', ...tail))).toBe(`SIGSEGV: ${caught}`);
  });

  it('is kept while other threads go on writing', () => {
    const tail = tailOf([
      caught,
      ...frames(30),
      ...frames(10).map((_, index) => `access ${index}`),
    ]);
    expect(tail[0]).toBe(caught);
    expect(tail).toHaveLength(20);
  });

  it('is forgotten if so much was written after it that it cannot be the cause', () => {
    expect(tailOf([caught, ...frames(200).map((_, index) => `access ${index}`)])).toEqual(
      frames(20).map((_, index) => `access ${180 + index}`),
    );
  });
});
