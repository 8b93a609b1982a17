import { describe, expect, it } from 'vitest';
import { listenersOf } from '../../../../src/pilot-discovery/generate/listeners/listeners.ts';
import { classOf } from '../../../../src/pilot-discovery/generate/proxy-class.ts';
import { defaultProxyTracing } from '../../../../src/pilot-discovery/istio/telemetry/proxy-tracing.ts';
import type { ProxyNode } from '../../../../src/pilot-discovery/generate/scope/proxy-node.ts';
import { routesOf } from '../../../../src/pilot-discovery/generate/routes/routes.ts';
import { meshIn } from '../../../support/golden.ts';
import { clustersOf, endpointsOf, environmentOf, proxyAt } from '../../../support/generated.ts';

const resource = (kind: string, name: string, spec: string) => `
apiVersion: ${kind === 'PeerAuthentication' ? 'security' : 'networking'}.istio.io/v1
kind: ${kind}
metadata: { name: ${name}, namespace: default }
spec: ${spec}
---
`;
const far = resource(
  'ServiceEntry',
  'far',
  `{ hosts: [far.test], resolution: STATIC, ports: [{ number: 80, name: http, protocol: HTTP }], endpoints: [
    { address: 10.9.0.1, labels: { version: v1 } }, { address: 10.9.0.2, labels: { version: v2 } } ] }`,
);
const proxyWith = (addresses: readonly string[], more: Partial<ProxyNode> = {}) =>
  proxyAt({ addresses, ...more });
const labelled = (labels: ProxyNode['labels']) => proxyAt({ labels });

/** Pairs of proxies, each with the feature that makes a difference between them. */
const pairs: readonly (readonly [
  what: string,
  yaml: string,
  first: ProxyNode,
  other: ProxyNode,
])[] = [
  [
    'the address that a Sidecar means by 0.0.0.0',
    resource(
      'Sidecar',
      'all',
      '{ ingress: [{ port: { number: 9080, name: http, protocol: HTTP }, defaultEndpoint: 0.0.0.0:8080 }] }',
    ),
    proxyWith(['10.0.0.1']),
    proxyWith(['10.0.0.2']),
  ],
  [
    'a label by which a Gateway selects gateways',
    resource(
      'Gateway',
      'front',
      '{ selector: { istio: a }, servers: [{ port: { number: 80, name: http, protocol: HTTP }, hosts: ["*"] }] }',
    ),
    proxyAt({ role: 'router', labels: { istio: 'a' } }),
    proxyAt({ role: 'router', labels: { istio: 'b' } }),
  ],
  [
    'a label of callers by which connections are led',
    resource(
      'ServiceEntry',
      'db',
      '{ hosts: [db.test], resolution: STATIC, ports: [{ number: 90, name: tcp, protocol: TCP }] }',
    ) +
      resource(
        'VirtualService',
        'db',
        '{ hosts: [db.test], tcp: [{ match: [{ sourceLabels: { app: a } }], route: [{ destination: { host: far.test } }] }] }',
      ),
    labelled({ app: 'a' }),
    labelled({ app: 'b' }),
  ],
  [
    'a second family of addresses',
    far,
    proxyWith(['10.0.0.1']),
    proxyWith(['10.0.0.1', 'fd00::1']),
  ],
  ['the first family of two', far, proxyWith(['fd00::1']), proxyWith(['fd00::1', '10.0.0.1'])],
  [
    'a label that failoverPriority names',
    far +
      resource(
        'DestinationRule',
        'far',
        '{ host: far.test, trafficPolicy: { outlierDetection: { interval: 5s }, loadBalancer: { localityLbSetting: { failoverPriority: [version] } } } }',
      ),
    labelled({ version: 'v1' }),
    labelled({ version: 'v2' }),
  ],
  [
    'the name that spans have of the service',
    far,
    labelled({ 'service.istio.io/canonical-name': 'a' }),
    labelled({ 'service.istio.io/canonical-name': 'b' }),
  ],
  ['the mesh that spans name', far, labelled({}), proxyAt({ labels: {}, meshId: 'mesh1' })],
  [
    'the settings of spans',
    far,
    labelled({}),
    proxyAt({ labels: {}, tracing: { ...defaultProxyTracing, sampling: 5 } }),
  ],
  [
    'the port of the status of the agent',
    resource(
      'ServiceEntry',
      'near',
      '{ hosts: [near.test], resolution: NONE, ports: [{ number: 15021, name: tcp, protocol: TCP }] }',
    ),
    proxyWith(['10.0.0.1']),
    proxyWith(['10.0.0.1'], { ownPorts: [15_090] }),
  ],
  [
    'which of the addresses comes first, at an endpoint without a listener of its own',
    resource('WorkloadEntry', 'vm', '{ address: 10.0.0.8, labels: { app: db } }') +
      resource(
        'ServiceEntry',
        'db',
        '{ hosts: [db.test], resolution: NONE, workloadSelector: { labels: { app: db } }, ports: [{ number: 9001, name: tcp, protocol: TCP }] }',
      ),
    proxyWith(['10.0.0.1', '10.0.0.8']),
    proxyWith(['10.0.0.8', '10.0.0.2']),
  ],
  [
    'the address of a port of a Sidecar without bind',
    resource(
      'Sidecar',
      'all',
      '{ ingress: [{ port: { number: 9080, name: http, protocol: HTTP }, defaultEndpoint: "127.0.0.1:8080" }] }',
    ),
    proxyWith(['10.0.0.1']),
    proxyWith(['10.0.0.2']),
  ],
  [
    'the privileges of its pod',
    far,
    proxyWith(['10.0.0.1'], { interception: 'none' }),
    proxyWith(['10.0.0.1'], { interception: 'none', bindable: 'unprivileged' }),
  ],
  [
    'whether it takes HTTP/1.0',
    far,
    proxyWith(['10.0.0.1']),
    proxyWith(['10.0.0.1'], { http10: 'accepted' }),
  ],
  [
    'how it spreads connections',
    far,
    proxyWith(['10.0.0.1']),
    proxyWith(['10.0.0.1'], { exactBalance: { inbound: false, outbound: true } }),
  ],
];

