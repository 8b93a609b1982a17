import { expect, it } from 'vitest';
import {
  hostOfCluster,
  inboundName,
  outboundName,
  outboundSni,
} from '../../../../../src/pilot-discovery/generate/scope/cluster-name.ts';

it.each([
  ['', 'outbound|80||a.mesh', 'outbound_.80_._.a.mesh'],
  ['v1', 'outbound|80|v1|a.mesh', 'outbound_.80_.v1_.a.mesh'],
])('the subset "%s" of a.mesh is the cluster %s, and %s to TLS', (subset, name, sni) => {
  const named = { port: 80, subset, host: 'a.mesh' };
  expect([outboundName(named), outboundSni(named)]).toEqual([name, sni]);
});

it('what a workload serves is named by its port', () => {
  expect(inboundName(8080)).toBe('inbound|8080||');
});

it.each([
  ['outbound|80|v1|a.mesh', 'a.mesh'],
  ['outbound_.80_.v1_.a.mesh', 'a.mesh'],
  ['outbound_.80_._.a_.b.mesh', 'a_.b.mesh'],
  ['BlackHoleCluster', ''],
])('%s is a cluster of the host "%s"', (name, host) => {
  expect(hostOfCluster(name)).toBe(host);
});
