import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readMeshConfig } from '../../../../../src/pilot-discovery/istio/mesh/read-mesh-config.ts';
import { readResources } from '../../../../../src/pilot-discovery/istio/documents/read-resources.ts';

const read = (text: string) =>
  readResources(text, { source: 'files', path: 'f.yaml', defaultNamespace: 'default' });

const good = `apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: { name: good, namespace: default }
spec: { address: 10.0.0.1 }
`;

/** Specs of each kind with one mistake each, and the flaw that is reported. */
const mistakes: Readonly<Record<string, readonly (readonly [spec: string, flaw: string])[]>> = {
  ServiceEntry: [
    [
      '{ ports: [{ number: 80, name: http, protocol: HTTP }], resolution: NONE }',
      'hosts: it is missing: at least one host',
    ],
    [
      "{ hosts: ['a_b*.com'], ports: [{ number: 80, name: http, protocol: HTTP }], resolution: NONE }",
      "hosts[0]: 'a_b*.com' is not a host: give a DNS name, which may begin with '*'",
    ],
    [
      '{ hosts: [a.com, a.com], ports: [{ number: 80, name: http }], resolution: NONE }',
      "hosts[1]: 'a.com' is there twice",
    ],
    [
      '{ addresses: [10.0.0], hosts: [a.com], ports: [{ number: 80, name: http, protocol: HTTP }], resolution: STATIC, endpoints: [{ address: 10.0.0.1 }] }',
      "addresses[0]: '10.0.0' is not an IP address or CIDR",
    ],
    [
      '{ addresses: [10.0.0.0/33], hosts: [a.com], ports: [{ number: 80, name: http, protocol: HTTP }], resolution: STATIC, endpoints: [{ address: 10.0.0.1 }] }',
      "addresses[0]: '10.0.0.0/33' is not an IP address or CIDR",
    ],
    [
      '{ hosts: [a.com], ports: [{ number: 0, name: http, protocol: HTTP }] }',
      'ports[0].number: 0 is not a whole number from 1 to 65535',
    ],
    [
      '{ hosts: [a.com], ports: [{ number: 65536, name: http, protocol: HTTP }] }',
      'ports[0].number: 65536 is not a whole number from 1 to 65535',
    ],
    ['{ hosts: [a.com], ports: [{ number: 80, protocol: HTTP }] }', 'ports[0].name: it is missing'],
    [
      '{ hosts: [a.com], ports: [{ number: 80, name: a }, { number: 80, name: b }] }',
      'ports[1].number: 80 is there twice',
    ],
    [
      '{ hosts: [a.com], ports: [{ number: 80, name: a }, { number: 81, name: a }] }',
      "ports[1].name: 'a' is there twice",
    ],
    [
      '{ hosts: [a.com], ports: [{ number: 80, name: a, protocol: HTPP }] }',
      "ports[0].protocol: 'HTPP' is not one of HTTP, HTTP2, GRPC, GRPC-WEB, HTTPS, TLS, TCP, MONGO, REDIS, MYSQL, UDP, HTTP_PROXY",
    ],
    [
      '{ hosts: [a.com], ports: [{ number: 80, name: a }], resolution: STATICC }',
      "resolution: 'STATICC' is not one of NONE, STATIC, DNS, DNS_ROUND_ROBIN, DYNAMIC_DNS",
    ],
    [
      '{ location: INSIDE, hosts: [a.com], ports: [{ number: 80, name: http, protocol: HTTP }], resolution: STATIC, endpoints: [{ address: 10.0.0.1 }] }',
      "location: 'INSIDE' is not one of MESH_EXTERNAL, MESH_INTERNAL",
    ],
    [
      '{ hosts: [a.com], ports: [{ number: 80, name: a }], resolution: NONE, endpoints: [{ address: 10.0.0.1 }] }',
      'endpoints: with resolution NONE there are none: leave them out, or use STATIC or DNS',
    ],
    [
      '{ hosts: [a.com], ports: [{ number: 80, name: a }], resolution: STATIC, endpoints: [{}] }',
      'endpoints[0].address: it is missing: an IP address, a DNS name, or unix:///path',
    ],
    [
      '{ hosts: [a.com], ports: [{ number: 80, name: a }], resolution: STATIC, endpoints: [{ address: b.com }] }',
      "endpoints[0].address: 'b.com' is not an IP address, which resolution STATIC needs: use DNS",
    ],
    [
      '{ hosts: [a.com], ports: [{ number: 80, name: a }], resolution: STATIC, endpoints: [{ address: 10.0.0.1, ports: { b: 1 } }] }',
      "endpoints[0].ports.b: the service has no port 'b'",
    ],
    [
      '{ workloadSelector: { labels: { a: b } }, hosts: [a.com], ports: [{ number: 80, name: http, protocol: HTTP }], resolution: STATIC, endpoints: [{ address: 10.0.0.1 }] }',
      'workloadSelector: endpoints and workloadSelector exclude each other: leave one out',
    ],
    [
      "{ hosts: ['*.a.com'], ports: [{ number: 80, name: a }], resolution: DNS }",
      'resolution: a host with * cannot be looked up: give endpoints, or resolution NONE or DYNAMIC_DNS',
    ],
    [
      '{ hosts: [a.com], ports: [{ number: 80, name: a }], resolution: STATIC, endpoints: [{ address: 10.0.0.1, weight: -1 }] }',
      'endpoints[0].weight: -1 is not a whole number from 0 to 2147483647',
    ],
    [
      "{ exportTo: ['a b'], hosts: [a.com], ports: [{ number: 80, name: http, protocol: HTTP }], resolution: STATIC, endpoints: [{ address: 10.0.0.1 }] }",
      "exportTo[0]: 'a b' is not a namespace: name one, or '.' for its own, or '*' for all",
    ],
    [
      '{ resolutoin: DNS, hosts: [a.com], ports: [{ number: 80, name: http, protocol: HTTP }], resolution: STATIC, endpoints: [{ address: 10.0.0.1 }] }',
      'resolutoin: there is no such field: did you mean resolution?',
    ],
    [
      '{ hosts: [a.com], ports: [{ number: 80, name: a }], resolution: DNS_ROUND_ROBIN, endpoints: [{ address: b.com }, { address: c.com }] }',
      'endpoints: with resolution DNS_ROUND_ROBIN there is one at most: use DNS',
    ],
    [
      '{ hosts: [a.com], ports: [{ number: 80, name: a, protocol: HTTP }], resolution: DYNAMIC_DNS }',
      "hosts[0]: 'a.com' is one name, and resolution DYNAMIC_DNS is for a host with '*.': use DNS",
    ],
    [
      "{ hosts: ['*.a.com'], ports: [{ number: 80, name: a, protocol: TCP }], resolution: DYNAMIC_DNS }",
      'ports[0].protocol: with resolution DYNAMIC_DNS only HTTP and TLS name the host of a connection: give one of them',
    ],
    [
      "{ hosts: ['*.a.com'], ports: [{ number: 80, name: a, protocol: HTTP }], resolution: DYNAMIC_DNS, endpoints: [{ address: b.com }] }",
      'endpoints: with resolution DYNAMIC_DNS there are none: leave them out, or use DNS',
    ],
    [
      "{ hosts: ['*.a.com'], ports: [{ number: 80, name: a, protocol: HTTP }], resolution: DYNAMIC_DNS, workloadSelector: { labels: { a: b } } }",
      'workloadSelector: with resolution DYNAMIC_DNS no workload is selected: leave it out, or use STATIC',
    ],
  ],
  WorkloadEntry: [
    ['{ labels: { a: b } }', 'address: it is missing: an IP address, a DNS name, or unix:///path'],
    ["{ address: '' }", 'address: it is missing: an IP address, a DNS name, or unix:///path'],
    ['{ address: 10 }', 'address: 10 is not a text'],
    ['{ address: [10.0.0.1] }', 'address: ["10.0.0.1"] is not a text'],
    [
      '{ address: unix://x }',
      "address: 'unix://x' has no absolute path: unix:///path, or unix://@name",
    ],
    ['{ address: unix:///x, ports: { a: 1 } }', 'address: a Unix socket has no ports'],
    ['{ address: 10.0.0.1, ports: [1] }', 'ports: [1] is not an object'],
    [
      '{ address: 10.0.0.1, ports: { a: 70000 } }',
      'ports.a: 70000 is not a whole number from 1 to 65535',
    ],
    ['{ address: 10.0.0.1, labels: [a] }', 'labels: ["a"] is not an object'],
    ['{ address: 10.0.0.1, labels: { a: 1 } }', 'labels.a: 1 is not a text'],
    ['{ address: 10.0.0.1, weight: -1 }', 'weight: -1 is not a whole number from 0 to 2147483647'],
    [
      '{ address: 10.0.0.1, weight: much }',
      "weight: 'much' is not a whole number from 0 to 2147483647",
    ],
    [
      '{ address: 10.0.0.1, weight: 1.5 }',
      'weight: 1.5 is not a whole number from 0 to 2147483647',
    ],
    ['{ address: 10.0.0.1, locality: { region: a } }', 'locality: {"region":"a"} is not a text'],
    ['{ address: 10.0.0.1, network: 1 }', 'network: 1 is not a text'],
    ['{ address: 10.0.0.1, serviceAccount: [a] }', 'serviceAccount: ["a"] is not a text'],
    ['{ address: 10.0.0.1, adress: a }', 'adress: there is no such field: did you mean address?'],
    ["{ address: 'a b' }", "address: 'a b' is not an IP address, a DNS name or unix:///path"],
    ['[]', ': [] is not an object'],
    ['{ address: 10.0.0.1, weight: [] }', 'weight: [] is not a whole number from 0 to 2147483647'],
  ],
  VirtualService: [
    [
      '{ hosts: [a.com], http: [{}] }',
      'http[0]: it needs exactly one of route, redirect, directResponse, delegate',
    ],
    ['{ hosts: [a.com] }', 'http: it is missing: at least one route'],
    [
      "{ hosts: ['a b'], http: [{ route: [{ destination: { host: b.com } }] }] }",
      "hosts[0]: 'a b' is not a host: give a DNS name, which may begin with '*'",
    ],
    [
      '{ hosts: [a.com, a.com], http: [{ route: [{ destination: { host: b.com } }] }] }',
      "hosts[1]: 'a.com' is there twice",
    ],
    [
      "{ hosts: [a.com], http: [{ match: [{ uri: { regex: '(' } }], route: [{ destination: { host: b.com } }] }] }",
      "http[0].match[0].uri.regex: '(' is not a regular expression of RE2: a ) is missing",
    ],
    [
      "{ hosts: [a.com], http: [{ match: [{ uri: { regex: '(?=a)' } }], route: [{ destination: { host: b.com } }] }] }",
      "http[0].match[0].uri.regex: '(?=a)' is not a regular expression of RE2: '(?=a' is not known to RE2",
    ],
    [
      '{ hosts: [a.com], http: [{ route: [{ destination: { host: b.com } }], redirect: { uri: / } }] }',
      'http[0]: it needs exactly one of route, redirect, directResponse, delegate',
    ],
    [
      '{ hosts: [a.com], http: [{ redirect: { uri: /, redirectCode: 200 } }] }',
      'http[0].redirect.redirectCode: 200 is not one of 301, 302, 303, 307, 308',
    ],
    [
      '{ hosts: [a.com], http: [{ redirect: { uri: /, prefixRewrite: /b } }] }',
      'http[0].redirect: uri and prefixRewrite exclude each other: leave one out',
    ],
    [
      '{ hosts: [a.com], http: [{ match: [{ uri: { exact: /a } }], redirect: { prefixRewrite: /b } }] }',
      'http[0].match[0].uri: redirect.prefixRewrite replaces a prefix: match by prefix, or give redirect.uri',
    ],
    [
      '{ hosts: [a.com], http: [{ directResponse: { status: 99 } }] }',
      'http[0].directResponse.status: 99 is not a whole number from 200 to 599',
    ],
    [
      '{ hosts: [a.com], http: [{ route: [{ destination: { host: a.com }, weight: 0 }, { destination: { host: b.com }, weight: 0 }] }] }',
      'http[0].route: the weights make 0: nothing could be chosen',
    ],
    [
      '{ hosts: [a.com], http: [{ route: [{ destination: { host: a.com }, weight: -1 }] }] }',
      'http[0].route[0].weight: -1 is not a whole number from 0 to 2147483647',
    ],
    [
      '{ hosts: [a.com], http: [{ route: [{ weight: 1 }] }] }',
      'http[0].route[0].destination.host: it is missing',
    ],
    [
      '{ hosts: [a.com], http: [{ route: [{ destination: { host: b.com } }], timeout: soon }] }',
      "http[0].timeout: 'soon' is not a duration of 1ms or more (such as '500ms' or '1.5s')",
    ],
    [
      '{ hosts: [a.com], http: [{ route: [{ destination: { host: b.com } }], retries: { attempts: 1, retryOn: sometimes } }] }',
      "http[0].retries.retryOn: 'sometimes' is not a reason to try again, or a status",
    ],
    [
      "{ hosts: [a.com], http: [{ route: [{ destination: { host: b.com } }], headers: { request: { set: { 'a b': c } } } }] }",
      "http[0].headers.request.set.a b: 'a b' is not a valid name of a header",
    ],
    [
      "{ hosts: [a.com], http: [{ route: [{ destination: { host: b.com } }], headers: { request: { set: { ':path': c } } } }] }",
      "http[0].headers.request.set.:path: ':path' cannot be changed here: use rewrite",
    ],
    [
      "{ hosts: [a.com], http: [{ route: [{ destination: { host: b.com } }], headers: { response: { add: { a: '%BAD%' } } } }] }",
      'http[0].headers.response.add.a: Envoy has no %BAD%: write %% for a percent sign',
    ],
    [
      '{ hosts: [a.com], http: [{ route: [{ destination: { host: b.com } }], fault: { abort: { httpStatus: 500, percentage: { value: 101 } } } }] }',
      'http[0].fault.abort.percentage.value: 101 is not a percentage from 0 to 100',
    ],
    [
      '{ hosts: [a.com], http: [{ route: [{ destination: { host: b.com } }], fault: { abort: { httpStatus: 500, grpcStatus: OK } } }] }',
      'http[0].fault.abort: it needs exactly one of httpStatus, grpcStatus',
    ],
    [
      '{ hosts: [a.com], http: [{ route: [{ destination: { host: b.com } }], fault: { delay: {} } }] }',
      'http[0].fault.delay.fixedDelay: it is missing: a duration of 1ms or more',
    ],
    [
      '{ hosts: [a.com], http: [{ match: [{ port: 0 }], route: [{ destination: { host: b.com } }] }] }',
      'http[0].match[0].port: 0 is not a whole number from 1 to 65535',
    ],
    [
      '{ hosts: [a.com], http: [{ match: [{ method: GET }], route: [{ destination: { host: b.com } }] }] }',
      "http[0].match[0].method: 'GET' is not an object",
    ],
    [
      '{ hosts: [a.com], http: [{ route: [{ destination: { host: b.com } }], rewrite: { uri: /, uriRegexRewrite: { match: a, rewrite: b } } }] }',
      'http[0].rewrite: uri and uriRegexRewrite exclude each other: leave one out',
    ],
    [
      '{ hosts: [a.com], http: [{ mathc: [], route: [{ destination: { host: b.com } }] }] }',
      'http[0].mathc: there is no such field: did you mean match?',
    ],
    [
      "{ hosts: ['*'], http: [{ route: [{ destination: { host: b.com } }] }] }",
      "hosts[0]: '*' is for gateways, and not for the mesh: name the hosts",
    ],
    [
      "{ hosts: [a.com], http: [{ route: [{ destination: { host: '*' } }] }] }",
      "http[0].route[0].destination.host: '*' is not a host: give a DNS name, which may begin with '*'",
    ],
    [
      '{ hosts: [a.com], http: [{ retries: { attempts: 2, backoff: 0s }, route: [{ destination: { host: b.com } }] }] }',
      "http[0].retries.backoff: '0s' is not a duration of 1ms or more (such as '500ms' or '1.5s')",
    ],
    [
      '{ hosts: [a.com], http: [{ timeout: 9999999999999999h, route: [{ destination: { host: b.com } }] }] }',
      "http[0].timeout: '9999999999999999h' is longer than Envoy counts: at most 2147483647s",
    ],
    [
      "{ hosts: [a.com], http: [{ match: [{ headers: { x: { prefix: '' } } }], route: [{ destination: { host: b.com } }] }] }",
      "http[0].match[0].headers.x.prefix: an empty prefix matches nothing: leave the match out, or give the regex '.*'",
    ],
    [
      '{ hosts: [a.com], http: [{ route: [{ destination: { host: b.com }, weight: 2147483647 }, { destination: { host: c.com }, weight: 2147483647 }, { destination: { host: d.com }, weight: 2 }] }] }',
      'http[0].route: the weights make 4294967296, which is more than 4294967295',
    ],
  ],
  DestinationRule: [
    [
      '{ host: a.com, trafficPolicy: { tunnel: { targetPort: 80 } } }',
      'trafficPolicy.tunnel.targetHost: it is missing',
    ],
    [
      "{ host: a.com, trafficPolicy: { tunnel: { targetHost: '*.b.com', targetPort: 80 } } }",
      "trafficPolicy.tunnel.targetHost: '*.b.com' is not an address to connect to: name a host",
    ],
    [
      '{ host: a.com, trafficPolicy: { tunnel: { targetHost: b.com } } }',
      'trafficPolicy.tunnel.targetPort: it is missing: a port from 1 to 65535',
    ],
    [
      '{ host: a.com, trafficPolicy: { tunnel: { protocol: SPDY, targetHost: b.com, targetPort: 80 } } }',
      "trafficPolicy.tunnel.protocol: 'SPDY' is not one of CONNECT, POST",
    ],
    [
      '{ host: a.com, trafficPolicy: { tunnel: { targetHost: b.com, targetPort: 80 }, proxyProtocol: { version: V1 } } }',
      'trafficPolicy.tunnel: it excludes proxyProtocol: leave one out',
    ],
    [
      '{ host: a.com, trafficPolicy: { proxyProtocol: { version: V3 } } }',
      "trafficPolicy.proxyProtocol.version: 'V3' is not one of V1, V2",
    ],
    [
      '{ host: a.com, trafficPolicy: { proxyProtocol: V1 } }',
      "trafficPolicy.proxyProtocol: 'V1' is not an object",
    ],
    ['{}', 'host: it is missing'],
    ["{ host: 'a b' }", "host: 'a b' is not a host: give a DNS name, which may begin with '*'"],
    [
      '{ host: a.com, trafficPolicy: { loadBalancer: { simple: FASTEST } } }',
      "trafficPolicy.loadBalancer.simple: 'FASTEST' is not one of UNSPECIFIED, LEAST_REQUEST, LEAST_CONN, ROUND_ROBIN, RANDOM, PASSTHROUGH",
    ],
    [
      '{ host: a.com, trafficPolicy: { loadBalancer: { simple: RANDOM, consistentHash: { useSourceIp: true } } } }',
      'trafficPolicy.loadBalancer: simple and consistentHash exclude each other: leave one out',
    ],
    [
      '{ host: a.com, trafficPolicy: { loadBalancer: { consistentHash: {} } } }',
      'trafficPolicy.loadBalancer.consistentHash: it needs exactly one of httpHeaderName, httpCookie, useSourceIp, httpQueryParameterName',
    ],
    [
      '{ host: a.com, trafficPolicy: { loadBalancer: { consistentHash: { useSourceIp: true, httpHeaderName: a } } } }',
      'trafficPolicy.loadBalancer.consistentHash: it needs exactly one of httpHeaderName, httpCookie, useSourceIp, httpQueryParameterName',
    ],
    [
      '{ host: a.com, trafficPolicy: { loadBalancer: { consistentHash: { useSourceIp: true, maglev: { tableSize: 100 } } } } }',
      'trafficPolicy.loadBalancer.consistentHash.maglev.tableSize: 100 is not a prime number',
    ],
    [
      '{ host: a.com, trafficPolicy: { connectionPool: { tcp: { maxConnections: -1 } } } }',
      'trafficPolicy.connectionPool.tcp.maxConnections: -1 is not a whole number from 0 to 2147483647',
    ],
    [
      '{ host: a.com, trafficPolicy: { connectionPool: { tcp: { connectTimeout: 1 } } } }',
      "trafficPolicy.connectionPool.tcp.connectTimeout: 1 is not a duration of 1ms or more (such as '500ms' or '1.5s')",
    ],
    [
      '{ host: a.com, trafficPolicy: { connectionPool: { http: { http2KeepAlive: { interval: 1s } } } } }',
      'trafficPolicy.connectionPool.http.http2KeepAlive.timeout: it is missing: a duration',
    ],
    [
      '{ host: a.com, trafficPolicy: { connectionPool: { http: { http2KeepAlive: { interval: 0s, timeout: 1s } } } } }',
      "trafficPolicy.connectionPool.http.http2KeepAlive.interval: '0s' is not a duration of 1ms or more (such as '500ms' or '1.5s')",
    ],
    [
      '{ host: a.com, trafficPolicy: { connectionPool: { http: { h2UpgradePolicy: YES } } } }',
      "trafficPolicy.connectionPool.http.h2UpgradePolicy: 'YES' is not one of DEFAULT, DO_NOT_UPGRADE, UPGRADE",
    ],
    [
      '{ host: a.com, trafficPolicy: { outlierDetection: { consecutive5xxErrors: many } } }',
      "trafficPolicy.outlierDetection.consecutive5xxErrors: 'many' is not a whole number from 0 to 2147483647",
    ],
    [
      '{ host: a.com, trafficPolicy: { outlierDetection: { maxEjectionPercent: 101 } } }',
      'trafficPolicy.outlierDetection.maxEjectionPercent: 101 is not a whole number from 0 to 100',
    ],
    [
      '{ host: a.com, trafficPolicy: { tls: { mode: ON } } }',
      "trafficPolicy.tls.mode: 'ON' is not one of DISABLE, SIMPLE, MUTUAL, ISTIO_MUTUAL",
    ],
    [
      '{ host: a.com, trafficPolicy: { tls: { mode: MUTUAL, clientCertificate: /a } } }',
      'trafficPolicy.tls.privateKey: it is missing: mode MUTUAL shows a certificate',
    ],
    [
      '{ host: a.com, trafficPolicy: { tls: { mode: ISTIO_MUTUAL, privateKey: /a } } }',
      'trafficPolicy.tls.mode: ISTIO_MUTUAL takes the certificates of the mesh: files and credentialName have no effect',
    ],
    [
      '{ host: a.com, trafficPolicy: { tls: { mode: SIMPLE, credentialName: a, caCertificates: /b } } }',
      'trafficPolicy.tls.credentialName: it excludes clientCertificate, privateKey and caCertificates',
    ],
    ['{ host: a.com, subsets: [{ labels: { a: b } }] }', 'subsets[0].name: it is missing'],
    ['{ host: a.com, subsets: [{ name: a }, { name: a }] }', "subsets[1].name: 'a' is there twice"],
    [
      '{ host: a.com, export_to: ["*"], exportTo: ["*"] }',
      'export_to: exportTo gives it too, in another spelling: leave one of them out',
    ],
    [
      '{ host: a.com, trafficPolicy: { loadBalancer: { localityLbSetting: { distribute: [{ from: a, to: { b: 50 } }] } } } }',
      'trafficPolicy.loadBalancer.localityLbSetting.distribute[0].to: the weights make 50, and not 100',
    ],
    [
      '{ host: a.com, trafficPolicy: { loadBalancer: { zoneAwareLbSetting: { failover: [{ from: a, to: a }] } } } }',
      "trafficPolicy.loadBalancer.zoneAwareLbSetting.failover[0].to: 'a' is the region that fails over: name another one",
    ],
    [
      '{ host: a.com, trafficPolicy: { loadBalancer: { zoneAwareLbSetting: { minClusterSize: 0 } } } }',
      'trafficPolicy.loadBalancer.zoneAwareLbSetting.minClusterSize: 0 is not a whole number from 1 to 2147483647',
    ],
    [
      '{ host: a.com, trafficPolicy: { loadBalancer: { localityLbSetting: {}, zoneAwareLbSetting: {} } } }',
      'trafficPolicy.loadBalancer: localityLbSetting and zoneAwareLbSetting exclude each other: leave one out',
    ],
    [
      '{ host: a.com, trafficPolicy: { loadBalancer: { consistentHash: { useSourceIp: true }, zoneAwareLbSetting: {} } } }',
      'trafficPolicy.loadBalancer.zoneAwareLbSetting: with consistentHash Envoy prefers no zone: it has effect on regions only',
    ],
    [
      '{ host: a.com, trafficPolicy: { loadBalancer: { localityLbSetting: { failover: [{ from: a, to: a }] } } } }',
      "trafficPolicy.loadBalancer.localityLbSetting.failover[0].to: 'a' is the region that fails over: name another one",
    ],
    [
      '{ host: a.com, trafficPolicy: { portLevelSettings: [{ port: {} }] } }',
      'trafficPolicy.portLevelSettings[0].port.number: it is missing: a port from 1 to 65535',
    ],
    [
      '{ host: a.com, trafficPolicy: { loadBalncer: {} } }',
      'trafficPolicy.loadBalncer: there is no such field: did you mean loadBalancer?',
    ],
    [
      '{ host: a.com, trafficPolicy: { connectionPool: { tcp: { connectTimeout: 0s } } } }',
      "trafficPolicy.connectionPool.tcp.connectTimeout: '0s' is not a duration of 1ms or more (such as '500ms' or '1.5s')",
    ],
    [
      '{ host: a.com, trafficPolicy: { connectionPool: { tcp: { maxConnectionDuration: 0s } } } }',
      "trafficPolicy.connectionPool.tcp.maxConnectionDuration: '0s' is not a duration of 1ms or more (such as '500ms' or '1.5s')",
    ],
    [
      '{ host: a.com, trafficPolicy: { connectionPool: { tcp: { tcpKeepalive: { probes: 4294967296 } } } } }',
      'trafficPolicy.connectionPool.tcp.tcpKeepalive.probes: 4294967296 is not a whole number from 0 to 2147483647',
    ],
    [
      '{ host: a.com, trafficPolicy: { outlierDetection: { interval: 0s } } }',
      "trafficPolicy.outlierDetection.interval: '0s' is not a duration of 1ms or more (such as '500ms' or '1.5s')",
    ],
    [
      '{ host: a.com, trafficPolicy: { outlierDetection: { baseEjectionTime: 0s } } }',
      "trafficPolicy.outlierDetection.baseEjectionTime: '0s' is not a duration of 1ms or more (such as '500ms' or '1.5s')",
    ],
    [
      "{ host: a.com, trafficPolicy: { loadBalancer: { consistentHash: { httpHeaderName: '' } } } }",
      'trafficPolicy.loadBalancer.consistentHash.httpHeaderName: it is missing',
    ],
    [
      '{ host: a.com, trafficPolicy: { loadBalancer: { consistentHash: { useSourceIp: false } } } }',
      'trafficPolicy.loadBalancer.consistentHash.useSourceIp: false gives no key: set it to true, or leave consistentHash out',
    ],
    [
      '{ host: a.com, trafficPolicy: { loadBalancer: { localityLbSetting: { distribute: [{ from: r1/*, to: { r1/*: 0, r2/*: 100 } }] } } } }',
      'trafficPolicy.loadBalancer.localityLbSetting.distribute[0].to.r1/*: 0 is not a whole number from 1 to 100',
    ],
  ],
  Sidecar: [
    ['{ ingress: [{}] }', 'ingress[0].port.name: it is missing'],
    [
      '{ ingress: [{ port: { name: a, protocol: HTTP } }] }',
      'ingress[0].port.number: it is missing: a port from 1 to 65535',
    ],
    [
      '{ ingress: [{ port: { number: 80, name: a } }, { port: { number: 80, name: b } }] }',
      'ingress[1].port.number: 80 is there twice',
    ],
    [
      '{ ingress: [{ port: { number: 80, name: a }, bind: here }] }',
      "ingress[0].bind: 'here' is not an IP address",
    ],
    [
      '{ ingress: [{ port: { number: 80, name: a }, defaultEndpoint: 10.0.0.1:80 }] }',
      "ingress[0].defaultEndpoint: '10.0.0.1:80' is not 127.0.0.1:PORT, 0.0.0.0:PORT, [::1]:PORT, [::]:PORT, or unix:///path",
    ],
    [
      '{ ingress: [{ port: { number: 80, name: a }, defaultEndpoint: 127.0.0.1 }] }',
      "ingress[0].defaultEndpoint: '127.0.0.1' is not 127.0.0.1:PORT, 0.0.0.0:PORT, [::1]:PORT, [::]:PORT, or unix:///path",
    ],
    [
      '{ ingress: [{ port: { number: 80, name: a }, defaultEndpoint: unix://a }] }',
      "ingress[0].defaultEndpoint: 'unix://a' is not 127.0.0.1:PORT, 0.0.0.0:PORT, [::1]:PORT, [::]:PORT, or unix:///path",
    ],
    [
      '{ ingress: [{ port: { number: 80, name: a }, captureMode: SOME }] }',
      "ingress[0].captureMode: 'SOME' is not one of DEFAULT, IPTABLES, NONE",
    ],
    [
      '{ ingress: [{ port: { number: 80, name: a, protocol: FTP } }] }',
      "ingress[0].port.protocol: 'FTP' is not one of HTTP, HTTP2, GRPC, GRPC-WEB, HTTPS, TLS, TCP, MONGO, REDIS, MYSQL, UDP, HTTP_PROXY",
    ],
    ['{ ingress: {} }', 'ingress: {} is not a list'],
    [
      '{ workloadSelector: { matchLabels: { a: b } }, ingress: [] }',
      'workloadSelector.matchLabels: there is no such field',
    ],
    ['{ workloadSelector: { labels: [a] } }', 'workloadSelector.labels: ["a"] is not an object'],
    ['{ workloadSelector: { labels: { a: 1 } } }', 'workloadSelector.labels.a: 1 is not a text'],
    [
      '{ outboundTrafficPolicy: { mode: SOME } }',
      "outboundTrafficPolicy.mode: 'SOME' is not one of REGISTRY_ONLY, ALLOW_ANY",
    ],
    ['{ outboundTrafficPolicy: ALLOW_ANY }', "outboundTrafficPolicy: 'ALLOW_ANY' is not an object"],
    [
      '{ inboundConnectionPool: { tcp: { maxConnections: -1 } } }',
      'inboundConnectionPool.tcp.maxConnections: -1 is not a whole number from 0 to 2147483647',
    ],
    [
      '{ ingress: [{ port: { number: 80, name: a }, connectionPool: { http: { idleTimeout: long } } }] }',
      "ingress[0].connectionPool.http.idleTimeout: 'long' is not a duration of 1ms or more (such as '500ms' or '1.5s')",
    ],
    ['{ ingress: [{ port: { number: 80 } }] }', 'ingress[0].port.name: it is missing'],
    [
      '{ egress: [{ hosts: [a.com] }] }',
      "egress[0].hosts[0]: 'a.com' has no namespace: give NAMESPACE/HOST, or '*/a.com' for all",
    ],
    [
      '{ ingress: [{ port: { number: 443, name: a, protocol: TLS }, tls: { mode: SIMPLE, serverCertificate: /c } }] }',
      'ingress[0].tls.privateKey: it is missing; connections to this port are refused',
    ],
    ['{ ingres: [] }', 'ingres: there is no such field: did you mean ingress?'],
  ],
  PeerAuthentication: [
    ['{ mtls: { mode: ON } }', "mtls.mode: 'ON' is not one of UNSET, DISABLE, PERMISSIVE, STRICT"],
    [
      '{ mtls: { mode: strict } }',
      "mtls.mode: 'strict' is not one of UNSET, DISABLE, PERMISSIVE, STRICT",
    ],
    ['{ mtls: STRICT }', "mtls: 'STRICT' is not an object"],
    ['{ mtls: [STRICT] }', 'mtls: ["STRICT"] is not an object'],
    ['{ selector: { labels: { a: b } } }', 'selector.labels: there is no such field'],
    ['{ selector: { matchLabels: [a] } }', 'selector.matchLabels: ["a"] is not an object'],
    ['{ selector: { matchLabels: { a: 1 } } }', 'selector.matchLabels.a: 1 is not a text'],
    ['{ selector: app }', "selector: 'app' is not an object"],
    [
      '{ selector: { matchLabels: { a: b } }, portLevelMtls: [80] }',
      'portLevelMtls: [80] is not an object',
    ],
    [
      '{ selector: { matchLabels: { a: b } }, portLevelMtls: { http: { mode: STRICT } } }',
      "portLevelMtls.http: 'http' is not a port (1 to 65535)",
    ],
    [
      '{ selector: { matchLabels: { a: b } }, portLevelMtls: { 0: { mode: STRICT } } }',
      "portLevelMtls.0: '0' is not a port (1 to 65535)",
    ],
    [
      '{ selector: { matchLabels: { a: b } }, portLevelMtls: { 70000: { mode: STRICT } } }',
      "portLevelMtls.70000: '70000' is not a port (1 to 65535)",
    ],
    [
      '{ selector: { matchLabels: { a: b } }, portLevelMtls: { 80: { mode: SOME } } }',
      "portLevelMtls.80.mode: 'SOME' is not one of UNSET, DISABLE, PERMISSIVE, STRICT",
    ],
    [
      '{ selector: { matchLabels: { a: b } }, portLevelMtls: { 80: STRICT } }',
      "portLevelMtls.80: 'STRICT' is not an object",
    ],
    [
      '{ portLevelMtls: { 80: { mode: STRICT } } }',
      'portLevelMtls: it needs a selector: ports are those of a workload',
    ],
    ['{ mtls: { mode: 1 } }', 'mtls.mode: 1 is not one of UNSET, DISABLE, PERMISSIVE, STRICT'],
    [
      '{ mtls: { mode: true } }',
      'mtls.mode: true is not one of UNSET, DISABLE, PERMISSIVE, STRICT',
    ],
    ['{ mtsl: {} }', 'mtsl: there is no such field: did you mean mtls?'],
    ['{ mtls: { mod: STRICT } }', 'mtls.mod: there is no such field: did you mean mode?'],
    ['STRICT', ": 'STRICT' is not an object"],
  ],
};

