import { describe, expect, it } from 'vitest';
import { clusterView } from '../../../../../src/pilot-discovery/generate/clusters/clusters.ts';
import { proxyIn, resourceText } from '../../../../support/golden.ts';
import { environmentOf } from '../../../../support/generated.ts';

const router = proxyIn('LABELS: { istio: ingressgateway }', {
  id: 'router~10.0.0.1~gateway.default~default.svc.cluster.local',
});
const services = ['a', 'b'].map((name) =>
  resourceText(
    'ServiceEntry',
    name,
    `{ hosts: [${name}.mesh], resolution: STATIC, ports: [{ number: 80, name: p, protocol: HTTP }, { number: 81, name: q, protocol: HTTP }], endpoints: [{ address: 10.0.0.2, labels: { v: v1 } }] }`,
  ),
);
const subsets = resourceText(
  'DestinationRule',
  'a',
  '{ host: a.mesh, subsets: [{ name: v1, labels: { v: v1 } }, { name: v2, labels: { v: v2 } }] }',
);
const gateway = resourceText(
  'Gateway',
  'front',
  '{ selector: { istio: ingressgateway }, servers: [{ port: { number: 80, name: http, protocol: HTTP }, hosts: ["*"] }] }',
);
const rule = (destinations: string) =>
  resourceText(
    'VirtualService',
    'r',
    `{ hosts: [a.example.com], gateways: [front], http: [{ route: [${destinations}] }] }`,
  );
const toV1 = rule('{ destination: { host: a.mesh, subset: v1, port: { number: 81 } } }');

const names = (yaml: readonly string[], gatewayClusters?: 'all', node = router) =>
  [
    ...clusterView(
      environmentOf(yaml.join('---\n'), gatewayClusters === undefined ? {} : { gatewayClusters }),
      node,
    ).resources.keys(),
  ].sort();

describe('the clusters of a gateway', () => {
  it('are those that a route leads to', () => {
    expect(names([...services, subsets, gateway, toV1])).toEqual([
      'BlackHoleCluster',
      'outbound|81|v1|a.mesh',
    ]);
  });

  it('are those that connections are handed on to', () => {
    const tcp = resourceText(
      'Gateway',
      'tcp',
      '{ servers: [{ port: { number: 90, name: tcp, protocol: TCP }, hosts: ["*"] }] }',
    );
    const connections = resourceText(
      'VirtualService',
      't',
      '{ hosts: ["*"], gateways: [tcp], tcp: [{ route: [{ destination: { host: b.mesh, port: { number: 81 } } }] }] }',
    );
    expect(names([...services, tcp, connections])).toEqual([
      'BlackHoleCluster',
      'outbound|81||b.mesh',
    ]);
  });

  it('are none without a route, and none of a service that is not there', () => {
    expect(names([...services, subsets, gateway])).toEqual(['BlackHoleCluster']);
    expect(names([...services, gateway, rule('{ destination: { host: c.mesh } }')])).toEqual([
      'BlackHoleCluster',
    ]);
  });

  it('are all that it sees, if the control plane is told so', () => {
    expect(names([...services, gateway, toV1], 'all')).toEqual([
      'BlackHoleCluster',
      'outbound|80||a.mesh',
      'outbound|80||b.mesh',
      'outbound|81||a.mesh',
      'outbound|81||b.mesh',
    ]);
  });

  it('stay the same object when a rule changes that leads to the same', () => {
    const before = environmentOf([...services, subsets, gateway, toV1].join('---\n'));
    const other = toV1.replace('a.example.com', 'b.example.com');
    const after = environmentOf([...services, subsets, gateway, other].join('---\n'), { before });
    expect(after.virtualServices).not.toBe(before.virtualServices);
    expect(clusterView(after, router).version).toBe(clusterView(before, router).version);
  });

  it('are all of a sidecar', () => {
    expect(names([...services, gateway, toV1], undefined, proxyIn('')).length).toBe(7);
  });
});
