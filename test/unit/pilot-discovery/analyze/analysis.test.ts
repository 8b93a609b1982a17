import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { analysisOf, inOrder } from '../../../../src/pilot-discovery/analyze/analysis.ts';
import { fieldLines } from '../../../../src/pilot-discovery/analyze/field-lines.ts';
import type { AnalysisContext } from '../../../../src/pilot-discovery/analyze/facts.ts';
import { eachResource } from '../../../../src/pilot-discovery/environment/resources.ts';
import { readMeshConfig } from '../../../../src/pilot-discovery/istio/mesh/read-mesh-config.ts';
import {
  type ReadPath,
  readPaths,
} from '../../../../src/pilot-discovery/registry/files/read-paths.ts';
import {
  findingsJson,
  findingsText,
} from '../../../../src/pilot-discovery/analyze/show-findings.ts';
import { growthRatio } from '../../../support/growth-ratio.ts';
import { meshOfServices } from '../../../support/mesh-of-services.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pilot-analyze-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const nothingElse: AnalysisContext = {
  domain: 'cluster.local',
  mesh: undefined,
  domainsElsewhere: [],
};

const findingsWith = (context: AnalysisContext, ...paths: readonly ReadPath[]) => {
  const { withLine } = fieldLines((path) => readFileSync(path));
  return inOrder(analysisOf(readPaths(paths, 'default'), context).map(withLine));
};
const findingsIn = (...paths: readonly ReadPath[]) => findingsWith(nothingElse, ...paths);

/** Returns the findings in files of a folder, without the path of the folder. */
function findingLines(
  files: Readonly<Record<string, string>>,
  context: Partial<AnalysisContext> = {},
): readonly string[] {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const place: ReadPath = { path: folder, kind: 'folder' };
  return findingsText(findingsWith({ ...nothingElse, ...context }, place))
    .replaceAll(`${folder}/`, '')
    .split('\n')
    .slice(0, -1);
}

const groups: Readonly<Record<string, string>> = {
  PeerAuthentication: 'security',
  AuthorizationPolicy: 'security',
  Telemetry: 'telemetry',
};
const resource = (kind: string, name: string, spec: string, namespace = 'shop') =>
  `apiVersion: ${groups[kind] ?? 'networking'}.istio.io/v1
kind: ${kind}
metadata: { name: ${name}, namespace: ${namespace} }
spec:
${spec.replace(/^/gm, '  ')}
---
`;
const entry = (host: string, more = 'ports: [{ number: 80, name: http, protocol: HTTP }]') =>
  resource(
    'ServiceEntry',
    host.replaceAll(/[.*]/g, 'x'),
    `hosts: ["${host}"]\nresolution: DNS\n${more}`,
  );
const rule = (name: string, spec: string, namespace?: string) =>
  resource('VirtualService', name, spec, namespace);
const front = resource(
  'Gateway',
  'front',
  'selector: { app: front }\nservers: [{ port: { number: 80, name: http, protocol: HTTP }, hosts: ["*.shop.test"] }]',
);
const internal = 'location: MESH_INTERNAL\nports: [{ number: 80, name: http, protocol: HTTP }]';

