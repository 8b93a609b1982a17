import { NEVER } from 'rxjs';
import type { StatusOptions } from '../../src/pilot-agent/run/status/serve-status.ts';

/**
 * The options of a status port that do not depend on the events of a run, for an agent without a
 * state.
 */
export const shown: Pick<StatusOptions, 'status' | 'identity' | 'lines$'> = {
  status: {
    probes: new Map(),
    probeHosts: ['localhost'],
    targets: [],
    profileToken: undefined,
    beforeScrapes: () => undefined,
    version: {},
  },
  identity: {
    ...{
      version: '1.0.0',
      node: 'v20',
      pid: 1,
      role: 'sidecar',
      nodeId: 'sidecar~10.0.0.1~a.b~b.svc',
    },
    ...{
      configPath: '/etc/istio/proxy',
      statusPort: 15_020,
      adminPort: 15_000,
      binary: '/usr/local/bin/envoy',
    },
  },
  lines$: NEVER,
};
