import { expect, it } from 'vitest';
import type { Sources } from '../../../../src/pilot-agent/config/sources.ts';
import { runStep } from '../../../../src/pilot-agent/run/run-step.ts';
import { firstView, type RunSign } from '../../../../src/pilot-agent/run/state/view.ts';
import { supportedReleases } from '../../../../src/pilot-agent/envoy/supported-envoys.ts';
import { configOf } from '../../../support/resolved.ts';

const begun = firstView({ config: configOf(), sources: {} as Sources }, 1_000);
const reason = 'no';
const status = { component: 'status' };

it.each<[sign: RunSign, line: Readonly<Record<string, unknown>>]>([
  [
    { type: 'found-ready' },
    { level: 'info', event: 'agent.ready', msg: 'ready after 500 ms', envoy: '1.2.3' },
  ],
  [
    { type: 'found-unready', reason, forMs: 10_000 },
    {
      ...status,
      level: 'warn',
      event: 'agent.not_ready',
      msg: 'not ready yet',
      reason,
      forMs: 10_000,
    },
  ],
  [
    { type: 'not-taken', server: 'port 15020', reason },
    {
      ...status,
      level: 'warn',
      event: 'connection.not_taken',
      msg: 'a connection could not be accepted: the server goes on',
      server: 'port 15020',
      reason,
    },
  ],
  [
    { type: 'request-failed', path: '/a', reason },
    {
      ...status,
      level: 'error',
      event: 'status.request_failed',
      msg: 'a request could not be answered',
      path: '/a',
      reason,
    },
  ],
  [
    { type: 'socket-failed', path: '/a', reason },
    {
      ...status,
      level: 'warn',
      event: 'status.socket_failed',
      msg: 'the agent cannot listen on the status socket',
      path: '/a',
      reason,
    },
  ],
  [
    { type: 'metrics-refused', source: 'envoy', reason },
    {
      ...status,
      level: 'warn',
      event: 'metrics.refused',
      msg: 'a source has too many metrics: the rest is left out',
      source: 'envoy',
      reason,
    },
  ],
  [
    { type: 'metrics-left-out', source: 'envoy', row: 'a 1', reason },
    {
      ...status,
      level: 'info',
      event: 'metrics.left_out',
      msg: 'rows of metrics are left out',
      source: 'envoy',
      row: 'a 1',
      reason,
    },
  ],
  [
    { type: 'probe-failed', path: '/a', reason },
    {
      ...status,
      level: 'info',
      event: 'probe.failed',
      msg: 'a probe of the application fails',
      path: '/a',
      reason,
    },
  ],
  [
    { type: 'probe-redirected', path: '/a', location: 'http://b/' },
    {
      ...status,
      level: 'warn',
      event: 'probe.redirected',
      msg: 'the application redirects a probe to another host, which counts as success',
      path: '/a',
      location: 'http://b/',
    },
  ],
  [
    { type: 'runtime-refused', epoch: 1, reason, delayMs: 200 },
    {
      level: 'warn',
      event: 'runtime.refused',
      msg: 'Envoy has not applied its runtime settings: the agent tries again',
      epoch: 1,
      reason,
      delayMs: 200,
    },
  ],
  [
    { type: 'envoy-reported', version: '1.0.0', path: '/envoy' },
    {
      level: 'warn',
      event: 'envoy.unsupported',
      msg: `the agent is not made for this release of Envoy: use one of ${supportedReleases}`,
      version: '1.0.0',
      path: '/envoy',
    },
  ],
  [
    { type: 'source-unreadable', source: 'map', reason, delayMs: 200 },
    {
      level: 'warn',
      event: 'source.unreadable',
      msg: 'a source of configuration cannot be read: the agent tries again',
      component: 'sources',
      source: 'map',
      reason,
      delayMs: 200,
    },
  ],
])('$type is one line of the log', (sign, line) => {
  const before = { ...begun, envoyVersion: '1.2.3' };
  expect(runStep(before, { sign, at: 1_500 }).lines).toEqual([line]);
});