describe('proxies that are given something else', () => {
  it.each(pairs)('are of two classes: %s', (_, yaml, first, other) => {
    const environment = environmentOf(yaml);
    const given = (node: ProxyNode) =>
      [clustersOf, endpointsOf, listenersOf, routesOf]
        .flatMap((make) => make(environment, node))
        .map(({ name, version }) => [name, version]);
    expect(given(first)).not.toEqual(given(other));
    expect(classOf(environment, first)).not.toBe(classOf(environment, other));
  });

  it('are of two classes for the cluster of the node, if a provider names services in spans', () => {
    const mesh = (kind: string) =>
      meshIn(
        `{ defaultProviders: { tracing: [a] }, extensionProviders: [{ name: a, ${kind}: { service: far.test, port: 80 } }] }`,
      );
    const [first, other] = [proxyAt({ cluster: 'a' }), proxyAt({ cluster: 'b' })];
    const classes = (kind: string) => {
      const environment = environmentOf(far, { mesh: mesh(kind) });
      return new Set([first, other].map((node) => classOf(environment, node))).size;
    };
    expect(['zipkin', 'datadog', 'opentelemetry', 'skywalking'].map(classes)).toEqual([1, 2, 2, 1]);
  });

  it('are of one class, if only a label differs by which a Gateway selects gateways', () => {
    const environment = environmentOf(
      resource(
        'Gateway',
        'front',
        '{ selector: { istio: a }, servers: [{ port: { number: 80, name: http, protocol: HTTP }, hosts: ["*"] }] }',
      ),
    );
    const [first, other] = [labelled({ istio: 'a' }), labelled({ istio: 'b' })];
    expect(classOf(environment, first)).toBe(classOf(environment, other));
  });

  it('are of one class if only what nobody looks at differs', () => {
    expect(classOf(environmentOf(far), proxyWith(['10.0.0.1'], { labels: { a: '1' } }))).toBe(
      classOf(environmentOf(far), proxyWith(['10.0.0.2'])),
    );
  });
});
