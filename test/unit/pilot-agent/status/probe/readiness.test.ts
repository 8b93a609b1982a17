import { describe, expect, it } from 'vitest';
import {
  readiness,
  readinessFilter,
} from '../../../../../src/pilot-agent/status/probe/readiness.ts';

/**
 * Returns the statistics of a ready Envoy with CDS and LDS, with changes; undefined leaves one out.
 */
const body = (changes: Readonly<Record<string, number | undefined>> = {}) => {
  const stats: Readonly<Record<string, number | undefined>> = {
    'cluster_manager.cds.update_rejected': 0,
    'cluster_manager.cds.update_success': 1,
    'listener_manager.lds.update_rejected': 0,
    'listener_manager.lds.update_success': 1,
    'listener_manager.workers_started': 1,
    'server.state': 0,
    ...changes,
  };
  return Object.entries(stats)
    .map(([name, value]) => (value === undefined ? '' : `${name}: ${value}\n`))
    .join('');
};
const received = 'config not received from Pilot (is Pilot running?)';
const noCds = {
  'cluster_manager.cds.update_success': undefined,
  'cluster_manager.cds.update_rejected': undefined,
};
const noLds = {
  'listener_manager.lds.update_success': undefined,
  'listener_manager.lds.update_rejected': undefined,
};

describe('readiness', () => {
  it.each<{ what: string; stats: string; reason: string | undefined }>([
    { what: 'is ready with all that it wants', stats: body(), reason: undefined },
    {
      what: 'is ready in spite of updates that were rejected later',
      stats: body({ 'cluster_manager.cds.update_rejected': 3 }),
      reason: undefined,
    },
    {
      what: 'is ready without CDS and LDS: a static configuration (the Go agent never is)',
      stats: body({ ...noCds, ...noLds }),
      reason: undefined,
    },
    {
      what: 'waits for clusters',
      stats: body({ 'cluster_manager.cds.update_success': 0 }),
      reason: `${received}: cds updates: 0 successful, 0 rejected; lds updates: 1 successful, 0 rejected`,
    },
    {
      what: 'waits for listeners',
      stats: body({
        'listener_manager.lds.update_success': 0,
        'listener_manager.lds.update_rejected': 2,
      }),
      reason: `${received}: cds updates: 1 successful, 0 rejected; lds updates: 0 successful, 2 rejected`,
    },
    {
      what: 'waits for clusters, if there is no LDS',
      stats: body({
        ...noLds,
        'cluster_manager.cds.update_success': 0,
        'cluster_manager.cds.update_rejected': 1,
      }),
      reason: `${received}: cds updates: 0 successful, 1 rejected; lds updates: 0 successful, 0 rejected`,
    },
    {
      what: 'waits for clusters that only its parent has got, whose counter it has',
      stats: body({
        'cluster_manager.cds.update_time': 0,
        'listener_manager.lds.update_time': 1_795_333_042_066,
      }),
      reason: `${received}: cds updates: 0 successful, 0 rejected; lds updates: 1 successful, 0 rejected`,
    },
    {
      what: 'waits for listeners that only its parent has got',
      stats: body({
        'cluster_manager.cds.update_time': 1_795_333_042_061,
        'listener_manager.lds.update_time': 0,
      }),
      reason: `${received}: cds updates: 1 successful, 0 rejected; lds updates: 0 successful, 0 rejected`,
    },
    { what: 'is ready with listeners alone', stats: body(noCds), reason: undefined },
    {
      what: 'is not ready while it drains',
      stats: body({ 'server.state': 1 }),
      reason: 'server is not live, current state is: DRAINING',
    },
    {
      what: 'is not ready before it initializes',
      stats: body({ 'server.state': 2 }),
      reason: 'server is not live, current state is: PRE_INITIALIZING',
    },
    {
      what: 'is not ready while it initializes',
      stats: body({ 'server.state': 3 }),
      reason: 'server is not live, current state is: INITIALIZING',
    },
    {
      what: 'is not ready in a state that nobody knows',
      stats: body({ 'server.state': 9 }),
      reason: 'server is not live, current state is: 9',
    },
    {
      what: 'waits for the workers',
      stats: body({ 'listener_manager.workers_started': 0 }),
      reason: 'workers have not yet started',
    },
    {
      what: 'names the configuration before the state',
      stats: body({ 'cluster_manager.cds.update_success': 0, 'server.state': 3 }),
      reason: `${received}: cds updates: 0 successful, 0 rejected; lds updates: 1 successful, 0 rejected`,
    },
    {
      what: 'names the state before the workers',
      stats: body({ 'server.state': 3, 'listener_manager.workers_started': 0 }),
      reason: 'server is not live, current state is: INITIALIZING',
    },
    {
      what: 'is not ready without a state',
      stats: body({ 'server.state': undefined }),
      reason: 'failed to get readiness stats',
    },
    {
      what: 'is not ready without workers to ask',
      stats: body({ 'listener_manager.workers_started': undefined }),
      reason: 'failed to get readiness stats',
    },
    { what: 'is not ready on an empty answer', stats: '', reason: 'failed to get readiness stats' },
    {
      what: 'is not ready on a state without a value',
      stats: body({ 'server.state': undefined }) + 'server.state: \n',
      reason: 'failed to get readiness stats',
    },
  ])('$what', ({ stats, reason }) => {
    expect(readiness(stats)).toBe(reason);
  });

  it('asks for what it looks at, and for nothing else', () => {
    const filter = new RegExp(readinessFilter);
    for (const line of body().trim().split('\n')) expect(line.replace(/: .*/, '')).toMatch(filter);
    for (const other of [
      'server.state_x',
      'server_state',
      'cluster_manager.cds.update_attempt',
      'a.server.state',
    ])
      expect(other).not.toMatch(filter);
  });
});
