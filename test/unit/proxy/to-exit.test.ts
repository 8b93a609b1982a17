import { describe, expect, it } from 'vitest';
import { type Ended, toExit } from '../../../src/proxy/spawn-envoy.ts';
import type { Exit } from '../../../src/epochs/ports.ts';

const bound =
  "error adding listener '0.0.0.0:15001': cannot bind '0.0.0.0:15001': Address already in use";

describe('toExit', () => {
  it.each<{ what: string; ended: Ended; tail: readonly string[]; exit: Exit }>([
    { what: 'exit 0', ended: { exitCode: 0 }, tail: ['bye'], exit: { kind: 'clean' } },
    {
      what: 'exit 3',
      ended: { exitCode: 3 },
      tail: ['bye'],
      exit: { kind: 'failed', code: 3, tail: ['bye'] },
    },
    {
      what: 'SIGKILL',
      ended: { signal: 'SIGKILL' },
      tail: [],
      exit: { kind: 'signaled', signal: 'SIGKILL', tail: [] },
    },
    {
      what: 'SIGSEGV',
      ended: { signal: 'SIGSEGV' },
      tail: ['a'],
      exit: { kind: 'signaled', signal: 'SIGSEGV', tail: ['a'] },
    },
    {
      what: 'a signal that came with a code',
      ended: { signal: 'SIGTERM', exitCode: 143 },
      tail: [],
      exit: { kind: 'signaled', signal: 'SIGTERM', tail: [] },
    },
    {
      what: 'a binary that is missing',
      ended: { originalMessage: 'spawn envoy ENOENT' },
      tail: [],
      exit: { kind: 'spawn-failed', reason: 'spawn envoy ENOENT' },
    },
    {
      what: 'a start that failed without a word',
      ended: {},
      tail: [],
      exit: { kind: 'spawn-failed', reason: 'it could not be started' },
    },
    {
      what: 'a port that is taken',
      ended: { exitCode: 1 },
      tail: ['a', bound],
      exit: { kind: 'failed', code: 1, tail: ['a', bound], addressTaken: '0.0.0.0:15001' },
    },
    {
      what: 'two ports that are taken: the first',
      ended: { exitCode: 1 },
      tail: [bound, bound.replaceAll('15001', '15006')],
      exit: {
        kind: 'failed',
        code: 1,
        tail: [bound, bound.replaceAll('15001', '15006')],
        addressTaken: '0.0.0.0:15001',
      },
    },
    {
      what: 'exit 0 in spite of a port that was taken',
      ended: { exitCode: 0 },
      tail: [bound],
      exit: { kind: 'clean' },
    },
    {
      what: 'a port that may not be bound',
      ended: { exitCode: 1 },
      tail: ["cannot bind '0.0.0.0:80': Permission denied"],
      exit: {
        kind: 'failed',
        code: 1,
        tail: ["cannot bind '0.0.0.0:80': Permission denied"],
        addressDenied: '0.0.0.0:80',
      },
    },
    ...['[::]:443', '127.0.0.1:1', '/run/envoy.sock'].map((addressDenied) => {
      const tail = [
        'a',
        `error adding listener: cannot bind '${addressDenied}': Permission denied`,
        'b',
      ];
      return {
        what: `${addressDenied}, which may not be bound`,
        ended: { exitCode: 1 },
        tail,
        exit: { kind: 'failed', code: 1, tail, addressDenied } as const,
      };
    }),
    {
      what: 'another thing that is not permitted',
      ended: { exitCode: 1 },
      tail: ["unable to open file '/etc/key.pem': Permission denied"],
      exit: {
        kind: 'failed',
        code: 1,
        tail: ["unable to open file '/etc/key.pem': Permission denied"],
      },
    },
  ])('$what', ({ ended, tail, exit }) => {
    expect(toExit(ended, tail)).toStrictEqual(exit);
  });
});
