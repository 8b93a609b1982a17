import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { refusalReason } from '../../../src/proxy/preflight.ts';
import type { Exit } from '../../../src/epochs/ports.ts';

const failed = (...tail: readonly string[]): Exit => ({ kind: 'failed', code: 1, tail });

describe('refusalReason', () => {
  it.each<{ what: string; exit: Exit; reason: string }>([
    {
      what: 'is what Envoy says of its configuration',
      exit: failed(
        'initializing epoch 0',
        "error initializing configuration 'envoy.yaml': Failed to load certificate chain from /c.pem",
        'exiting',
      ),
      reason: 'Failed to load certificate chain from /c.pem',
    },
    {
      what: 'is on one line, even if Envoy takes more',
      exit: failed(
        "error initializing configuration '/a b.yaml': Protobuf message (\n  reason: x\n)\twith  gaps \n",
      ),
      reason: 'Protobuf message ( reason: x ) with gaps',
    },
    {
      what: 'does not repeat the configuration that Envoy repeats, for it may hold secrets',
      exit: failed(
        `error initializing configuration 'a.json': Unable to parse JSON as proto (INVALID: near 1:75 (offset 74): no number): {"token":"x"}`,
      ),
      reason: 'Unable to parse JSON as proto (INVALID: near 1:75 (offset 74): no number)',
    },
    {
      what: 'does not repeat a text that is not an object',
      exit: failed(
        "error initializing configuration 'a.yaml': Unable to convert YAML as JSON: token",
      ),
      reason: 'Unable to convert YAML as JSON',
    },
    {
      what: 'does not repeat the configuration before a broken rule, however long that is',
      exit: failed(
        `error initializing configuration 'a.json': private_key {\n  inline_string: "hush"\n${'}\n'.repeat(900)}: Proto constraint validation failed (AValidationError.B: value is required)`,
      ),
      reason: 'Proto constraint validation failed (AValidationError.B: value is required)',
    },
    {
      what: 'is what Envoy says as it starts, if it says all twice',
      exit: failed(
        "error `private_key {\n}\n: Proto constraint validation failed (A: b)` initializing config '  a.yaml'\nprivate_key {\n}\n: Proto constraint validation failed (A: b)",
      ),
      reason: 'Proto constraint validation failed (A: b)',
    },
    {
      what: 'is what Envoy says as it starts',
      exit: failed(
        "error `route: unknown cluster 'a'` initializing config '  a.yaml'\nroute: unknown cluster 'a'",
      ),
      reason: "route: unknown cluster 'a'",
    },
    {
      what: 'is the last that Envoy said, if it says nothing of the configuration',
      exit: failed('a', ' b '),
      reason: 'b',
    },
    { what: 'is the code of a silent Envoy', exit: failed(), reason: 'Envoy ended with 1' },
    {
      what: 'is the signal of a silent Envoy',
      exit: { kind: 'signaled', signal: 'SIGKILL', tail: [] },
      reason: 'Envoy was ended by SIGKILL',
    },
    {
      what: 'is the last that a killed Envoy said',
      exit: { kind: 'signaled', signal: 'SIGSEGV', tail: ['Caught SIGSEGV'] },
      reason: 'Caught SIGSEGV',
    },
    {
      what: 'is why Envoy could not be started',
      exit: { kind: 'spawn-failed', reason: 'ENOENT' },
      reason: 'ENOENT',
    },
    {
      what: 'has nothing to say of a clean end',
      exit: { kind: 'clean' },
      reason: 'Envoy accepts it',
    },
  ])('$what', ({ exit, reason }) => {
    expect(refusalReason(exit)).toBe(reason);
  });

  it('is one line whatever Envoy writes', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.string({
            unit: fc.constantFrom('a', '\n', "'", ':', ' ', 'error initializing configuration '),
          }),
        ),
        (tail) => {
          expect(refusalReason(failed(...tail))).not.toContain('\n');
        },
      ),
    );
  });
});