/** Texts with a mistake around a spec, and the flaw with its line. */
const around: readonly (readonly [text: string, flaw: string])[] = [
  [
    'kind: [',
    '1 : it is not YAML: Flow sequence in block collection must be sufficiently indented and end with a ]',
  ],
  [
    'kind: Nothing\nmetadata: { name: a }',
    "1 kind: 'Nothing' is not known: one of ServiceEntry, WorkloadEntry, VirtualService, DestinationRule, Gateway, Sidecar, PeerAuthentication, AuthorizationPolicy, RequestAuthentication, Telemetry, ProxyConfig, WorkloadGroup, Service, EndpointSlice, Endpoints, Pod, Node, Namespace",
  ],
  [
    'apiVersion: apps/v1\nkind: ServiceEntry\nmetadata: { name: it, namespace: default }\nspec: {}\n',
    "1 apiVersion: 'apps/v1' is not networking.istio.io/v1, v1beta1 or v1alpha3",
  ],
  [
    'apiVersion: networking.istio.io/v1\nkind: Sidecar\nmetadata: { namespace: default }\nspec: {}\n',
    '3 metadata.name: it is missing',
  ],
  [
    '- 1\n- 2',
    '1 kind: it is missing: one of ServiceEntry, WorkloadEntry, VirtualService, DestinationRule, Gateway, Sidecar, PeerAuthentication, AuthorizationPolicy, RequestAuthentication, Telemetry, ProxyConfig, WorkloadGroup, Service, EndpointSlice, Endpoints, Pod, Node, Namespace',
  ],
  [
    'hello',
    '1 kind: it is missing: one of ServiceEntry, WorkloadEntry, VirtualService, DestinationRule, Gateway, Sidecar, PeerAuthentication, AuthorizationPolicy, RequestAuthentication, Telemetry, ProxyConfig, WorkloadGroup, Service, EndpointSlice, Endpoints, Pod, Node, Namespace',
  ],
  ['kind: Sidecar\nkind: Sidecar\n', '2 : it is not YAML: Map keys must be unique'],
  [
    'apiVersion: networking.istio.io/v1\nkind: Sidecar\nmetadata: { name: it, labels: { a: 1 }, namespace: default }\nspec: {}\n',
    '3 metadata.labels.a: 1 is not a text',
  ],
  [
    'apiVersion: networking.istio.io/v1\nkind: Sidecar\nmetadata: { name: it, namespace: default }\nspec: {}\nspecc: {}\n',
    '5 specc: there is no such field: did you mean spec?',
  ],
  [
    'apiVersion: networking.istio.io/v1\nkind: EnvoyFilter\nmetadata: { name: it, namespace: default }\nspec: {}\n',
    '2 kind: EnvoyFilter is not served yet, and has no effect',
  ],
];

