import type { GivenFlags } from '../config/flag-layer.ts';
import type { GivenLogFlags } from '../../shared/log/log-options.ts';
import { real } from '../run/outside.ts';
import { wholeAgent } from '../run/whole-agent.ts';

/**
 * `pilot-agent proxy`: runs the agent until it has ended as requested. Rejects with a `Fatal` for
 * any other end.
 *
 * @param given the flags that were given, by name
 * @param leftover the arguments that no flag took
 * @param logFlags the flags about logging that were given
 */
export async function proxy(
  given: GivenFlags,
  leftover: readonly string[],
  logFlags: GivenLogFlags,
): Promise<void> {
  await wholeAgent({
    line: { given, leftover, logFlags },
    outside: real,
    process: 'own',
    envoy: 'find',
    sources: [],
    startedAt: performance.timeOrigin,
  });
}
