import { describe, expect, it } from 'vitest';
import { readResources } from '../../../../../src/pilot-discovery/istio/documents/read-resources.ts';

const place = { source: 'files', path: 'a.yaml', defaultNamespace: 'default' };

/** Returns the severity, the line, the field and the sentence of each flaw. */
const flawsOf = (spec: string) =>
  readResources(
    `apiVersion: networking.istio.io/v1\nkind: Gateway\nmetadata: { name: a }\nspec:\n${spec.replace(/^/gm, '  ')}\n`,
    place,
  )
    .flaws.filter(({ field }) => field !== '')
    .map(({ origin, field, reason, severity }) => `${severity} ${origin.line} ${field}: ${reason}`);

/** Returns an HTTP server, with each member on a line of its own from line 6 on. */
const server = (...more: readonly string[]) =>
  `servers:\n  - port: { number: 80, name: http, protocol: HTTP }\n${['hosts: [a.example.com]', ...more].map((line) => `    ${line}`).join('\n')}`;
/** Returns an HTTPS server, whose TLS is in line 8. */
const secure = (tls: string, protocol = 'HTTPS') =>
  `servers:\n  - port: { number: 443, name: https, protocol: ${protocol} }\n    hosts: [a.example.com]\n    tls: { ${tls} }`;