const resource = (
  kind: string,
  spec: string,
) => `apiVersion: ${kind === 'PeerAuthentication' ? 'security' : 'networking'}.istio.io/v1
kind: ${kind}
metadata: { name: bad, namespace: default }
spec: ${spec}
`;

describe.each(Object.entries(mistakes))('a mistake in a %s', (kind, rows) => {
  it('is one of twenty or more', () => {
    expect(new Set(rows.map(([spec]) => spec)).size).toBeGreaterThanOrEqual(20);
  });

  it.each(rows)('%s is named, and costs that resource alone', (spec, flaw) => {
    const { resources, flaws } = read(
      `${good}---\n${resource(kind, spec)}---\n${good.replace('name: good', 'name: other')}`,
    );
    const [first] = flaws;
    expect(first).toMatchObject({
      key: `${kind}/default/bad`,
      origin: { path: 'f.yaml', line: 9 },
    });
    expect(`${first?.field.replace(/^spec\.?/, '') ?? ''}: ${first?.reason ?? ''}`).toBe(flaw);
    const isServedInPart = first?.severity === 'warning';
    expect(resources.map(({ name }) => name)).toEqual([
      'good',
      ...(isServedInPart ? ['bad'] : []),
      'other',
    ]);
  });
});

describe('a mistake around a spec', () => {
  it.each(around)('%j is named with its line', (text, flaw) => {
    const { flaws } = read(text);
    expect(
      flaws.map(({ origin, field, reason }) => `${origin.line} ${field}: ${reason}`),
    ).toContain(flaw);
  });

  it('is at the line of its field', () => {
    const text = resource(
      'ServiceEntry',
      '\n  hosts: [a.com]\n  ports:\n    - number: 80\n      name: http\n      protocol: HTPP',
    );
    expect(read(text).flaws).toMatchObject([
      { field: 'spec.ports[0].protocol', origin: { line: 9 } },
    ]);
  });
});

