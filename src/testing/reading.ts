import type { EpochConfig } from '../epochs/ports.ts';
import type { Reading } from '../streams/reading.ts';

/** A reading that is known by its hash alone, of a configuration that nobody looks at. */
export function readingOf(
  hash: string,
  config: EpochConfig = { kind: 'given', path: '/envoy.json', override: '' },
): Reading<EpochConfig> {
  return { hash, config, changed: [] };
}
