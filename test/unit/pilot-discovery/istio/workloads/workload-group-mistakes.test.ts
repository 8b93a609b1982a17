import { describe, expect, it } from 'vitest';
import { readResources } from '../../../../../src/pilot-discovery/istio/documents/read-resources.ts';

const noEffect =
  'warning 4 spec: it has no effect: no machine is registered here. Write a WorkloadEntry for each machine';

const read = (spec: string) =>
  readResources(
    `apiVersion: networking.istio.io/v1\nkind: WorkloadGroup\nmetadata: { name: a }\nspec:\n${spec.replace(/^/gm, '  ')}\n`,
    { source: 'files', path: 'a.yaml', defaultNamespace: 'default' },
  );

/** Returns the flaws of a WorkloadGroup: the severity, the line, the field and a sentence. */
const flawsOf = (spec: string) =>
  read(spec).flaws.map(
    ({ origin, field, reason, severity }) => `${severity} ${origin.line} ${field}: ${reason}`,
  );
const probe = (text: string) => `template: {}\nprobe: ${text}`;

describe('a mistake in a WorkloadGroup', () => {
  it.each<[spec: string, reason: string]>([
    ['a', "error 4 spec: 'a' is not an object"],
    ['metadata: {}', 'error 4 spec.template: it is missing: {} if all fields have their defaults'],
    ['template:', 'error 5 spec.template: it is missing: {} if all fields have their defaults'],
    ['template: a', "error 5 spec.template: 'a' is not an object"],
    ['template: {}\nport: 1', 'warning 6 spec.port: there is no such field'],
    [
      'template: { serviceAcount: a }',
      'warning 5 spec.template.serviceAcount: there is no such field: did you mean serviceAccount?',
    ],
    [
      'template: { address: a b }',
      "error 5 spec.template.address: 'a b' is not an IP address, a DNS name or unix:///path",
    ],
    [
      'template: { address: unix://a }',
      "error 5 spec.template.address: 'unix://a' has no absolute path: unix:///path, or unix://@name",
    ],
    [
      'template: { address: unix:///a/ }',
      "error 5 spec.template.address: 'unix:///a/' is a folder: name a socket in it",
    ],
    [
      'template: { address: unix:///a, ports: { http: 1 } }',
      'error 5 spec.template.address: a Unix socket has no ports',
    ],
    [
      'template: { ports: { http: 0 } }',
      'error 5 spec.template.ports.http: 0 is not a whole number from 1 to 65535',
    ],
    [
      'template: { ports: { a b: 1 } }',
      "error 5 spec.template.ports.a b: 'a b' is not a valid name of a port: up to 62 letters, digits, and - within",
    ],
    [
      `template: { ports: { ${'a'.repeat(63)}: 1 } }`,
      `error 5 spec.template.ports.${'a'.repeat(63)}: '${'a'.repeat(63)}' is not a valid name of a port: up to 62 letters, digits, and - within`,
    ],
    [
      'template: { weight: -1 }',
      'error 5 spec.template.weight: -1 is not a whole number from 0 to 2147483647',
    ],
    [
      'template: { labels: { a b: c } }',
      "error 5 spec.template.labels.a b: 'a b' is not a valid name of a label",
    ],
    [
      'template: {}\nmetadata: { labels: { a: b c } }',
      "error 6 spec.metadata.labels.a: 'b c' is not a valid value of a label",
    ],
    [
      'template: {}\nmetadata: { labels: { "": c } }',
      "error 6 spec.metadata.labels.: '' is not a valid name of a label",
    ],
    [
      'template: {}\nmetadata: { annotations: { a: 1 } }',
      'error 6 spec.metadata.annotations.a: 1 is not a text',
    ],
    ['template: {}\nmetadata: { name: a }', 'warning 6 spec.metadata.name: there is no such field'],
    [
      probe('{}'),
      'error 6 spec.probe: it checks nothing: give one of httpGet, tcpSocket, exec, grpc',
    ],
    [
      probe('{ tcpSocket: { port: 1 }, exec: { command: [a] } }'),
      'error 6 spec.probe: tcpSocket and exec exclude each other: give one of httpGet, tcpSocket, exec, grpc',
    ],
    [
      probe('{ httpget: { port: 1 } }'),
      'error 6 spec.probe: it checks nothing: give one of httpGet, tcpSocket, exec, grpc',
    ],
    [
      probe('{ httpGet: { path: / } }'),
      'error 6 spec.probe.httpGet.port: it is missing: a port from 1 to 65535',
    ],
    [
      probe('{ httpGet: { port: 65536 } }'),
      'error 6 spec.probe.httpGet.port: 65536 is not a whole number from 1 to 65535',
    ],
    [
      probe('{ httpGet: { port: 1, scheme: http } }'),
      "error 6 spec.probe.httpGet.scheme: 'http' is not one of HTTP, HTTPS",
    ],
    [
      probe('{ httpGet: { port: 1, httpHeaders: [{ value: a }] } }'),
      'error 6 spec.probe.httpGet.httpHeaders[0].name: it is missing',
    ],
    [
      probe('{ httpGet: { port: 1, httpHeaders: [{ name: a b }] } }'),
      "error 6 spec.probe.httpGet.httpHeaders[0].name: 'a b' is not a valid name of a header",
    ],
    [
      probe('{ tcpSocket: { host: a } }'),
      'error 6 spec.probe.tcpSocket.port: it is missing: a port from 1 to 65535',
    ],
    [
      probe('{ grpc: { service: a } }'),
      'error 6 spec.probe.grpc.port: it is missing: a port from 1 to 65535',
    ],
    [
      probe('{ exec: {} }'),
      'error 6 spec.probe.exec.command: it is missing: a program and its arguments',
    ],
    [
      probe('{ exec: { command: [] } }'),
      'error 6 spec.probe.exec.command: it is missing: a program and its arguments',
    ],
    [probe("{ exec: { command: [a, ''] } }"), 'error 6 spec.probe.exec.command[1]: it is missing'],
    [probe('{ exec: { command: a } }'), "error 6 spec.probe.exec.command: 'a' is not a list"],
    [
      probe('{ tcpSocket: { port: 1 }, periodSeconds: 5s }'),
      "error 6 spec.probe.periodSeconds: '5s' is not a whole number from 0 to 2147483647",
    ],
    [
      probe('{ tcpSocket: { port: 1 }, failureThreshold: -1 }'),
      'error 6 spec.probe.failureThreshold: -1 is not a whole number from 0 to 2147483647',
    ],
    ['template: {}', noEffect],
  ])('%s', (spec, reason) => {
    expect(flawsOf(spec)).toContain(reason);
  });

  it('is none in what is right, but for the warning that it has no effect', () => {
    const right = `metadata: { labels: { app: a, v: "1" }, annotations: { any text: any } }
template: { ports: { http: 80 }, network: east, locality: r/z, weight: 2, serviceAccount: a, labels: { app: b } }
probe:
  initialDelaySeconds: 1
  timeoutSeconds: 2
  periodSeconds: 3
  successThreshold: 4
  failureThreshold: 5
  httpGet: { path: /ready, host: localhost, port: 80, scheme: HTTPS, httpHeaders: [{ name: a, value: b }] }`;
    const { flaws, resources } = read(right);
    expect([flawsOf(right), flaws.length]).toEqual([[noEffect], 1]);
    expect(resources[0]?.spec).toEqual({
      labels: { app: 'a', v: '1' },
      template: {
        address: '',
        ports: { http: 80 },
        labels: { app: 'b' },
        network: 'east',
        locality: 'r/z',
        weight: 2,
        serviceAccount: 'a',
      },
      probe: {
        method: 'httpGet',
        initialDelay: 1,
        timeout: 2,
        period: 3,
        successes: 4,
        failures: 5,
      },
    });
  });
});