describe('a mistake in the MeshConfig', () => {
  it.each([
    [
      'connectTimeout: 0s',
      "connectTimeout: '0s' is not a duration of 1ms or more (such as '500ms' or '1.5s')",
    ],
    [
      "accessLogFormat: '%BAD%'",
      'accessLogFormat: Envoy has no %BAD%: write %% for a percent sign',
    ],
    [`accessLogFormat: '{"path": "%REQ%"}'`, 'accessLogFormat: %REQ% needs arguments: %REQ(...)%'],
    [
      'discoverySelectors: [{ matchLabels: { a b: c } }]',
      "discoverySelectors[0].matchLabels.a b: 'a b' is not a valid name of a label",
    ],
    [
      'discoverySelectors: [{ matchExpressions: [{ key: a }] }]',
      'discoverySelectors[0].matchExpressions[0].operator: it is missing: one of In, NotIn, Exists, DoesNotExist',
    ],
    [
      'discoverySelectors: [{ matchExpressions: [{ key: a, operator: Is, values: [] }] }]',
      "discoverySelectors[0].matchExpressions[0].operator: 'Is' is not one of In, NotIn, Exists, DoesNotExist",
    ],
    [
      'discoverySelectors: [{ matchExpressions: [{ operator: Exists }] }]',
      'discoverySelectors[0].matchExpressions[0].key: it is missing',
    ],
    [
      'discoverySelectors: [{ matchExpressions: [{ key: -a, operator: Exists }] }]',
      "discoverySelectors[0].matchExpressions[0].key: '-a' is not a valid name of a label",
    ],
    [
      'discoverySelectors: [{ matchExpressions: [{ key: a, operator: NotIn }] }]',
      'discoverySelectors[0].matchExpressions[0].values: it is missing: In and NotIn compare with values',
    ],
    [
      'discoverySelectors: [{ matchExpressions: [{ key: a, operator: Exists, values: [b] }] }]',
      'discoverySelectors[0].matchExpressions[0].values: only In and NotIn have values: leave them out',
    ],
    [
      'localityLbSetting: { distribute: [{ from: a/*, to: { a/*: 80 } }] }',
      'localityLbSetting.distribute[0].to: the weights make 80, and not 100',
    ],
    [
      'localityLbSetting: { failoverPriority: [topology.kubernetes.io/zone], failover: [{ from: a, to: b }] }',
      'localityLbSetting.failoverPriority[0]: failover and the label topology.kubernetes.io/zone exclude each other: leave one out',
    ],
  ])('%s is named with its line', (text, flaw) => {
    const { flaws } = readMeshConfig(`trustDomain: td\n${text}\n`, 'mesh.yaml');
    expect(flaws).toMatchObject([{ origin: { path: 'mesh.yaml', line: 2 }, severity: 'error' }]);
    expect(flaws.map(({ field, reason }) => `${field}: ${reason}`)).toEqual([flaw]);
  });

  const times = (count: number, text: string) => Array.from({ length: count }, () => text).join();
  it.each([
    ['discoverySelectors', 256, (count: number) => `[${times(count, '{}')}]`],
    [
      'discoverySelectors[0].matchExpressions',
      64,
      (count: number) =>
        `[{ matchExpressions: [${times(count, '{ key: a, operator: Exists }')}] }]`,
    ],
    [
      'discoverySelectors[0].matchExpressions[0].values',
      256,
      (count: number) =>
        `[{ matchExpressions: [{ key: a, operator: In, values: [${times(count, 'b')}] }] }]`,
    ],
  ])('is more than the limit of %s: %d', (field, limit, textOf) => {
    const reasonsOf = (count: number) =>
      readMeshConfig(`discoverySelectors: ${textOf(count)}\n`, 'mesh.yaml').flaws.map(
        (flaw) => `${flaw.field}: ${flaw.reason}`,
      );
    expect(reasonsOf(limit)).toEqual([]);
    expect(reasonsOf(limit + 1)).toEqual([
      `${field}: it has ${limit + 1} entries, and the limit is ${limit}`,
    ]);
  });
});

