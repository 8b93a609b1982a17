import type { EpochConfig, Reading } from '../agent/ports.ts';

/** A reading that is known by its hash alone, of a configuration that nobody looks at. */
export function readingOf(hash: string, config: EpochConfig = { kind: 'given', path: '/envoy.json', override: '' }): Reading {
  return { hash, config, changed: [] };
}
