import { describe, expect, it } from 'vitest';
import { readResources } from '../../../../../src/pilot-discovery/istio/documents/read-resources.ts';

const place = { source: 'files', path: 'a.yaml', defaultNamespace: 'default' };

/** Returns the severity, line, field and sentence of each flaw. */
const flawsOf = (text: string) =>
  readResources(text, place).flaws.map(
    ({ origin, field, reason, severity }) => `${severity} ${origin.line} ${field}: ${reason}`,
  );

/** Returns a Service whose spec begins in line 5. */
const service = (spec: string, metadata = '{ name: web }') =>
  `apiVersion: v1\nkind: Service\nmetadata: ${metadata}\nspec:\n${spec.replace(/^/gm, '  ')}\n`;
const http = 'ports: [{ port: 80 }]';
const many = (count: number, textOf: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => textOf(index)).join(', ');

const crowded = (labels: string) =>
  `${service(`type: LoadBalancer\n${http}`, `{ name: web, labels: { ${labels} } }`)}status: { loadBalancer: { ingress: [${many(65, (index) => `{ ip: 192.0.2.${index} }`)}] } }\n`;

describe('a load balancer with more addresses than there may be gateways of a network', () => {
  it.each([
    ['a: b', []],
    [
      'topology.istio.io/network: east',
      [
        'warning 7 status.loadBalancer.ingress: it has 65 entries: only the first 64 are gateways of its network',
      ],
    ],
  ])('leaves the Service with the label %s good', (labels, flaws) => {
    const text = crowded(labels);
    expect(flawsOf(text)).toEqual(flaws);
    expect(readResources(text, place).resources).toMatchObject([
      { spec: { external: { length: 64 } } },
    ]);
  });
});

