import { describe, expect, it } from 'vitest';
import { connectionRules } from '../../../../../src/pilot-discovery/generate/scope/mesh-connections.ts';
import { outboundEntriesOf } from '../../../../../src/pilot-discovery/generate/scope/outbound-entries-of.ts';
import { outboundScope } from '../../../../../src/pilot-discovery/generate/scope/outbound-scope.ts';
import { proxyIn, resourceText } from '../../../../support/golden.ts';
import { environmentOf } from '../../../../support/generated.ts';

const entry = (host: string, port: string, more = '') =>
  resourceText(
    'ServiceEntry',
    host.replace('*.', 'wide-'),
    `{ hosts: ["${host}"], resolution: NONE, ports: [${port}]${more} }`,
  );
const tcp = (number: number, name = 'tcp') => `{ number: ${number}, name: ${name}, protocol: TCP }`;
const tls = (number: number) => `{ number: ${number}, name: tls, protocol: TLS }`;
const rule = (hosts: string, fields: string, name = 'r', second = 0) =>
  resourceText('VirtualService', name, `{ hosts: [${hosts}], ${fields} }`, {
    creationTimestamp: `2020-01-01T00:00:0${second}Z`,
  });
const to = (host: string) => `route: [{ destination: { host: ${host} } }]`;

/**
 * Returns `LISTENER RANGES NAMES: CLUSTERS` for each chain that is not of HTTP, listener by
 * listener.
 */
function chainsIn(yaml: readonly string[], metadata = 'LABELS: { app: app }'): readonly string[] {
  const environment = environmentOf(yaml.join('---\n'));
  const node = proxyIn(metadata);
  const { blocks, services } = outboundScope(environment, node);
  return blocks
    .flatMap((block) => outboundEntriesOf(environment, node, block, services))
    .flatMap((outboundEntry) =>
      outboundEntry.chains.flatMap((chain) => {
        if (chain.type === 'http') return [];
        const { ranges, names, to: clusters } = chain;
        const where = [...ranges, ...names].join(' ');
        return `${outboundEntry.address}_${outboundEntry.port} ${where}: ${clusters.map(({ cluster, weight }) => `${cluster} ${weight}`).join(', ')}`;
      }),
    );
}

const [a, secure] = [entry('a.mesh', tcp(90)), entry('a.example.com', tls(443))];

