import { NEVER, of } from 'rxjs';
import type { StatusParts } from '../../src/pilot-agent/status/status-parts.ts';

/**
 * Returns the parts of a status port for an agent that is ready, live and started, and has nothing
 * else to report; `changes` replace parts.
 */
export function statusParts(changes: Partial<StatusParts> = {}): StatusParts {
  return {
    unready$: of(undefined),
    unlive$: of(undefined),
    unstarted$: of(undefined),
    notes$: of([]),
    admin: { request: () => NEVER, open: () => NEVER },
    probes: new Map(),
    probeHosts: ['localhost'],
    targets: [],
    families$: of([]),
    epochs$: of({ epochs: [], counters: {}, pushes: [], stored: [] }),
    report$: NEVER,
    live$: () => NEVER,
    showsLog: false,
    sources$: of([]),
    config$: of({}),
    profileToken: undefined,
    hasPage: true,
    beforeScrapes: () => undefined,
    version: {},
    ...changes,
  };
}