describe('a mistake in a Gateway', () => {
  it.each([
    ['selector: {}', '4 spec.servers: it is missing: at least one server'],
    ['server: []\nservers: []', '6 spec.servers: it is missing: at least one server'],
    ['servers:\n  - hosts: [a.example.com]', '6 spec.servers[0].port: it is missing'],
    [
      'servers:\n  - port: { number: 80, name: http, protocol: HTTP }',
      "6 spec.servers[0].hosts: it is missing: at least one host, or '*' for all",
    ],
    [
      'servers:\n  - hosts: [a.example.com]\n    port: { name: http, protocol: HTTP }',
      '7 spec.servers[0].port.number: it is missing: a port from 1 to 65535',
    ],
    [
      'servers:\n  - hosts: [a.example.com]\n    port: { number: 0, name: http, protocol: HTTP }',
      '7 spec.servers[0].port.number: 0 is not a whole number from 1 to 65535',
    ],
    [
      'servers:\n  - hosts: [a.example.com]\n    port: { number: 80, protocol: HTTP }',
      '7 spec.servers[0].port.name: it is missing',
    ],
    [
      'servers:\n  - hosts: [a.example.com]\n    port: { number: 80, name: http }',
      '7 spec.servers[0].port.protocol: it is missing',
    ],
    [
      'servers:\n  - hosts: [a.example.com]\n    port: { number: 80, name: http, protocol: HTPP }',
      "7 spec.servers[0].port.protocol: 'HTPP' is not one of HTTP, HTTP2, GRPC, GRPC-WEB, HTTPS, TLS, TCP, MONGO, REDIS, MYSQL, UDP, HTTP_PROXY",
    ],
    [
      'servers:\n  - hosts: [a.example.com]\n    port: { number: 80, name: http, protocol: HTTP, targetPort: 8080 }',
      '7 spec.servers[0].port.targetPort: a gateway has none: leave it out',
    ],
    [server('bind: here'), "8 spec.servers[0].bind: 'here' is not an IP address"],
    [
      "servers:\n  - port: { number: 80, name: http, protocol: HTTP }\n    hosts: ['*-a.example.com']",
      "7 spec.servers[0].hosts[0]: '*-a.example.com' is not a host of a gateway: a '*' stands for whole parts of a name",
    ],
    [
      'servers:\n  - port: { number: 80, name: http, protocol: HTTP }\n    hosts: [shop]',
      "7 spec.servers[0].hosts[0]: 'shop' is not a full name: give one with a dot, or '*'",
    ],
    [
      'servers:\n  - port: { number: 80, name: http, protocol: HTTP }\n    hosts: [~/a.example.com]',
      "7 spec.servers[0].hosts[0]: '~' is not a namespace: name one, or '.' for its own, or '*' for all",
    ],
    [
      'servers:\n  - port: { number: 80, name: http, protocol: HTTP }\n    hosts: [shop/]',
      '7 spec.servers[0].hosts[0]: it is missing',
    ],
    [
      `${server()}\n  - port: { number: 81, name: http, protocol: HTTP }\n    hosts: [a.example.com]`,
      "8 spec.servers[1].port.name: 'http' is there twice: HTTPS routes have the name of their port, so each needs its own",
    ],
    [
      server('tls: { mode: SIMPLE, credentialName: c }'),
      '8 spec.servers[0].tls.mode: a port of HTTP has no TLS: leave it out, or make the port HTTPS',
    ],
    [
      secure('mode: SIMPLE, credentialName: c', 'TCP'),
      '8 spec.servers[0].tls: its port is not of HTTPS or TLS: leave tls out, or change protocol',
    ],
    [
      'servers:\n  - port: { number: 443, name: https, protocol: HTTPS }\n    hosts: [a.example.com]',
      '6 spec.servers[0].tls: it is missing: a port with HTTPS or TLS needs it',
    ],
    [
      secure('mode: SIMPEL, credentialName: c'),
      "8 spec.servers[0].tls.mode: 'SIMPEL' is not one of PASSTHROUGH, SIMPLE, MUTUAL, AUTO_PASSTHROUGH, ISTIO_MUTUAL, OPTIONAL_MUTUAL",
    ],
    [
      secure('mode: SIMPLE, credentialname: c'),
      '8 spec.servers[0].tls.credentialname: there is no such field: did you mean credentialName?',
    ],
    [
      secure('mode: SIMPLE, privateKey: /k'),
      '8 spec.servers[0].tls.serverCertificate: it is missing: give it, or credentialName',
    ],
    [
      secure('mode: SIMPLE, serverCertificate: /c'),
      '8 spec.servers[0].tls.privateKey: it is missing: give it, or credentialName',
    ],
    [
      secure('mode: OPTIONAL_MUTUAL, serverCertificate: /c, privateKey: /k'),
      '8 spec.servers[0].tls.caCertificates: it is missing: give it, or credentialName',
    ],
    [
      secure('mode: ISTIO_MUTUAL, credentialName: c'),
      '8 spec.servers[0].tls.credentialName: ISTIO_MUTUAL takes the certificate of the mesh: leave it out',
    ],
    [
      secure('mode: SIMPLE, credentialName: c, credentialNames: [d]'),
      '8 spec.servers[0].tls.credentialNames: credentialNames is not served: give credentialName',
    ],
    [
      secure('mode: SIMPLE, credentialName: c, cipherSuites: [RC4]'),
      '8 spec.servers[0].tls.cipherSuites: none of them is known: give some such as ECDHE-ECDSA-AES128-GCM-SHA256, ECDHE-RSA-AES128-GCM-SHA256, ECDHE-ECDSA-AES256-GCM-SHA384, ECDHE-RSA-AES256-GCM-SHA384',
    ],
    [
      secure(
        'mode: SIMPLE, credentialName: c, minProtocolVersion: TLSV1_3, maxProtocolVersion: TLSV1_2',
      ),
      '8 spec.servers[0].tls.minProtocolVersion: it is above maxProtocolVersion',
    ],
    [
      secure('mode: MUTUAL, credentialName: c, verifyCertificateHash: [ab]'),
      "8 spec.servers[0].tls.verifyCertificateHash[0]: 'ab' is not the SHA-256 of a certificate in hex",
    ],
    [
      secure('mode: MUTUAL, credentialName: c, verifyCertificateSpki: [ab]'),
      "8 spec.servers[0].tls.verifyCertificateSpki[0]: 'ab' is not the SHA-256 of a public key in base64",
    ],
  ])('is named: %s', (spec, flaw) => {
    expect(flawsOf(spec)).toContain(`error ${flaw}`);
  });
});

