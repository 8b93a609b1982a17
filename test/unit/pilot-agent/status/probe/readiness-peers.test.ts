import { describe, expect, it } from 'vitest';
import { readiness } from '../../../../../src/pilot-agent/status/probe/readiness.ts';

const [cds, lds, state, workers] = [
  'cluster_manager.cds.update_success',
  'listener_manager.lds.update_success',
  'server.state',
  'listener_manager.workers_started',
];
const stats = (...pairs: readonly (readonly [string | undefined, number | string])[]) =>
  pairs.map(([name, value]) => `${name ?? ''}: ${value}\n`).join('');
const running = [
  [state, 0],
  [workers, 1],
] as const;
const waiting = 'config not received from Pilot (is Pilot running?): ';

/**
 * Runs the peers' cases. Envoy 1.36 has a statistic of 0 if it subscribes and has received nothing.
 * If it need not subscribe, an absent statistic means that it does not.
 */
describe('readiness, by the cases of the Go agents', () => {
  it.each<{ id: string; body: string; reason: string | undefined; subscribes?: true }>([
    {
      id: 'no word of either, of a bootstrap that asks for both',
      body: stats(...running),
      subscribes: true,
      reason: `${waiting}cds updates: 0 successful, 0 rejected; lds updates: 0 successful, 0 rejected`,
    },
    {
      id: 'listeners alone, of such a bootstrap',
      body: stats([lds, 1], ...running),
      subscribes: true,
      reason: `${waiting}cds updates: 0 successful, 0 rejected; lds updates: 1 successful, 0 rejected`,
    },
    {
      id: 'clusters alone, of such a bootstrap',
      body: stats([cds, 1], ...running),
      subscribes: true,
      reason: `${waiting}cds updates: 1 successful, 0 rejected; lds updates: 0 successful, 0 rejected`,
    },
    {
      id: 'both, of such a bootstrap',
      body: stats([cds, 1], [lds, 1], ...running),
      subscribes: true,
      reason: undefined,
    },
    {
      id: 'a rejection without a count of successes',
      body: `cluster_manager.cds.update_rejected: 1\n${stats([lds, 1], ...running)}`,
      reason: `${waiting}cds updates: 0 successful, 1 rejected; lds updates: 1 successful, 0 rejected`,
    },
    { id: 'ready', body: stats([cds, 1], [lds, 1], ...running), reason: undefined },
    {
      id: 'no clusters yet',
      body: stats([cds, 0], [lds, 1], ...running),
      reason: `${waiting}cds updates: 0 successful, 0 rejected; lds updates: 1 successful, 0 rejected`,
    },
    {
      id: 'no listeners yet',
      body: stats([cds, 1], [lds, 0], ...running),
      reason: `${waiting}cds updates: 1 successful, 0 rejected; lds updates: 0 successful, 0 rejected`,
    },
    {
      id: 'workers not started',
      body: `\n${stats([cds, 1], [lds, 1], [workers, 0], [state, 0])}`,
      reason: 'workers have not yet started',
    },
    {
      id: 'an empty line first',
      body: `\n${stats([cds, 1], [lds, 1], ...running)}`,
      reason: undefined,
    },
    {
      id: 'initializing',
      body: stats([cds, 1], [lds, 1], [state, 2], [workers, 1]),
      reason: 'server is not live, current state is: PRE_INITIALIZING',
    },
    { id: 'the state alone', body: stats([state, 0]), reason: 'failed to get readiness stats' },
    { id: 'nothing', body: '', reason: 'failed to get readiness stats' },
    {
      id: 'without workers: fixed, they are asked for (1.5: not)',
      body: stats([cds, 1], [lds, 1], [state, 0]),
      reason: 'failed to get readiness stats',
    },
    {
      id: 'a rejection does not count as configuration: as in 1.5, not in 1.1',
      body: `cluster_manager.cds.update_rejected: 1\n${stats([cds, 0], [lds, 1], ...running)}`,
      reason: `${waiting}cds updates: 0 successful, 1 rejected; lds updates: 1 successful, 0 rejected`,
    },
    {
      id: 'clusters and listeners alone, which were enough for 1.1',
      body: stats([cds, 1], [lds, 1]),
      reason: 'failed to get readiness stats',
    },
    {
      id: 'no word of clusters, of a configuration that need not ask for any (1.1: not ready)',
      body: stats([lds, 1], ...running),
      reason: undefined,
    },
    {
      id: 'no word of listeners, of a configuration that need not ask for any (1.1: not ready)',
      body: stats([cds, 1], ...running),
      reason: undefined,
    },
    {
      id: 'clusters, and listeners that were rejected (1.1: ready)',
      body: `listener_manager.lds.update_rejected: 1\n${stats([cds, 1], [lds, 0], ...running)}`,
      reason: `${waiting}cds updates: 1 successful, 0 rejected; lds updates: 0 successful, 1 rejected`,
    },
    {
      id: 'all four counts in words',
      body: `cluster_manager.cds.update_rejected: 2\nlistener_manager.lds.update_rejected: 4\n${stats([cds, 0], [lds, 3], ...running)}`,
      reason: `${waiting}cds updates: 0 successful, 2 rejected; lds updates: 3 successful, 4 rejected`,
    },
    {
      id: 'a line without its colon',
      body: `server.state; 0\n${stats([workers, 1])}`,
      reason: 'failed to get readiness stats',
    },
    {
      id: 'a value that is not a number',
      body: stats([state, 'a'], [workers, 1]),
      reason: 'failed to get readiness stats',
    },
  ])('$id', ({ body, reason, subscribes }) => {
    expect(readiness(body, subscribes)).toBe(reason);
  });
});