describe('the ways of connections that VirtualServices speak for', () => {
  it.each<[what: string, yaml: readonly string[], chains: readonly string[]]>([
    [
      'are by weight',
      [
        a,
        rule(
          'a.mesh',
          'tcp: [{ route: [{ destination: { host: a.mesh, subset: v1 }, weight: 1 }, { destination: { host: b.mesh, port: { number: 9 } }, weight: 2 }] }]',
        ),
      ],
      ['0.0.0.0_90 : outbound|90|v1|a.mesh 1, outbound|9||b.mesh 2'],
    ],
    [
      'lead to the port of a service that has one alone',
      [a, entry('b.mesh', tcp(91)), rule('a.mesh', `tcp: [{ ${to('b.mesh')} }]`)],
      ['0.0.0.0_90 : outbound|91||b.mesh 0', '0.0.0.0_91 : outbound|91||b.mesh 0'],
    ],
    [
      'are by port',
      [
        entry('a.mesh', `${tcp(90)}, ${tcp(91, 'more')}`),
        rule('a.mesh', `tcp: [{ match: [{ port: 91 }], ${to('b.mesh')} }]`),
      ],
      ['0.0.0.0_90 : outbound|90||a.mesh 0', '0.0.0.0_91 : outbound|91||b.mesh 0'],
    ],
    [
      'are by the labels and the namespace of the caller',
      [
        a,
        rule(
          'a.mesh',
          `tcp: [{ match: [{ sourceLabels: { app: other } }, { sourceNamespace: other }], ${to('b.mesh')} }, { match: [{ sourceLabels: { app: app }, sourceNamespace: default }], ${to('c.mesh')} }]`,
        ),
      ],
      ['0.0.0.0_90 : outbound|90||c.mesh 0'],
    ],
    [
      'are not those of gateways',
      [
        a,
        rule(
          'a.mesh',
          `gateways: [mesh, front], tcp: [{ match: [{ gateways: [front] }], ${to('b.mesh')} }, { match: [{ gateways: [mesh] }], ${to('c.mesh')} }]`,
        ),
        rule('a.mesh', `gateways: [front], tcp: [{ ${to('d.mesh')} }]`, 's'),
      ],
      ['0.0.0.0_90 : outbound|90||c.mesh 0'],
    ],
    [
      'are by where they were going to, and the rest as without a rule',
      [
        a,
        rule(
          'a.mesh',
          `tcp: [{ match: [{ destinationSubnets: [10.2.0.0/16] }, { destinationSubnets: [10.1.2.3/16, 10.2.0.0/16] }], ${to('b.mesh')} }]`,
        ),
      ],
      [
        '0.0.0.0_90 10.1.0.0/16 10.2.0.0/16: outbound|90||b.mesh 0',
        '0.0.0.0_90 : outbound|90||a.mesh 0',
      ],
    ],
    [
      'end with the first that is for any place',
      [
        a,
        rule(
          'a.mesh',
          `tcp: [{ match: [{ destinationSubnets: [10.1.0.0/16] }, { port: 90 }], ${to('b.mesh')} }, { ${to('c.mesh')} }]`,
        ),
      ],
      ['0.0.0.0_90 : outbound|90||b.mesh 0'],
    ],
    [
      'are for any place by a range of all addresses',
      [
        a,
        rule(
          'a.mesh',
          `tcp: [{ match: [{ destinationSubnets: [0.0.0.0/0, 10.1.0.0/16] }], ${to('b.mesh')} }]`,
        ),
      ],
      ['0.0.0.0_90 : outbound|90||b.mesh 0'],
    ],
    [
      'stay within the range of the service, if the rule names none',
      [
        entry('a.mesh', tcp(90), ', addresses: [10.3.0.0/16]'),
        rule('a.mesh', `tcp: [{ ${to('b.mesh')} }]`),
      ],
      ['0.0.0.0_90 10.3.0.0/16: outbound|90||b.mesh 0'],
    ],
    [
      'of a range belong to the first rule that names it',
      [
        a,
        rule(
          'a.mesh',
          `tcp: [{ match: [{ destinationSubnets: [10.1.0.0/16] }], ${to('b.mesh')} }, { match: [{ destinationSubnets: [10.1.0.0/16, 10.2.0.0/16] }], ${to('c.mesh')} }]`,
        ),
      ],
      [
        '0.0.0.0_90 10.1.0.0/16: outbound|90||b.mesh 0',
        '0.0.0.0_90 10.2.0.0/16: outbound|90||c.mesh 0',
        '0.0.0.0_90 : outbound|90||a.mesh 0',
      ],
    ],
    [
      'are those of all rules for the host, the oldest first',
      [
        a,
        rule('"*.mesh"', `tcp: [{ ${to('c.mesh')} }]`, 'young', 2),
        rule(
          'a.mesh',
          `tcp: [{ match: [{ destinationSubnets: [10.1.0.0/16] }], ${to('b.mesh')} }]`,
          'old',
          1,
        ),
      ],
      ['0.0.0.0_90 10.1.0.0/16: outbound|90||b.mesh 0', '0.0.0.0_90 : outbound|90||c.mesh 0'],
    ],
    [
      'are for a wildcard host by a host within it',
      [
        entry('*.example.com', tls(443)),
        rule(
          'a.example.com',
          `tls: [{ match: [{ sniHosts: [a.example.com] }], ${to('"*.example.com"')} }]`,
        ),
      ],
      ['0.0.0.0_443 a.example.com: outbound|443||*.example.com 0'],
    ],
    [
      'of TLS are by name, and replace the one of the service',
      [
        secure,
        rule(
          'a.example.com, "*.example.org"',
          `tls: [{ match: [{ sniHosts: ["*.example.org", a.example.com] }], ${to('b.mesh')} }]`,
        ),
      ],
      ['0.0.0.0_443 *.example.org a.example.com: outbound|443||b.mesh 0'],
    ],
    [
      'of TLS have each name once, since Envoy refuses a listener with a name twice',
      [
        secure,
        rule(
          'a.example.com',
          `tls: [{ match: [{ sniHosts: [a.example.com, A.example.com] }], ${to('b.mesh')} }]`,
        ),
      ],
      ['0.0.0.0_443 a.example.com: outbound|443||b.mesh 0'],
    ],
    [
      'of TLS stay as they are, if no match is for the caller',
      [
        secure,
        rule(
          'a.example.com',
          `tls: [{ match: [{ sniHosts: [a.example.com], sourceNamespace: other }], ${to('b.mesh')} }]`,
        ),
      ],
      ['0.0.0.0_443 a.example.com: outbound|443||a.example.com 0'],
    ],
    [
      'of TLS are by name and range',
      [
        secure,
        rule(
          'a.example.com',
          `tls: [{ match: [{ sniHosts: [a.example.com], destinationSubnets: [10.1.0.0/16] }, { sniHosts: [a.example.com] }], ${to('b.mesh')} }]`,
        ),
      ],
      [
        '0.0.0.0_443 10.1.0.0/16 a.example.com: outbound|443||b.mesh 0',
        '0.0.0.0_443 a.example.com: outbound|443||b.mesh 0',
      ],
    ],
    [
      'of a name of TLS belong to the first rule that has it',
      [
        secure,
        rule(
          '"*.example.com"',
          `tls: [{ match: [{ sniHosts: [a.example.com] }], ${to('b.mesh')} }, { match: [{ sniHosts: [a.example.com, c.example.com] }], ${to('c.mesh')} }]`,
        ),
      ],
      [
        '0.0.0.0_443 a.example.com: outbound|443||b.mesh 0',
        '0.0.0.0_443 c.example.com: outbound|443||c.mesh 0',
      ],
    ],
    [
      'of any name of TLS are all',
      [
        secure,
        rule('a.example.com', `tls: [{ match: [{ sniHosts: [a.example.com] }], ${to('b.mesh')} }]`),
        entry('b.example.com', tls(443)),
      ],
      [
        '0.0.0.0_443 a.example.com: outbound|443||b.mesh 0',
        '0.0.0.0_443 b.example.com: outbound|443||b.example.com 0',
      ],
    ],
    [
      'are none of tls for a port of TCP, and none of tcp for a port of TLS',
      [
        a,
        secure,
        rule('a.mesh', `tls: [{ match: [{ sniHosts: [a.mesh] }], ${to('b.mesh')} }]`),
        rule('a.example.com', `tcp: [{ ${to('b.mesh')} }]`, 's'),
      ],
      [
        '0.0.0.0_90 : outbound|90||a.mesh 0',
        '0.0.0.0_443 a.example.com: outbound|443||a.example.com 0',
      ],
    ],
  ])('%s', (_, yaml, chains) => {
    expect([...chainsIn(yaml)].sort()).toEqual([...chains].sort());
  });

  it('are of rules whose list is the same object as long as they are', () => {
    const yaml = [a, rule('a.mesh', `tcp: [{ ${to('b.mesh')} }]`)].join('---\n');
    const before = environmentOf(yaml);
    const other = rule('c.mesh', `http: [{ ${to('a.mesh')} }]`, 'other');
    const after = environmentOf(other, { before });
    expect(connectionRules(before.virtualServices)).toHaveLength(1);
    expect(after.virtualServices).toHaveLength(2);
    expect(connectionRules(after.virtualServices)).toBe(connectionRules(before.virtualServices));
  });
});