describe('what has no effect in a Gateway, and is used all the same', () => {
  it.each([
    ['server: 1\n' + server(), '5 spec.server: there is no such field: did you mean servers?'],
    [
      server('defaultEndpoint: 127.0.0.1:80'),
      '8 spec.servers[0].defaultEndpoint: defaultEndpoint is not served yet, and has no effect',
    ],
    [
      secure('mode: SIMPLE, credentialName: c, httpsRedirect: true'),
      '8 spec.servers[0].tls.httpsRedirect: it has no effect: it is for ports of HTTP',
    ],
    [
      secure('mode: SIMPLE, credentialName: c, caCrl: /l'),
      '8 spec.servers[0].tls: mode SIMPLE checks no client: subjectAltNames, hashes and caCrl have no effect',
    ],
    [
      secure('mode: SIMPLE, credentialName: sds://c'),
      "8 spec.servers[0].tls.credentialName: 'sds://c' is not a valid name of a secret of a gateway: small letters, digits, - and . within",
    ],
    [
      secure('mode: SIMPLE, credentialName: istio-c'),
      "8 spec.servers[0].tls.credentialName: 'istio-c' is not a valid name of a secret of a gateway: small letters, digits, - and . within",
    ],
    [
      secure('mode: SIMPLE, credentialName: c, minProtocolVersion: TLSV1_1'),
      '8 spec.servers[0].tls.minProtocolVersion: versions below TLSV1_2 need cipherSuites that they support: the defaults of Envoy are newer',
    ],
    [
      secure('mode: SIMPLE, credentialName: c, cipherSuites: [AES128-SHA, RC4]'),
      "8 spec.servers[0].tls.cipherSuites[1]: 'RC4' is not known, and is left out",
    ],
    [
      secure('mode: SIMPLE, credentialName: c, cipherSuites: [AES128-SHA, AES128-SHA]'),
      "8 spec.servers[0].tls.cipherSuites[1]: 'AES128-SHA' is there twice",
    ],
    [
      secure('mode: AUTO_PASSTHROUGH, serverCertificate: /c', 'TLS'),
      '8 spec.servers[0].tls: TLS that is passed on needs no certificate: this field has no effect',
    ],
    [
      secure('mode: PASSTHROUGH, credentialName: c', 'TLS'),
      '8 spec.servers[0].tls: TLS that is passed on needs no certificate: this field has no effect',
    ],
    [
      'servers:\n  - port: { number: 53, name: dns, protocol: UDP }\n    hosts: [a.example.com]',
      '6 spec.servers[0]: UDP is not served: nothing listens there',
    ],
  ])('is named: %s', (spec, flaw) => {
    expect(flawsOf(spec)).toEqual([`warning ${flaw}`]);
  });

  it('is nothing of a Gateway of the Gateway API', () => {
    const text = 'apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: { name: a }\n';
    expect(
      readResources(text, place).flaws.map(({ severity, reason }) => `${severity} ${reason}`),
    ).toEqual([
      'info Gateway (gateway.networking.k8s.io/v1) is of the Gateway API, which is not served',
    ]);
  });
});

/**
 * Returns the severity, the field and the sentence of each flaw of a VirtualService for a gateway.
 */
const rulesOf = (spec: string) =>
  readResources(
    `apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: { name: a }\nspec: { gateways: [front], ${spec} }\n`,
    place,
  )
    .flaws.filter(({ field }) => field !== '')
    .map(({ field, reason, severity }) => `${severity} ${field}: ${reason}`);
const names = (match: string, hosts = '"*.example.com"') =>
  `hosts: [${hosts}], tls: [{ match: [{ ${match} }], route: [{ destination: { host: a.mesh } }] }]`;
const tcp = (route: string) => `hosts: ['*'], tcp: [{ ${route} }]`;