describe('any text', () => {
  it('is read without an exception', () => {
    const kinds = fc.constantFrom(...Object.keys(mistakes));
    fc.assert(
      fc.property(kinds, fc.json({ maxDepth: 6 }), (kind, spec) => {
        expect(() => read(resource(kind, spec))).not.toThrow();
      }),
    );
    fc.assert(
      fc.property(fc.string({ maxLength: 400 }), (text) => {
        expect(() => read(text)).not.toThrow();
      }),
    );
  });

  it('that has the fields of a kind, with whatever in them, is read without an exception', () => {
    const names = fc.constantFrom(
      'hosts',
      'http',
      'route',
      'match',
      'uri',
      'host',
      'subsets',
      'labels',
      'trafficPolicy',
      'loadBalancer',
      'tls',
      'ports',
      'endpoints',
      'ingress',
      'port',
      'mtls',
      'portLevelMtls',
      'selector',
      'destination',
      'weight',
      'headers',
      'fault',
    );
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 7 },
        fc.constantFrom(null, 0, -1, 1e9, '', '*', 'a.com', '10.0.0.1', true, '1s', '('),
        fc.array(tie('any'), { maxLength: 3 }),
        fc.dictionary(names, tie('any'), { maxKeys: 4 }),
      ),
    })).any;
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(mistakes)), value, (kind, spec) => {
        expect(() => read(resource(kind, JSON.stringify(spec)))).not.toThrow();
      }),
      { numRuns: 500 },
    );
  });
});