describe('a mistake in a Service', () => {
  it.each([
    ['type: ClusterIP', '4 spec.ports: it is missing: at least one port'],
    ['ports: 80', '5 spec.ports: 80 is not a list'],
    ['ports:\n  - name: http', '6 spec.ports[0].port: it is missing: a port from 1 to 65535'],
    ['ports: [{ port: 0 }]', '5 spec.ports[0].port: 0 is not a whole number from 1 to 65535'],
    [
      'ports: [{ port: 80, name: a_b }]',
      "5 spec.ports[0].name: 'a_b' is not a valid name of a port: letters, digits, and - within",
    ],
    [
      'ports:\n  - { port: 80, name: a }\n  - { port: 81 }',
      '7 spec.ports[1].name: it is missing: each of several ports has a name',
    ],
    [
      'ports:\n  - { port: 80, name: a }\n  - { port: 80, name: b }',
      '7 spec.ports[1].port: 80 is there twice',
    ],
    [
      'ports:\n  - { port: 80, name: a }\n  - { port: 81, name: a }',
      "7 spec.ports[1].name: 'a' is there twice",
    ],
    [
      'ports: [{ port: 80, protocol: HTTP }]',
      "5 spec.ports[0].protocol: 'HTTP' is not one of TCP, UDP, SCTP",
    ],
    [
      'ports: [{ port: 80, targetPort: 0 }]',
      '5 spec.ports[0].targetPort: 0 is not a whole number from 1 to 65535',
    ],
    [
      'ports: [{ port: 80, targetPort: a-name-that-is-too-long }]',
      "5 spec.ports[0].targetPort: 'a-name-that-is-too-long' is neither a port from 1 to 65535 nor the name of a port: at most 15 letters, digits and -",
    ],
    [
      `ports: [${many(257, (index) => `{ port: ${index + 1}, name: p${index} }`)}]`,
      '5 spec.ports: it has 257 entries, and the limit is 256',
    ],
    [
      `${http}\ntype: Clusterip`,
      "6 spec.type: 'Clusterip' is not one of ClusterIP, NodePort, LoadBalancer, ExternalName",
    ],
    [`${http}\nclusterIP: here`, "6 spec.clusterIP: 'here' is neither an IP address nor None"],
    [
      `${http}\nclusterIP: 10.0.0.1\nclusterIPs: [10.0.0.2]`,
      "7 spec.clusterIPs: the first address is '10.0.0.2', and clusterIP is '10.0.0.1': give the same",
    ],
    [
      `${http}\nclusterIPs: [10.0.0.1, 10.0.0.2]`,
      '6 spec.clusterIPs: both are of one family: give one of IPv4 and one of IPv6',
    ],
    ...['[None, 10.0.0.1]', '[10.0.0.1, None]'].map((ips): [string, string] => [
      `${http}\nclusterIPs: ${ips}`,
      '6 spec.clusterIPs: None is for a Service without addresses: leave it out, or leave the address out',
    ]),
    [
      `${http}\nclusterIPs: [10.0.0.1, 'fd00::1', 10.0.0.2]`,
      '6 spec.clusterIPs: it has 3 entries, and the limit is 2',
    ],
    ['type: ExternalName', '4 spec.externalName: it is missing: the DNS name that it stands for'],
    [
      'type: ExternalName\nexternalName: 10.0.0.1',
      "6 spec.externalName: '10.0.0.1' is an address: give a DNS name, or an EndpointSlice with the address",
    ],
    ['type: ExternalName\nexternalName: a b', "6 spec.externalName: 'a b' is not a DNS name"],
    [
      `${http}\nexternalName: a.example.com`,
      '6 spec.externalName: it is for the type ExternalName alone',
    ],
    [
      `${http}\nselector: { app: 'a b' }`,
      "6 spec.selector.app: 'a b' is not a valid value of a label",
    ],
    [
      `${http}\npublishNotReadyAddresses: 1`,
      '6 spec.publishNotReadyAddresses: 1 is not true or false',
    ],
  ])('%s', (spec, flaw) => {
    const text = service(spec);
    expect(flawsOf(text)).toEqual([`error ${flaw}`]);
    expect(readResources(text, place).resources).toEqual([]);
  });

  it('is not an empty externalName', () => {
    expect(flawsOf(service(`${http}\nexternalName: ''`))).toEqual([]);
  });

  it.each([
    [
      `${http}\nselectr: { app: web }`,
      '6 spec.selectr: there is no such field: did you mean selector?',
    ],
    [
      `${http}\nsessionAffinity: ClientIP`,
      '6 spec.sessionAffinity: it has no effect: give a DestinationRule with consistentHash and useSourceIp',
    ],
    [
      `${http}\ninternalTrafficPolicy: Local`,
      '6 spec.internalTrafficPolicy: it is not served yet: calls go to all endpoints',
    ],
    [
      `${http}\ntrafficDistribution: PreferSameNode`,
      "6 spec.trafficDistribution: 'PreferSameNode' has no effect, as in Istio 1.26: calls go to all endpoints; give PreferClose",
    ],
    ['ports: [{ port: 80, protocol: SCTP }]', '5 spec.ports[0].protocol: SCTP is not served'],
  ])('is taken with a warning: %s', (spec, flaw) => {
    const text = service(spec);
    expect(flawsOf(text)).toEqual([`warning ${flaw}`]);
    expect(readResources(text, place).resources).toHaveLength(1);
  });

  it.each([
    [
      service(http, '{ name: a.b }'),
      "error 3 metadata.name: 'a.b' is not a valid name of a Service: letters, digits, and - within",
    ],
    [service(http, '{ namespace: a }'), 'error 3 metadata.name: it is missing'],
    [
      service('ports: [{ port: 80 }]\nexternalIPs: [a.b]'),
      "error 6 spec.externalIPs[0]: 'a.b' is not an IP address",
    ],
    [
      `${service(http, '{ name: a, labels: { topology.istio.io/network: b } }')}status: { loadBalancer: { ingress: [{ hostname: c.d }] } }\n`,
      "warning 6 status.loadBalancer.ingress[0]: 'c.d' is not a gateway of its network: names are not resolved, give its address",
    ],
    [
      'apiVersion: v2\nkind: Service\nmetadata: { name: a }\nspec: { ports: [{ port: 80 }] }\n',
      "error 1 apiVersion: 'v2' is not v1",
    ],
    [
      'apiVersion: v1\nkind: Service\nmetadata: { name: a }\n',
      'error 1 spec: it is missing: give at least ports',
    ],
    [
      service(http, "{ name: a, annotations: { networking.istio.io/exportTo: 'a_b' } }"),
      "error 3 metadata.annotations.networking.istio.io/exportTo[0]: 'a_b' is not a namespace: name one, or '.' for its own, or '*' for all",
    ],
    [
      service(http, "{ name: a, annotations: { networking.istio.io/exportTo: '*, b' } }"),
      "error 3 metadata.annotations.networking.istio.io/exportTo: '*' stands alone: leave the others out",
    ],
    [
      service(http, '{ name: a, annotations: { networking.istio.io/traffic-distribution: near } }'),
      "warning 3 metadata.annotations.networking.istio.io/traffic-distribution: 'near' has no effect, as in Istio 1.26: calls go to all endpoints; give PreferClose",
    ],
    [
      service(
        http,
        `{ name: a, annotations: { alpha.istio.io/kubernetes-serviceaccounts: '${many(257, (index) => `a${index}`)}' } }`,
      ),
      'error 3 metadata.annotations.alpha.istio.io/kubernetes-serviceaccounts: it has 257 service accounts, and the limit is 256',
    ],
    [
      'apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: { name: a, annotations: { networking.istio.io/traffic-distribution: near } }\nspec: { hosts: [a.com], ports: [{ number: 80, name: http }] }\n',
      "warning 3 metadata.annotations.networking.istio.io/traffic-distribution: 'near' has no effect, as in Istio 1.26: calls go to all endpoints; give PreferClose",
    ],
  ])('%s', (text, flaw) => {
    expect(flawsOf(text)[0]).toBe(flaw);
  });
});