describe('an analysis finds', () => {
  it.each<[what: string, text: string, lines: readonly string[]]>([
    [
      'a host that no service has, and not one of a wildcard',
      entry('*.wide.test').replace('DNS', 'NONE') +
        rule(
          'a',
          'hosts: [a.wide.test]\nhttp:\n- route:\n  - destination: { host: a.wide.test }\n    weight: 1\n  - destination: { host: b }\n    weight: 1',
        ),
      [
        'Error [IST0101] (VirtualService shop/a a.yaml:18) spec.http[0].route[1].destination.host: no service has the host b.shop.svc.cluster.local: define it, or name another',
      ],
    ],
    [
      'a host that is exported to other namespaces alone',
      entry('a.test', "exportTo: ['.']\nports: [{ number: 80, name: http, protocol: HTTP }]") +
        rule('a', 'hosts: [a.test]\nhttp: [{ route: [{ destination: { host: a.test } }] }]', 'b'),
      [
        'Error [IST0101] (VirtualService b/a a.yaml:15) spec.http[0].route[0].destination.host: the host a.test is not exported to the namespace b',
      ],
    ],
    [
      'a host that its own namespace does not see, since it is exported to another',
      entry('a.test', 'exportTo: [b]\nports: [{ number: 80, name: http, protocol: HTTP }]') +
        rule('a', 'hosts: [a.test]\nhttp: [{ route: [{ destination: { host: a.test } }] }]'),
      [
        'Error [IST0101] (VirtualService shop/a a.yaml:15) spec.http[0].route[0].destination.host: the host a.test is not exported to the namespace shop',
      ],
    ],
    [
      'ports of two services for which a proxy has one listener',
      entry(
        'a.test',
        'addresses: [10.0.0.1]\nports: [{ number: 5432, name: tcp, protocol: TCP }]',
      ) +
        entry(
          'b.test',
          'addresses: [10.0.0.1]\nports: [{ number: 5432, name: tcp, protocol: TCP }]',
        ),
      [
        expect.stringMatching(
          /^Warning \[IST0133\] \(ServiceEntry shop\/bxtest a\.yaml:\d+\) spec\.ports: /,
        ) as never,
      ],
    ],
    [
      'a subset, a port and a mirror that are not there, in HTTP, TLS and TCP',
      entry('a.test') +
        resource(
          'DestinationRule',
          'a',
          'host: a.test\nsubsets: [{ name: v1, labels: { v: "1" } }]',
        ) +
        rule(
          'a',
          [
            'hosts: [a.test]',
            'gateways: [front]',
            'http:',
            '- route: [{ destination: { host: a.test, subset: v1 } }]',
            '  mirrors: [{ destination: { host: c.test } }]',
            'tls:',
            '- match: [{ sniHosts: [a.test] }]',
            '  route: [{ destination: { host: a.test, subset: v2 } }]',
            'tcp:',
            '- route: [{ destination: { host: a.test, port: { number: 81 } } }]',
          ].join('\n'),
        ) +
        front.replace('*.shop.test', '*.test'),
      [
        'Warning [IST0127] (DestinationRule shop/a a.yaml:14) spec.subsets[0].labels: no endpoint of a.test has the labels v=1, so the subset v1 is empty',
        'Error [IST0101] (VirtualService shop/a a.yaml:24) spec.http[0].mirrors[0].destination.host: no service has the host c.test: define it, or name another',
        'Error [IST0101] (VirtualService shop/a a.yaml:27) spec.tls[0].route[0].destination.subset: no DestinationRule for a.test has the subset v2',
        'Error [IST0101] (VirtualService shop/a a.yaml:29) spec.tcp[0].route[0].destination.port: a.test has no port 81, but 80',
      ],
    ],
    [
      'a destination without a port, if its host has several',
      entry(
        'a.test',
        'ports:\n- { number: 80, name: http, protocol: HTTP }\n- { number: 81, name: web, protocol: HTTP }',
      ) + rule('a', 'hosts: [a.test]\nhttp: [{ route: [{ destination: { host: a.test } }] }]'),
      [
        'Error [IST0112] (VirtualService shop/a a.yaml:16) spec.http[0].route[0].destination: a.test has the ports 80, 81: say which one with port.number',
      ],
    ],
    [
      'gateways that are not there',
      entry('a.test') +
        rule(
          'a',
          'hosts: [a.test]\ngateways: [mesh, other/front]\nhttp:\n- match: [{ gateways: [back] }]\n  route: [{ destination: { host: a.test } }]',
        ),
      [
        'Error [IST0101] (VirtualService shop/a a.yaml:14) spec.gateways[1]: there is no Gateway other/front: define it, or name another',
        'Error [IST0101] (VirtualService shop/a a.yaml:16) spec.http[0].match[0].gateways[0]: there is no Gateway shop/back: define it, or name another',
      ],
    ],
    [
      'a delegate that is not there',
      rule('a', 'hosts: [a.test]\nhttp: [{ delegate: { name: b } }]'),
      [
        expect.stringMatching(/^Error \[IST0101\] \(VirtualService shop\/a a\.yaml:.*delegate/),
      ] as never,
    ],
    [
      'a DestinationRule for a host that no service has',
      resource('DestinationRule', 'a', 'host: a') +
        resource('DestinationRule', 'b', 'host: "*.test"'),
      [
        'Error [IST0101] (DestinationRule shop/a a.yaml:5) spec.host: no service has the host a.shop.svc.cluster.local: define it, or name another',
      ],
    ],
    [
      'two VirtualServices for one host, but not if no namespace sees both',
      entry('a.test') +
        ['a', 'b', 'c']
          .map((name) =>
            rule(
              name,
              `hosts: [a.test]\nexportTo: ['${name === 'c' ? 'other' : 'shop'}']\nhttp: [{ route: [{ destination: { host: a.test } }] }]`,
            ),
          )
          .join(''),
      [
        'Error [IST0109] (VirtualService shop/b a.yaml:21) spec.hosts[0]: shop/a is for a.test too, and only one of them takes effect: merge them',
      ],
    ],
    [
      'a host that none of its gateways has',
      entry('a.test') +
        front +
        rule(
          'a',
          'hosts: [a.shop.test, b.test]\ngateways: [front]\nhttp: [{ route: [{ destination: { host: a.test } }] }]',
        ),
      [
        'Warning [IST0132] (VirtualService shop/a a.yaml:20) spec.hosts[1]: no server of shop/front has the host b.test',
      ],
    ],
    [
      'two Gateways for one host, port and selector',
      front + front.replace('name: front', 'name: back'),
      [
        'Error [IST0145] (Gateway shop/front a.yaml:6) spec.servers[0]: shop/back has *.shop.test at port 80 of the same proxies: give one of them another host or port',
      ],
    ],
    [
      'a Gateway that no workload has the labels of, if there are workloads',
      front + resource('WorkloadEntry', 'w', 'address: 10.0.0.1\nlabels: { app: back }'),
      [
        'Warning [IST0127] (Gateway shop/front a.yaml:5) spec.selector: no workload has the labels app=front',
      ],
    ],
    [
      'two Sidecars without a selector, and two with the same one',
      ['a', 'b']
        .map((name) => resource('Sidecar', name, 'outboundTrafficPolicy: { mode: ALLOW_ANY }'))
        .join('') +
        ['c', 'd']
          .map((name) =>
            resource(
              'Sidecar',
              name,
              'workloadSelector: { labels: { app: x } }\noutboundTrafficPolicy: { mode: ALLOW_ANY }',
            ),
          )
          .join(''),
      [
        expect.stringContaining('[IST0111] (Sidecar shop/b'),
        expect.stringContaining('[IST0110] (Sidecar shop/d'),
      ] as never,
    ],
    [
      'TLS that the server does not take, of the mesh and not of others',
      entry('a.test', internal) +
        entry('b.test') +
        resource('PeerAuthentication', 'all', 'mtls: { mode: STRICT }') +
        resource(
          'DestinationRule',
          'a',
          'host: a.test\ntrafficPolicy: { tls: { mode: DISABLE } }',
        ) +
        resource('DestinationRule', 'b', 'host: b.test\ntrafficPolicy: { tls: { mode: DISABLE } }'),
      [
        'Error [IST0113] (DestinationRule shop/a a.yaml:29) spec.trafficPolicy.tls: a.test accepts only mutual TLS, as its PeerAuthentication says: use ISTIO_MUTUAL',
      ],
    ],
    [
      'mutual TLS that the server does not take',
      entry('a.test', internal) +
        resource('PeerAuthentication', 'all', 'mtls: { mode: DISABLE }') +
        resource(
          'DestinationRule',
          'a',
          'host: a.test\nsubsets:\n- name: v1\n  labels: { v: "1" }\n  trafficPolicy: { tls: { mode: ISTIO_MUTUAL } }',
        ),
      [
        'Warning [IST0127] (DestinationRule shop/a a.yaml:23) spec.subsets[0].labels: no endpoint of a.test has the labels v=1, so the subset v1 is empty',
        'Error [IST0113] (DestinationRule shop/a a.yaml:24) spec.subsets[0].trafficPolicy.tls: a.test accepts no TLS, as its PeerAuthentication says: use DISABLE',
      ],
    ],
    [
      'a TCP port without an address',
      entry('a.test', 'ports: [{ number: 5432, name: tcp, protocol: TCP }]'),
      [
        'Warning [IST0134] (ServiceEntry shop/axtest a.yaml:7) spec.ports[0]: all connections to port 5432 go there, because TCP has no host name: give the entry an address',
      ],
    ],
    [
      'what a reader refuses, and what it warns of',
      entry('a.test', 'ports: [{ number: 0, name: http, protocol: HTTP }]\nlater: true'),
      [
        expect.stringMatching(/^Error \[IST0106\] \(ServiceEntry shop\/axtest a\.yaml:7\)/),
        expect.stringMatching(/^Warning \[IST0133\] \(ServiceEntry shop\/axtest a\.yaml:8\)/),
      ] as never,
    ],
    [
      'nothing in what is nothing of Istio',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n',
      [],
    ],
  ])('%s', (_, text, lines) => {
    expect(findingLines({ 'a.yaml': text })).toEqual(lines);
  });
});

describe('names of providers', () => {
  const mesh = readMeshConfig(
    `extensionProviders:
- { name: spans, zipkin: { service: zipkin.test, port: 9411 } }
- { name: far, zipkin: { service: far.test, port: 9411 } }
- { name: odd, zipkin: { service: zipkin.test, port: 1 } }
- { name: lines, envoyFileAccessLog: { path: /dev/stdout } }
- { name: asks, envoyExtAuthzGrpc: { service: asks.test, port: 9000 } }
- { name: away, envoyExtAuthzGrpc: { service: other/asks.test, port: 9000 } }`,
    'mesh.yaml',
  );
  const services =
    entry('zipkin.test', 'ports: [{ number: 9411, name: http, protocol: HTTP }]') +
    entry('asks.test', 'ports: [{ number: 9000, name: grpc, protocol: GRPC }]');
  const telemetry = (spec: string) => services + resource('Telemetry', 'a', spec);
  const asking = (provider: string) =>
    services +
    resource(
      'AuthorizationPolicy',
      'a',
      `action: CUSTOM\nprovider: { name: ${provider} }\nrules: [{}]`,
    );

  it.each<[what: string, text: string, lines: readonly string[]]>([
    [
      'of access logs',
      telemetry(
        'accessLogging: [{ providers: [{ name: LINES }, { name: envoy }, { name: line }] }]',
      ),
      [
        'Error [IST0101] (Telemetry shop/a a.yaml:21) spec.accessLogging[0].providers[2].name: the MeshConfig has no provider line: name one of envoy, lines',
      ],
    ],
    [
      'of spans, which logs do not fit',
      telemetry('tracing: [{ providers: [{ name: none }] }, { providers: [{ name: lines }] }]'),
      [
        'Error [IST0101] (Telemetry shop/a a.yaml:21) spec.tracing[0].providers[0].name: the MeshConfig has no provider none: name one of spans, far, odd',
        'Warning [IST0133] (Telemetry shop/a a.yaml:21) spec.tracing[1].providers[0].name: lines takes no spans: name one of spans, far, odd',
      ],
    ],
    [
      'of spans, at a host or a port that is not there',
      telemetry('tracing: [{ providers: [{ name: far }] }, { providers: [{ name: odd }] }]'),
      [
        'Error [IST0101] (Telemetry shop/a a.yaml:21) spec.tracing[0].providers[0].name: the provider far is at far.test, and no service has that host: define it',
        'Error [IST0101] (Telemetry shop/a a.yaml:21) spec.tracing[1].providers[0].name: the provider odd is at port 1 of zipkin.test, which has the ports 9411',
      ],
    ],
    [
      'of metrics, but not those that each mesh has',
      telemetry('metrics: [{ providers: [{ name: prometheus }, { name: none }] }]'),
      [
        expect.stringMatching(/^Warning \[IST0133\].* spec\.metrics: /) as never,
        'Error [IST0101] (Telemetry shop/a a.yaml:21) spec.metrics[0].providers[1].name: the MeshConfig has no provider none: define it',
      ],
    ],
    ['of an authorizer', asking('asks'), []],
    [
      'of an authorizer that is not there',
      asking('spans'),
      [
        'Error [IST0101] (AuthorizationPolicy shop/a a.yaml:22) spec.provider.name: the MeshConfig has no authorizer spans: name one of asks, away',
      ],
    ],
    [
      'of an authorizer at a service that is not there',
      asking('away'),
      [
        'Error [IST0101] (AuthorizationPolicy shop/a a.yaml:22) spec.provider.name: the provider away is at other/asks.test, and no service has that host: define it',
      ],
    ],
  ])('are compared with the MeshConfig: %s', (_, text, lines) => {
    expect(findingLines({ 'a.yaml': text }, { mesh })).toEqual(lines);
  });

  it('are not compared without a MeshConfig', () => {
    expect(findingLines({ 'a.yaml': asking('none') })).toEqual([]);
  });

  it('of a service that several namespaces have need a namespace', () => {
    const twice = services + entry('asks.test').replace('namespace: shop', 'namespace: other');
    expect(
      findingLines({ 'a.yaml': twice + asking('asks').slice(services.length) }, { mesh }),
    ).toEqual([
      expect.stringContaining(
        'the provider asks is at asks.test, and several namespaces have that host (other, shop)',
      ),
    ]);
  });

  it('are found beside what the MeshConfig has wrong', () => {
    const odd = readMeshConfig('later: true', 'mesh.yaml');
    expect(findingLines({ 'a.yaml': services }, { mesh: odd })).toEqual([
      'Warning [IST0133] (mesh.yaml:1) later: it has no effect here',
    ]);
  });
});

describe('hosts that another source defines', () => {
  const host = 'web.service.consul';
  const mesh = readMeshConfig(
    `extensionProviders: [{ name: spans, zipkin: { service: ${host}, port: 9411 } }]`,
    'mesh.yaml',
  );
  const text =
    rule('a', `hosts: [a.test]\nhttp: [{ route: [{ destination: { host: ${host} } }] }]`) +
    resource('DestinationRule', 'a', `host: ${host}`) +
    resource('Sidecar', 'a', `egress: [{ hosts: ['*/${host}'] }]`) +
    resource('Telemetry', 'a', 'tracing: [{ providers: [{ name: spans }] }]');

  it('are unknown if the source is not named', () => {
    expect(findingLines({ 'a.yaml': text }, { mesh })).toHaveLength(4);
  });

  it('are not called unknown', () => {
    expect(
      findingLines({ 'a.yaml': text }, { mesh, domainsElsewhere: ['service.consul'] }),
    ).toEqual([]);
    expect(
      findingLines({ 'a.yaml': text }, { mesh, domainsElsewhere: ['vice.consul'] }),
    ).toHaveLength(4);
  });

  it('have the subsets that rules define', () => {
    const subset = text.replace(`host: ${host} } }]`, `host: ${host}, subset: v1 } }]`);
    expect(
      findingLines({ 'a.yaml': subset }, { mesh, domainsElsewhere: ['service.consul'] }),
    ).toEqual([expect.stringContaining(`no DestinationRule for ${host} has the subset v1`)]);
  });
});

describe('hosts of a Sidecar', () => {
  it.each<[egress: string, line: string | undefined]>([
    ['./a.test', undefined],
    ['shop/a.test', undefined],
    ['*/a.test', undefined],
    ['*/*.none.test', undefined],
    ['~/none.test', undefined],
    ['./ruled.test', undefined],
    ['*/none.test', 'no service has the host none.test: define it, or leave it out'],
    [
      'other/a.test',
      'no service has the host a.test in the namespace other: define it, or leave it out',
    ],
  ])('%s', (host, line) => {
    const text =
      entry('a.test') +
      rule('a', 'hosts: [ruled.test]\nhttp: [{ route: [{ destination: { host: a.test } }] }]') +
      resource('Sidecar', 'a', `egress: [{ hosts: ['${host}'] }]`);
    expect(findingLines({ 'a.yaml': text })).toEqual(
      line === undefined
        ? []
        : [`Warning [IST0133] (Sidecar shop/a a.yaml:20) spec.egress[0].hosts[0]: ${line}`],
    );
  });
});

describe('labels that no workload has', () => {
  const workload = resource('WorkloadEntry', 'w', 'address: 10.0.0.1\nlabels: { app: back }');
  const policy = (namespace: string) =>
    resource(
      'PeerAuthentication',
      'a',
      'selector: { matchLabels: { app: front } }\nmtls: { mode: STRICT }',
      namespace,
    );

  it.each(['shop', 'istio-system'])('are found in a policy of %s', (namespace) => {
    const where = namespace === 'shop' ? ' of the namespace shop' : '';
    expect(findingLines({ 'a.yaml': workload + policy(namespace) })).toEqual([
      `Warning [IST0127] (PeerAuthentication ${namespace}/a a.yaml:12) spec.selector: no workload${where} has the labels app=front`,
    ]);
  });

  it('are not found if no workload is known, or a Pod has them', () => {
    const pod = `apiVersion: v1
kind: Pod
metadata: { name: p, namespace: shop, labels: { app: front, v: "1" } }
spec: { containers: [{ name: app }] }
`;
    expect(findingLines({ 'a.yaml': workload + policy('other') })).toEqual([]);
    expect(findingLines({ 'a.yaml': workload + policy('shop') + pod })).toEqual([]);
  });

  it('are found in a Sidecar, a DestinationRule and a ServiceEntry', () => {
    const selector = 'workloadSelector: { labels: { app: front } }';
    const all =
      resource('Sidecar', 'a', `${selector}\noutboundTrafficPolicy: { mode: ALLOW_ANY }`) +
      resource(
        'DestinationRule',
        'a',
        `host: "*.test"\n${selector.replace('labels', 'matchLabels')}`,
      ) +
      resource(
        'ServiceEntry',
        'a',
        `hosts: [a.test]\n${internal}\nresolution: STATIC\n${selector}`,
      );
    expect(findingLines({ 'a.yaml': workload + all })).toEqual(
      ['Sidecar', 'DestinationRule', 'ServiceEntry'].map(
        (kind) =>
          expect.stringMatching(
            `^Warning \\[IST0127\\] \\(${kind} shop/a .*spec\\.workloadSelector: no workload of the namespace`,
          ) as string,
      ),
    );
  });

  it('are found in a subset, if endpoints are known', () => {
    const service = (more: string) =>
      entry(
        'a.test',
        `ports: [{ number: 80, name: http, protocol: HTTP }]\nendpoints: [{ address: 10.0.0.1, labels: { v: "1" } }${more}]`,
      ).replace('DNS', 'STATIC');
    const subsets = resource(
      'DestinationRule',
      'a',
      'host: a.test\nsubsets:\n- { name: v1, labels: { v: "1" } }\n- { name: v2, labels: { v: "2" } }',
    );
    expect(findingLines({ 'a.yaml': service('') + subsets })).toEqual([
      'Warning [IST0127] (DestinationRule shop/a a.yaml:17) spec.subsets[1].labels: no endpoint of a.test has the labels v=2, so the subset v2 is empty',
    ]);
    const two = service(', { address: 10.0.0.2, labels: { v: "2" } }');
    expect(findingLines({ 'a.yaml': two + subsets })).toEqual([]);
  });
});

describe('a route that nothing reaches', () => {
  const route = 'route: [{ destination: { host: a.test } }]';
  const hidden = (...matches: readonly string[]) =>
    findingLines({
      'a.yaml':
        entry('a.test') +
        rule(
          'a',
          `hosts: [a.test]\nhttp:\n${matches.map((match) => `- { match: ${match}, ${route} }`).join('\n')}`,
        ),
    }).map((line) =>
      /\[(IST\d+)\].*spec\.(\S+): .*because (\S+(?: and \S+)*)/.exec(line)?.slice(1).join(' '),
    );

  it.each<[what: string, matches: readonly string[], lines: readonly string[]]>([
    [
      'is behind several together',
      [
        '[{ uri: { prefix: /a } }]',
        '[{ uri: { prefix: /b } }]',
        '[{ uri: { exact: /b/c } }, { uri: { exact: /a/b } }, { uri: { exact: /a/c } }]',
      ],
      ['IST0130 http[2] http[0] and http[1]'],
    ],
    ['is behind one for all', ['[]', '[{ uri: { prefix: /a } }]'], ['IST0130 http[1] http[0]']],
    [
      'is behind one with a shorter prefix',
      ['[{ uri: { prefix: /a } }]', '[{ uri: { exact: /ab }, method: { exact: GET } }]'],
      ['IST0130 http[1] http[0]'],
    ],
    [
      'has matches that it shares with an earlier one',
      [
        '[{ headers: { a: {} } }]',
        '[{ headers: { a: { exact: x }, b: {} } }, { headers: { b: {} } }]',
      ],
      ['IST0131 http[1].match[0] http[0]'],
    ],
    [
      'is for callers that an earlier one has',
      ['[{ sourceLabels: { a: b } }]', '[{ sourceLabels: { a: b, c: d }, port: 80 }]'],
      ['IST0130 http[1] http[0]'],
    ],
    [
      'has a prefix / of a header, which is not the prefix of every text',
      ['[{ headers: { a: { prefix: / } } }]', '[{ headers: { a: { exact: b } } }]'],
      [],
    ],
    [
      'is the prefix of everything',
      ['[{ uri: { prefix: / } }]', '[{}]'],
      ['IST0130 http[1] http[0]'],
    ],
  ])('%s', (_, matches, lines) => {
    expect(hidden(...matches)).toEqual(lines);
  });

  it.each<[what: string, matches: readonly string[]]>([
    ['a longer prefix first', ['[{ uri: { prefix: /ab } }]', '[{ uri: { prefix: /a } }]']],
    ['another case', ['[{ uri: { exact: /a }, ignoreUriCase: true }]', '[{ uri: { exact: /A } }]']],
    ['a regex', ['[{ uri: { regex: "/a.*" } }]', '[{ uri: { prefix: /a } }]']],
    [
      'a header that is not asked for',
      ['[{ headers: { a: { exact: x } } }]', '[{ headers: { b: {} } }]'],
    ],
    ['other callers', ['[{ sourceNamespace: b }]', '[{ sourceNamespace: c }]']],
    ['a port', ['[{ port: 80 }]', '[{ uri: { prefix: /a } }]']],
    ['what must not be there', ['[{ withoutHeaders: { a: {} } }]', '[{ headers: { b: {} } }]']],
  ])('is not found for %s', (_, matches) => {
    expect(hidden(...matches)).toEqual([]);
  });

  it('is found in TLS and TCP', () => {
    const to = 'route: [{ destination: { host: a.test } }]';
    const spec = `hosts: ["*.test"]
gateways: [front]
tls:
- { match: [{ sniHosts: ["*.test"] }], ${to} }
- { match: [{ sniHosts: [b.test] }], ${to} }
tcp:
- { match: [{ port: 80 }], ${to} }
- { match: [{ port: 81 }], ${to} }
- { match: [{ port: 80, gateways: [front] }], ${to} }`;
    const lines = findingLines({
      'a.yaml': entry('a.test') + front.replace('*.shop.test', '*.test') + rule('a', spec),
    });
    expect(lines.map((line) => /\[(IST\d+)\].*spec\.(\S+): /.exec(line)?.slice(1))).toEqual([
      ['IST0130', 'tls[1]'],
      ['IST0130', 'tcp[2]'],
    ]);
  });

  it('is found if connections are led by their ranges and callers', () => {
    const to = 'route: [{ destination: { host: a.test } }]';
    const spec = `hosts: [a.test]
tcp:
- { match: [{ port: 82, destinationSubnets: [10.1.0.0/16, 10.2.0.0/16] }], ${to} }
- { match: [{ port: 82, destinationSubnets: [10.2.0.0/16] }], ${to} }
- { match: [{ port: 82, destinationSubnets: [10.3.0.0/16] }], ${to} }
- { match: [{ port: 82 }], ${to} }
- { match: [{ port: 83, sourceLabels: { app: a } }], ${to} }
- { match: [{ port: 83, sourceLabels: { app: b } }], ${to} }`;
    const lines = findingLines({ 'a.yaml': entry('a.test') + rule('a', spec) });
    expect(lines.map((line) => /\[(IST\d+)\].*spec\.(\S+): /.exec(line)?.slice(1))).toEqual([
      ['IST0130', 'tcp[1]'],
    ]);
  });
});

describe('files', () => {
  it('are read with all below a folder, and the lines are those of items of a List', () => {
    const text = `apiVersion: v1
kind: List
items:
- apiVersion: networking.istio.io/v1
  kind: DestinationRule
  metadata: { name: a }
  spec:
    host: a.test
`;
    expect(findingLines({ 'b/c.yml': text, 'd.json': '{', 'e.txt': '{' })).toEqual([
      'Error [IST0101] (DestinationRule default/a b/c.yml:8) spec.host: no service has the host a.test: define it, or name another',
      expect.stringMatching(/^Error \[IST0106\] \(d\.json:1\) it is not YAML/),
    ]);
  });

  it('that have one resource each are read in their order, and the first counts', () => {
    const [a, b] = [join(folder, 'a.yaml'), join(folder, 'b.yaml')];
    writeFileSync(a, entry('a.test'));
    writeFileSync(b, entry('a.test'));
    const findings = findingsIn({ path: b, kind: 'file' }, { path: a, kind: 'file' });
    expect(findings).toMatchObject([{ code: 'IST0106', origin: { path: a } }]);
    expect(JSON.parse(findingsJson(findings))).toEqual([
      {
        code: 'IST0106',
        level: 'Error',
        origin: 'ServiceEntry shop/axtest',
        reference: `${a}:1`,
        field: '',
        message: expect.stringContaining('comes first') as string,
      },
    ]);
  });

  it('that cannot be read are findings', () => {
    const lost = findingsIn(
      { path: join(folder, 'none'), kind: 'folder' },
      { path: join(folder, 'none.yaml'), kind: 'file' },
    );
    expect(lost.map(({ code, origin }) => [code, origin.line])).toEqual([
      ['IST0106', 0],
      ['IST0106', 0],
    ]);
  });
});

it('a workload that has only the first label of a selector is not selected', () => {
  const yaml = `${resource('WorkloadEntry', 'w', 'address: 10.0.0.1\nlabels: { app: front, tier: one }')}${resource('PeerAuthentication', 'a', 'selector: { matchLabels: { app: front, tier: two } }')}`;
  expect(findingLines({ 'a.yaml': yaml })).toEqual([
    'Warning [IST0127] (PeerAuthentication shop/a a.yaml:12) spec.selector: no workload of the namespace shop has the labels app=front, tier=two',
  ]);
});

it.each([
  ['metadata: { labels: { app: front } }\ntemplate: {}', 'metadata'],
  ['template: { labels: { app: front } }', 'its template'],
  ['metadata: { labels: { app: front } }\ntemplate: { labels: { app: back } }', 'both'],
])('a selector may select the machines of a WorkloadGroup: %s', (group) => {
  const yaml = `${resource('WorkloadGroup', 'w', group)}${resource('PeerAuthentication', 'a', 'selector: { matchLabels: { app: front } }')}`;
  expect(findingLines({ 'a.yaml': yaml }).filter((line) => line.includes('IST0127'))).toEqual([]);
});

it('a selector of labels that no WorkloadGroup has selects no workload', () => {
  const yaml = `${resource('WorkloadGroup', 'w', 'template: { labels: { app: front } }')}${resource('PeerAuthentication', 'a', 'selector: { matchLabels: { app: back } }')}`;
  expect(findingLines({ 'a.yaml': yaml }).filter((line) => line.includes('IST0127'))).toHaveLength(
    1,
  );
});

it('a subset of a host whose endpoints are not known is not empty', () => {
  const yaml =
    resource('ServiceEntry', 'a', `hosts: [a.test]\nresolution: STATIC\n${internal}`) +
    resource('DestinationRule', 'a', 'host: a.test\nsubsets: [{ name: v1, labels: { v: "1" } }]');
  expect(findingLines({ 'a.yaml': yaml }).filter((line) => line.includes('IST0127'))).toEqual([]);
});

it('an analysis takes 10 times as long for 10 times as many services, 20 at most', () => {
  const analyzed = (count: number) => {
    const path = join(folder, String(count));
    mkdirSync(path);
    for (const [index, text] of meshOfServices(count).entries())
      writeFileSync(join(path, `${index}.yaml`), text);
    const store = readPaths([{ path, kind: 'folder' }], 'default');
    expect([...eachResource(store.resources)]).toHaveLength(5 * count);
    return () => expect(analysisOf(store, nothingElse)).toEqual([]);
  };
  expect(growthRatio(analyzed(50), analyzed(500), 20)).toBeLessThan(20);
});
