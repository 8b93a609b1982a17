import { describe, expect, it } from 'vitest';
import { readInstances } from '../../../../../src/pilot-discovery/registry/consul/read-instances.ts';

/** Returns an instance as Consul lists it. */
const row = (
  service: Readonly<Record<string, unknown>> = {},
  checks: readonly string[] = [],
  node: Readonly<Record<string, unknown>> = {},
) => ({
  Node: { Node: 'n1', Address: '10.0.0.1', Datacenter: 'dc1', ...node },
  Service: {
    ID: 'web-1',
    Service: 'web',
    Address: '',
    Port: 8080,
    Tags: [],
    Meta: {},
    Weights: { Passing: 1, Warning: 1 },
    ...service,
  },
  Checks: checks.map((Status) => ({ Status })),
});
const problemsOf = (...rows: readonly unknown[]) => readInstances(rows).problems;

describe('what is read of the instances of a service', () => {
  it('has address, port, labels, datacenter and weight of each', () => {
    const rows = [
      row({ Tags: ['version|v1', 'plain', 'a|b|c'], Meta: { protocol: 'http', version: 'v2' } }),
      row({ ID: 'web-2', Address: '2001:DB8::0:1', Weights: { Passing: 10, Warning: 2 } }, [
        'passing',
      ]),
    ];
    const common = { ports: {}, network: '', locality: 'dc1', serviceAccount: '' };
    expect(readInstances(rows)).toEqual({
      ports: [{ number: 8080, name: 'http', protocol: 'http', targetPort: undefined }],
      instances: [
        {
          name: 'n1/web-1',
          port: 8080,
          workload: {
            ...common,
            address: '10.0.0.1',
            labels: { version: 'v2', a: 'b', protocol: 'http' },
            weight: 0,
          },
        },
        {
          name: 'n1/web-2',
          port: 8080,
          workload: { ...common, address: '2001:db8::1', labels: {}, weight: 10 },
        },
      ],
      problems: [
        'the protocol of n1/web-2 is not used: port 8080 is http at another instance and auto at this one',
      ],
    });
  });

  it.each([
    [['passing', 'warning'], 2],
    [['passing', 'passing'], 10],
    [[], 10],
    [['passing', 'critical'], undefined],
    [['maintenance'], undefined],
  ])('counts the worst of the checks %s', (checks, weight) => {
    const { ports, instances } = readInstances([
      row({ Weights: { Passing: 10, Warning: 2 } }, checks),
    ]);
    expect(instances.map(({ workload }) => workload.weight)).toEqual(
      weight === undefined ? [] : [weight],
    );
    expect(ports).toHaveLength(1);
  });

  it('has a port for each number, and detects a protocol that no label names', () => {
    const rows = [
      row({ ID: 'b', Port: 3306 }),
      row({ ID: 'a', Port: 443, Tags: ['protocol|tls-sni'] }),
      row({ ID: 'c', Port: 80 }),
    ];
    expect(readInstances(rows).ports.map(({ number, protocol }) => [number, protocol])).toEqual([
      [80, 'auto'],
      [443, 'tls'],
      [3306, 'tcp'],
    ]);
  });

  it('leaves out what cannot be served, and has the reason', () => {
    expect(
      problemsOf(
        row({ Port: 0 }),
        row({ Port: 70_000 }),
        row({ Address: 'web.example' }),
        row({ ID: '' }),
        row({ ID: 'x'.repeat(300) }),
        row({ ID: 'a\nb' }),
      ),
    ).toEqual([
      'n1/web-1 is not used: it has no port',
      'n1/web-1 is not used: it has no port',
      "n1/web-1 is not used: its address 'web.example' is not an IP address",
      ...Array.from(
        { length: 3 },
        () =>
          'an instance is not used: its NODE/ID lacks a part, has control characters, or is longer than 256 characters',
      ),
    ]);
    const ports = Array.from({ length: 300 }, (_, index) =>
      row({ ID: String(index), Port: index + 1 }),
    );
    expect(readInstances(ports).ports).toHaveLength(256);
    expect(problemsOf(...ports)).toHaveLength(44);
  });

  it('takes no label of a name that an object inherits or that is none', () => {
    const meta = JSON.parse('{ "__proto__": "a", "": "b", "ok": 1, "x y": "c" }') as object;
    const { instances } = readInstances([row({ Meta: meta, Tags: ['__proto__|a', 7, '|a'] })]);
    expect(instances[0]?.workload.labels).toEqual({});
  });

  it.each([[{}], [[1]], [[{ Node: {} }]], [[{ Service: {} }]]])('refuses %j', (body) => {
    expect(() => readInstances(body)).toThrow('its answer is not a list of instances');
  });

  it('takes no answer for no instance', () => {
    expect(readInstances(undefined)).toEqual({ ports: [], instances: [], problems: [] });
  });
});