const named = '{ name: web-1, labels: { kubernetes.io/service-name: web } }';

/** Returns an EndpointSlice whose members begin in line 4. */
const slice = (members: string, metadata = named) =>
  `apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: ${metadata}\n${members}\n`;

describe('a mistake in an EndpointSlice', () => {
  it.each([
    [
      slice('addressType: IPv4', '{ name: web-1 }'),
      '3 metadata.labels.kubernetes.io/service-name: it is missing: the name of the Service of these endpoints',
    ],
    [
      slice('addressType: IPv4', '{ name: web-1, labels: { kubernetes.io/service-name: a.b } }'),
      "3 metadata.labels.kubernetes.io/service-name: 'a.b' is not a valid name of a Service",
    ],
    [slice('endpoints: []'), '1 addressType: it is missing: IPv4 or IPv6'],
    [slice('addressType: ipv4'), "4 addressType: 'ipv4' is not one of IPv4, IPv6, FQDN"],
    [
      slice("addressType: IPv4\nendpoints:\n  - addresses: ['::1']"),
      "6 endpoints[0].addresses[0]: '::1' is not an address of IPv4, as addressType says",
    ],
    [
      slice('addressType: IPv6\nendpoints:\n  - addresses: [10.0.0.1]'),
      "6 endpoints[0].addresses[0]: '10.0.0.1' is not an address of IPv6, as addressType says",
    ],
    [
      slice('addressType: IPv4\nendpoints:\n  - conditions: { ready: true }'),
      '6 endpoints[0].addresses: it is missing: at least one address',
    ],
    [
      slice(
        'addressType: IPv4\nendpoints: [{ addresses: [10.0.0.1], conditions: { ready: true, serving: 1 } }]',
      ),
      '5 endpoints[0].conditions.serving: 1 is not true or false',
    ],
    [
      slice(`addressType: IPv4\nendpoints: [${many(1_001, () => '{ addresses: [10.0.0.1] }')}]`),
      '5 endpoints: it has 1001 entries, and the limit is 1000',
    ],
    [
      slice(`addressType: IPv4\nendpoints: [{ addresses: [${many(101, () => '10.0.0.1')}] }]`),
      '5 endpoints[0].addresses: it has 101 entries, and the limit is 100',
    ],
    [
      slice('addressType: IPv4\nports: [{ name: http }]'),
      '5 ports[0].port: it is missing: a port from 1 to 65535',
    ],
    [
      slice('addressType: IPv4\nports: [{ port: 70000 }]'),
      '5 ports[0].port: 70000 is not a whole number from 1 to 65535',
    ],
    [
      slice('addressType: IPv4\nports: [{ name: a, port: 80 }, { name: a, port: 81 }]'),
      "5 ports: the name 'a' is there twice",
    ],
  ])('%s', (text, flaw) => {
    expect(flawsOf(text)).toEqual([`error ${flaw}`]);
  });

  it('is taken with a warning: names', () => {
    expect(
      flawsOf(slice('addressType: FQDN\nendpoints: [{ addresses: [a.example.com] }]')),
    ).toEqual([
      'warning 4 addressType: FQDN is not served: give IP addresses, or a ServiceEntry with resolution DNS',
    ]);
  });

  it('says which version is read', () => {
    const text = slice('addressType: IPv4').replace('k8s.io/v1', 'k8s.io/v1beta1');
    expect(flawsOf(text)).toEqual([
      "error 1 apiVersion: 'discovery.k8s.io/v1beta1' is not discovery.k8s.io/v1",
    ]);
  });
});

