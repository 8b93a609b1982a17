import { describe, expect, it } from 'vitest';
import { initialState, type Outcome } from '../../src/agent/model.ts';
import { exitOf, runExit } from '../../src/run/program-exit.ts';

describe('exitOf', () => {
  it.each<{ what: string; outcome: Outcome; code: number; why?: string }>([
    { what: 'asked to stop', outcome: { kind: 'asked' }, code: 0 },
    { what: 'the last Envoy ended cleanly', outcome: { kind: 'envoy', exit: { kind: 'clean' } }, code: 0 },
    {
      what: 'exit 3, which the Go agent made 0 of',
      outcome: { kind: 'envoy', exit: { kind: 'failed', code: 3, tail: ['x'] } },
      code: 3,
      why: 'Envoy ended with 3',
    },
    {
      what: 'SIGKILL, which the Go agent made 0 of',
      outcome: { kind: 'envoy', exit: { kind: 'signaled', signal: 'SIGKILL', tail: [] } },
      code: 137,
      why: 'Envoy was ended by SIGKILL',
    },
    {
      what: 'SIGSEGV, which the Go agent made 0 of',
      outcome: { kind: 'envoy', exit: { kind: 'signaled', signal: 'SIGSEGV', tail: [] } },
      code: 139,
      why: 'Envoy was ended by SIGSEGV',
    },
    {
      what: 'an Envoy that can not be started, which the Go agent made 0 of',
      outcome: { kind: 'envoy', exit: { kind: 'spawn-failed', reason: 'ENOENT' } },
      code: 69,
      why: 'Envoy cannot be started: ENOENT',
    },
    {
      what: 'an Envoy that is gone, nobody knows how',
      outcome: { kind: 'envoy', exit: { kind: 'unknown', tail: [] } },
      code: 69,
      why: 'Envoy is gone, and how it ended is not known',
    },
    {
      what: 'a configuration that Envoy refuses',
      outcome: { kind: 'refused', reason: 'no such file' },
      code: 78,
      why: 'Envoy refuses its configuration: no such file',
    },
    {
      what: 'a port that is taken',
      outcome: { kind: 'address-taken', address: '0.0.0.0:80' },
      code: 69,
      why: 'Envoy cannot bind 0.0.0.0:80: the address is in use',
    },
  ])('$what → $code', ({ outcome, code, why }) => {
    expect(exitOf(outcome)).toStrictEqual({ code, ...(why !== undefined && { why }) });
  });
});

describe('runExit', () => {
  it.each([
    { exit: 'unavailable', code: 69 },
    { exit: 'config', code: 78 },
  ] as const)('a server beside Envoy that fails, $exit → $code', ({ exit, code }) => {
    const last = { type: 'servers-failed', exit, reason: 'no' } as const;
    expect(runExit(last, { agent: initialState }, { statusPort: 15_020, customConfigFile: '' })).toStrictEqual({ code, why: 'no' });
  });
});