describe('a mistake in a route of connections', () => {
  it.each([
    [tcp('route: []'), 'error spec.tcp[0].route: it is missing: at least one destination'],
    [tcp('rout: []'), 'error spec.tcp[0].route: it is missing: at least one destination'],
    [
      tcp('route: [{ destination: { host: a.mesh } }, { destination: { host: b.mesh } }]'),
      'error spec.tcp[0].route: the weights make 0: nothing could be chosen',
    ],
    [
      tcp('match: [{ port: 0 }], route: [{ destination: { host: a.mesh } }]'),
      'error spec.tcp[0].match[0].port: 0 is not a whole number from 1 to 65535',
    ],
    [
      tcp('match: [{ destinationSubnets: [a] }], route: [{ destination: { host: a.mesh } }]'),
      "error spec.tcp[0].match[0].destinationSubnets[0]: 'a' is not an IP address or CIDR",
    ],
    [
      tcp('match: [{ sourceLabels: { a: b } }], route: [{ destination: { host: a.mesh } }]'),
      'warning spec.tcp[0].match[0].sourceLabels: no gateway looks at it: it has no effect',
    ],
    [
      'tcp: [{ route: [{ destination: { host: a.mesh } }] }]',
      'error spec.hosts: a VirtualService without hosts is for delegation, and has no tls and tcp',
    ],
    [
      'hosts: [a.example.com], tls: [{ route: [{ destination: { host: a.mesh } }] }]',
      'error spec.tls[0].match: it is missing: at least one match, with sniHosts',
    ],
    [
      names('port: 443'),
      'error spec.tls[0].match[0].sniHosts: it is missing: at least one name that TLS asks for',
    ],
    [
      names('sniHosts: [a.example.org]'),
      "error spec.tls[0].match[0].sniHosts[0]: 'a.example.org' is not within the hosts of the VirtualService",
    ],
    [
      names("sniHosts: ['*-a.example.com']"),
      "error spec.tls[0].match[0].sniHosts[0]: '*-a.example.com' is not a valid name of TLS: a '*' stands for whole parts of a name",
    ],
    [
      names('sniHost: [a.example.com]'),
      'error spec.tls[0].match[0].sniHost: there is no such field: did you mean sniHosts?',
    ],
  ])('is named: %s', (spec, flaw) => {
    expect(rulesOf(spec)).toContain(flaw);
  });

  it('is a source of callers, which nobody looks at, but none of what sidecars look at', () => {
    const match =
      'sniHosts: [a.example.com], sourceLabels: { a: b }, destinationSubnets: [10.0.0.1]';
    const { flaws } = readResources(
      `apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: { name: a }\nspec: { ${names(`${match}, sourceNamespace: a, sourceSubnet: 10.0.0.1`)} }\n`,
      place,
    );
    expect(flaws.map(({ severity, field, reason }) => `${severity} ${field}: ${reason}`)).toEqual([
      'warning spec.tls[0].match[0].sourceSubnet: it has no effect, as in Istio: no proxy looks at it',
    ]);
  });

  it('is what gateways skip in a match for gateways alone', () => {
    const match = 'match: [{ gateways: [front], sourceNamespace: a }, { sourceNamespace: a }]';
    const { flaws } = readResources(
      `apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: { name: a }\nspec: { gateways: [mesh, front], hosts: [a.mesh], tcp: [{ ${match}, route: [{ destination: { host: a.mesh } }] }] }\n`,
      place,
    );
    expect(flaws.map(({ field, reason }) => `${field}: ${reason}`)).toEqual([
      'spec.tcp[0].match[0].sourceNamespace: no gateway looks at it: it has no effect',
    ]);
  });
});

describe('the Unix socket of a server', () => {
  it.each([
    ['unix://a', "'unix://a' is not a Unix socket: give unix:///PATH, or unix://@NAME"],
    ['unix://', "'unix://' is not a Unix socket: give unix:///PATH, or unix://@NAME"],
    [`unix:///${'a'.repeat(107)}`, 'the path of a socket has at most 107 bytes, and this one 108'],
  ])('%s is named if it is wrong', (bind, reason) => {
    expect(
      flawsOf(
        `servers:\n  - port: { number: 0, name: http, protocol: HTTP }\n    bind: ${bind}\n    hosts: [a.example.com]`,
      ),
    ).toEqual([`error 7 spec.servers[0].bind: ${reason}`]);
  });

  it.each(['unix:///a', 'unix://@a', `unix:///${'a'.repeat(106)}`])('%s is right', (bind) => {
    expect(
      flawsOf(
        `servers:\n  - port: { number: 0, name: http, protocol: HTTP }\n    bind: ${bind}\n    hosts: [a.example.com]`,
      ),
    ).toEqual([]);
  });
});