/** Returns Endpoints whose members begin in line 4. */
const endpoints = (members: string, metadata = '{ name: web }') =>
  `apiVersion: v1\nkind: Endpoints\nmetadata: ${metadata}\n${members}\n`;

describe('a mistake in Endpoints', () => {
  const ports = 'ports: [{ port: 80 }]';
  it.each([
    [
      endpoints('subsets: []', '{ name: a.b }'),
      "3 metadata.name: 'a.b' is not a valid name of a Service",
    ],
    [endpoints('subsets: {}'), '4 subsets: {} is not a list'],
    [
      endpoints(`subsets: [{ ${ports} }]`),
      '4 subsets[0].addresses: it is missing: at least one address',
    ],
    [
      endpoints(`subsets: [{ addresses: [{ ip: here }], ${ports} }]`),
      "4 subsets[0].addresses[0].ip: 'here' is not an IP address",
    ],
    [
      endpoints(`subsets: [{ notReadyAddresses: [{ hostname: a }], ${ports} }]`),
      '4 subsets[0].notReadyAddresses[0].ip: it is missing',
    ],
    [
      endpoints('subsets: [{ addresses: [{ ip: 10.0.0.1 }], ports: [{ name: http }] }]'),
      '4 subsets[0].ports[0].port: it is missing: a port from 1 to 65535',
    ],
    [
      endpoints(
        'subsets: [{ addresses: [{ ip: 10.0.0.1 }], ports: [{ name: a, port: 80 }, { name: a, port: 81 }] }]',
      ),
      "4 subsets[0].ports: the name 'a' is there twice",
    ],
    [
      endpoints(`subsets: [{ addresses: [${many(1_001, () => '{ ip: 10.0.0.1 }')}], ${ports} }]`),
      '4 subsets[0].addresses: it has 1001 entries, and the limit is 1000',
    ],
    [
      endpoints(`subsets: [${many(257, () => `{ addresses: [{ ip: 10.0.0.1 }], ${ports} }`)}]`),
      '4 subsets: it has 257 entries, and the limit is 256',
    ],
    [endpoints('subsets: 7'), '4 subsets: 7 is not a list'],
    [endpoints('subsets: [7]'), '4 subsets[0]: 7 is not an object'],
    [
      endpoints(`subsets: [{ addresses: 10.0.0.1, ${ports} }]`),
      "4 subsets[0].addresses: '10.0.0.1' is not a list",
    ],
    [
      endpoints(`subsets: [{ addresses: [10.0.0.1], ${ports} }]`),
      "4 subsets[0].addresses[0]: '10.0.0.1' is not an object",
    ],
    [
      endpoints(`subsets: [{ addresses: [{ ip: 10.0.0.256 }], ${ports} }]`),
      "4 subsets[0].addresses[0].ip: '10.0.0.256' is not an IP address",
    ],
    [
      endpoints('subsets: [{ addresses: [{ ip: 10.0.0.1 }], ports: 80 }]'),
      '4 subsets[0].ports: 80 is not a list',
    ],
    [
      endpoints('subsets: [{ addresses: [{ ip: 10.0.0.1 }], ports: [{ port: 70000 }] }]'),
      '4 subsets[0].ports[0].port: 70000 is not a whole number from 1 to 65535',
    ],
    [
      endpoints(
        'subsets: [{ addresses: [{ ip: 10.0.0.1 }], ports: [{ port: 80, protocol: HTTP }] }]',
      ),
      "4 subsets[0].ports[0].protocol: 'HTTP' is not one of TCP, UDP, SCTP",
    ],
    [
      endpoints(
        `subsets: [{ addresses: [{ ip: 10.0.0.1 }], ports: [${many(257, (index) => `{ port: ${index + 1}, name: p${index} }`)}] }]`,
      ),
      '4 subsets[0].ports: it has 257 entries, and the limit is 256',
    ],
    [
      endpoints(`subsets: [{ addresses: [{ ip: 10.0.0.1, targetRef: web-1 }], ${ports} }]`),
      "4 subsets[0].addresses[0].targetRef: 'web-1' is not an object",
    ],
    [
      endpoints('subsets: []', "{ name: web, labels: { app: 'a b' } }"),
      "3 metadata.labels.app: 'a b' is not a valid value of a label",
    ],
    [endpoints('subsets: []').replace('v1', 'v2'), "1 apiVersion: 'v2' is not v1"],
  ])('%s', (text, flaw) => {
    expect(flawsOf(text)[0]).toBe(`error ${flaw}`);
  });

  it('is taken with a warning: a field that there is not', () => {
    expect(flawsOf(endpoints('subset: []'))).toEqual([
      'warning 4 subset: there is no such field: did you mean subsets?',
    ]);
  });
});

