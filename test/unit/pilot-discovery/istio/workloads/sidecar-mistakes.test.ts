import { describe, expect, it } from 'vitest';
import { readResources } from '../../../../../src/pilot-discovery/istio/documents/read-resources.ts';

const place = { source: 'files', path: 'a.yaml', defaultNamespace: 'default' };

/** Returns the severity, the line, the field and the sentence of each flaw. */
const flawsOf = (spec: string) =>
  readResources(
    `apiVersion: networking.istio.io/v1\nkind: Sidecar\nmetadata: { name: a }\nspec:\n${spec.replace(/^/gm, '  ')}\n`,
    place,
  )
    .flaws.filter(({ field }) => field !== '')
    .map(({ origin, field, reason, severity }) => `${severity} ${origin.line} ${field}: ${reason}`);

/** Returns a block with members of its own in line 6 and its hosts in line 7. */
const block = (members: string, hosts = "['*/*']") =>
  `egress:\n  - ${members}\n    hosts: ${hosts}`;
const blockOfPort = (members: string) =>
  block(`port: { number: 80, name: http, protocol: HTTP }`) + `\n    ${members}`;

describe('an egressProxy', () => {
  const policy = (members: string) => `outboundTrafficPolicy:\n  ${members}`;
  it.each([
    [
      policy('egressProxy: { host: a.mesh, port: { number: 80 } }'),
      'error 6 spec.outboundTrafficPolicy.egressProxy: unknown destinations are not called at all: set mode to ALLOW_ANY',
    ],
    [
      policy('{ mode: ALLOW_ANY, egressProxy: { host: a.mesh } }'),
      'error 6 spec.outboundTrafficPolicy.egressProxy.port: it is missing: number: PORT',
    ],
    [
      policy('{ mode: ALLOW_ANY, egressProxy: { host: a, port: { number: 80 } } }'),
      "warning 6 spec.outboundTrafficPolicy.egressProxy.host: 'a' is not a full name: no service has it",
    ],
  ])('%s', (spec, flaw) => {
    expect(flawsOf(spec)).toEqual([flaw]);
  });

  it('and HTTP_PROXY without a mistake have no warning', () => {
    expect(
      flawsOf(
        `${policy('{ mode: ALLOW_ANY, egressProxy: { host: a.mesh, port: { number: 80 } } }')}\n${block('port: { number: 3128, protocol: HTTP_PROXY }')}`,
      ),
    ).toEqual([]);
  });

  it('of connections at a socket has one: they name no port', () => {
    expect(
      flawsOf(
        `egress: [{ bind: 'unix:///a', port: { number: 0, protocol: TCP }, hosts: ['*/*'] }]`,
      ),
    ).toEqual([
      'warning 5 spec.egress[0].port: a connection that is not HTTP has no port here: without a VirtualService it leads nowhere',
    ]);
  });
});

describe('a mistake in the egress of a Sidecar', () => {
  it.each([
    [
      'egress:\n  - {}',
      "6 spec.egress[0].hosts: it is missing: at least one host, or '*/*' for all",
    ],
    [
      'egress:\n  - hosts:\n      - a.example.com',
      "7 spec.egress[0].hosts[0]: 'a.example.com' has no namespace: give NAMESPACE/HOST, or '*/a.example.com' for all",
    ],
    [
      "egress:\n  - hosts: ['a b/*']",
      "6 spec.egress[0].hosts[0]: 'a b' is not a namespace: name one, or '.' for its own, '*' for all, '~' for none",
    ],
    ['egress:\n  - hosts: [shop/]', '6 spec.egress[0].hosts[0]: it is missing'],
    [
      'egress:\n  - hosts: [shop/front]',
      "6 spec.egress[0].hosts[0]: 'front' is not a full name: give one with a dot, or '*'",
    ],
    [
      "egress:\n  - hosts: ['shop/*-a.example.com']",
      "6 spec.egress[0].hosts[0]: '*-a.example.com' is not a host here: a '*' stands for whole parts of a name",
    ],
    [
      "egress:\n  - hosts: ['*/*']\n  - hosts: [./*]",
      '6 spec.egress[0]: it is for all ports: give it a port, or make it the last one',
    ],
    [
      `${block('port: { number: 80 }')}\n  - port: { number: 80 }\n    hosts: ['*/*']`,
      '8 spec.egress[1].port.number: 80 is there twice',
    ],
    [
      `${block('{ bind: unix:///a, port: { number: 0 }, hosts: [./*] }').split('\n    hosts')[0] ?? ''}\n  - { bind: unix:///a, port: { number: 0 }, hosts: [./*] }`,
      '7 spec.egress[1].bind: unix:///a is there twice',
    ],
    [
      block('port: { number: 65536 }'),
      '6 spec.egress[0].port.number: 65536 is not a whole number from 0 to 65535',
    ],
    [
      block('port: { name: http }'),
      '6 spec.egress[0].port.number: it is missing: a port from 1 to 65535, or 0 with a bind of unix:///path',
    ],
    [
      block('port: { number: 80, name: a b }'),
      "6 spec.egress[0].port.name: 'a b' is not a valid name of a port: letters, digits, and - within",
    ],
    [
      block('port: { number: 80, protocol: HTPP }'),
      "6 spec.egress[0].port.protocol: 'HTPP' is not one of HTTP, HTTP2, GRPC, GRPC-WEB, HTTPS, TLS, TCP, MONGO, REDIS, MYSQL, UDP, HTTP_PROXY",
    ],
    [
      block('port: { number: 80, targetPort: 8080 }'),
      '6 spec.egress[0].port.targetPort: it has no effect here: leave it out',
    ],
    [blockOfPort('bind: here'), "8 spec.egress[0].bind: 'here' is not an IP address"],
    [
      blockOfPort('bind: unix:///a'),
      '8 spec.egress[0].bind: a Unix socket has no port: give it port.number 0',
    ],
    [
      block('{ bind: unix://a, port: { number: 0 }, hosts: [./*] }').split('\n    hosts')[0] ?? '',
      "6 spec.egress[0].bind: 'unix://a' is not a socket: give unix:///path, or unix://@name",
    ],
    [
      block('{ bind: unix:///a, captureMode: IPTABLES, port: { number: 0 }, hosts: [./*] }').split(
        '\n    hosts',
      )[0] ?? '',
      '6 spec.egress[0].captureMode: nothing is captured for a Unix socket: give NONE, or leave it out',
    ],
    [
      blockOfPort('captureMode: MAYBE'),
      "8 spec.egress[0].captureMode: 'MAYBE' is not one of DEFAULT, IPTABLES, NONE",
    ],
  ])('%s', (spec, flaw) => {
    expect(flawsOf(spec).filter((line) => line.startsWith('error'))).toEqual([`error ${flaw}`]);
  });

  it.each([
    ['[./*, ./*]', "[1]: './*' is there twice"],
    ['[./*, ./a.example.com]', "[1]: './*' includes './a.example.com': leave one of them out"],
    ["[shop/*, '*/*']", "[0]: '*/*' includes 'shop/*': leave one of them out"],
  ])('is a warning if the hosts %s are more than are needed', (hosts, flaw) => {
    expect(flawsOf(`egress:\n  - hosts: ${hosts}`)).toEqual([
      `warning 6 spec.egress[0].hosts${flaw}`,
    ]);
  });
});
