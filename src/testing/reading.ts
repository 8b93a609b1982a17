import type { EpochConfig } from '../epochs/ports.ts';
import type { Reading } from '../streams/reading.ts';

/** Returns a reading that is identified by its hash; its configuration does not matter. */
export function readingOf(
  hash: string,
  config: EpochConfig = { kind: 'given', path: '/envoy.json', override: '' },
): Reading<EpochConfig> {
  return { hash, config, changed: [] };
}