describe('a mistake in a Pod', () => {
  it.each([
    ['status: { podIP: here }', "4 status.podIP: 'here' is not an IP address"],
    ['status: { podIPs: [{ ip: here }] }', "4 status.podIPs[0].ip: 'here' is not an IP address"],
    [
      'status: { phase: running }',
      "4 status.phase: 'running' is not one of Pending, Running, Unknown, Succeeded, Failed",
    ],
    ['status: 7', '4 status: 7 is not an object'],
    ['spec: { containers: {} }', '4 spec.containers: {} is not a list'],
    [
      'spec: { containers: [{ ports: [{ containerPort: 0 }] }] }',
      '4 spec.containers[0].ports[0].containerPort: 0 is not a whole number from 1 to 65535',
    ],
    [
      `spec: { containers: [${many(129, () => '{}')}] }`,
      '4 spec.containers: it has 129 entries, and the limit is 128',
    ],
    ['spec: { serviceAccountName: 1 }', '4 spec.serviceAccountName: 1 is not a text'],
    ['status: { podIP: 7 }', '4 status.podIP: 7 is not a text'],
    ['status: { podIPs: 10.0.0.1 }', "4 status.podIPs: '10.0.0.1' is not a list"],
    [
      "status: { podIPs: [{ ip: 10.0.0.1 }, { ip: '::1' }, { ip: 10.0.0.3 }] }",
      '4 status.podIPs: it has 3 entries, and the limit is 2',
    ],
    ['status: { podIPs: [7] }', '4 status.podIPs[0]: 7 is not an object'],
    ['status: { conditions: {} }', '4 status.conditions: {} is not a list'],
    [
      'status: { conditions: [{ type: Ready, status: 1 }] }',
      '4 status.conditions[0].status: 1 is not a text',
    ],
    ['spec: 7', '4 spec: 7 is not an object'],
    ['spec: { containers: [7] }', '4 spec.containers[0]: 7 is not an object'],
    ['spec: { nodeName: 7 }', '4 spec.nodeName: 7 is not a text'],
    ['spec: { serviceAccount: 7 }', '4 spec.serviceAccount: 7 is not a text'],
    ['spec: { initContainers: 7 }', '4 spec.initContainers: 7 is not a list'],
    ['spec: { containers: [{ ports: 80 }] }', '4 spec.containers[0].ports: 80 is not a list'],
    ['spec: { containers: [{ ports: [7] }] }', '4 spec.containers[0].ports[0]: 7 is not an object'],
    [
      'spec: { containers: [{ ports: [{ containerPort: http }] }] }',
      "4 spec.containers[0].ports[0].containerPort: 'http' is not a whole number from 1 to 65535",
    ],
    [
      'spec: { containers: [{ ports: [{ containerPort: 80, name: 7 }] }] }',
      '4 spec.containers[0].ports[0].name: 7 is not a text',
    ],
  ])('%s', (members, flaw) => {
    const text = `apiVersion: v1\nkind: Pod\nmetadata: { name: a }\n${members}\n`;
    expect(flawsOf(text)).toEqual([`error ${flaw}`]);
  });

  it('is not in what is for others', () => {
    const text =
      'apiVersion: v1\nkind: Pod\nmetadata: { name: a }\nspec: { hostPID: true, containers: [{ image: a, env: [{ name: A }] }] }\nstatus: { qosClass: Burstable }\n';
    expect(flawsOf(text)).toEqual([]);
  });
});

describe.each(['Namespace', 'Node', 'Pod'])('a mistake in the metadata of a %s', (kind) => {
  const long = 'a'.repeat(64);
  it.each([
    ['7', ': 7 is not an object'],
    ['{}', '.name: it is missing'],
    ["{ name: '' }", '.name: it is missing'],
    ['{ name: 7 }', '.name: 7 is not a text'],
    ['{ name: Shop }', ".name: 'Shop' is not a valid name of a"],
    ['{ name: a_b }', ".name: 'a_b' is not a valid name of a"],
    ['{ name: a/b }', ".name: 'a/b' is not a valid name of a"],
    ['{ name: -a }', ".name: '-a' is not a valid name of a"],
    [`{ name: ${long} }`, `.name: '${long}' is not a valid name of a`],
    ['{ name: a, namespace: 7 }', '.namespace: 7 is not a text'],
    ['{ name: a, labels: [] }', '.labels: [] is not an object'],
    ['{ name: a, labels: { a: 7 } }', '.labels.a: 7 is not a text'],
    ["{ name: a, labels: { 'a b': c } }", ".labels.a b: 'a b' is not a valid name of a label"],
    ["{ name: a, labels: { '/b': c } }", ".labels./b: '/b' is not a valid name of a label"],
    ['{ name: a, labels: { a: b/c } }', ".labels.a: 'b/c' is not a valid value of a label"],
    [`{ name: a, labels: { a: ${long} } }`, `.labels.a: '${long}' is not a valid value of a label`],
    ['{ name: a, annotations: [] }', '.annotations: [] is not an object'],
    ['{ name: a, annotations: { a: 7 } }', '.annotations.a: 7 is not a text'],
    [
      "{ name: a, annotations: { 'a b': c } }",
      ".annotations.a b: 'a b' is not a valid name of an annotation",
    ],
    ['{ name: a, generateName: 7 }', '.generateName: 7 is not a text'],
    ['{ name: a, ownerReferences: {} }', '.ownerReferences: {} is not a list'],
    ['{ name: a, ownerReferences: [7] }', '.ownerReferences[0]: 7 is not an object'],
  ])('%s', (metadata, flaw) => {
    const text = `apiVersion: v1\nkind: ${kind}\nmetadata: ${metadata}\n`;
    expect(flawsOf(text)[0]).toContain(`error 3 metadata${flaw}`);
    expect(readResources(text, place).resources).toEqual([]);
  });

  it('v2', () => {
    const text = `apiVersion: v2\nkind: ${kind}\nmetadata: { name: a }\n`;
    expect(flawsOf(text)).toEqual(["error 1 apiVersion: 'v2' is not v1"]);
  });
});

describe('the name of an object of Kubernetes', () => {
  const named = (kind: string, name: string) =>
    flawsOf(`apiVersion: v1\nkind: ${kind}\nmetadata: { name: ${name} }\n`);

  it('is one part of a DNS name for a Namespace', () => {
    expect(named('Namespace', 'a.b')).toEqual([
      "error 3 metadata.name: 'a.b' is not a valid name of a Namespace: 63 lower-case letters, digits and - at most",
    ]);
  });

  it('is a DNS name for a Node and a Pod', () => {
    expect(named('Node', 'a-1.example.com')).toEqual([]);
    expect(named('Pod', 'a.b')).toEqual([]);
    const long = Array.from({ length: 85 }, () => 'aa').join('.');
    expect(named('Node', long)).toEqual([
      `error 3 metadata.name: '${long}' is not a valid name of a Node: 253 lower-case letters, digits, - and . at most`,
    ]);
  });
});
