import { describe, expect, it } from 'vitest';
import { appProbes } from '../../../../src/pilot-agent/config/app-probes.ts';
import { metricsTargets } from '../../../../src/pilot-agent/config/metrics-targets.ts';

const ready = '/app-health/hello-world/readyz';
const probes = (value: unknown) => {
  const result = appProbes(typeof value === 'string' ? value : JSON.stringify(value));
  return result.flaws.length === 0 ? Object.fromEntries(result.probes) : result.flaws.join('; ');
};
const http = {
  kind: 'http',
  host: 'localhost',
  path: '/',
  secure: false,
  headers: [],
  timeout: 1_000,
};

describe('appProbes', () => {
  it.each([
    ['no JSON', 'invalid-prober-json-encoding', /failed to decode/],
    ['a key of another form', { abc: { path: '/app-foo/health' } }, /invalid key/],
    [
      'TCP with a port in quotes',
      { [ready]: { tcpSocket: { port: '8888' } } },
      /invalid prober type/,
    ],
    [
      'a port by name',
      { [ready]: { httpGet: { path: '/hello/sunnyvale', port: 'container-port-dontknow' } } },
      /must be int type/,
    ],
    [
      'a port by name, as 1.1 wrote it',
      { [ready]: { path: '/hello/sunnyvale', port: 'container-port-dontknow' } },
      /must be int type/,
    ],
    ['no object', '[]', /failed to decode/],
    ['no kind of probe', { [ready]: { exec: { command: ['true'] } } }, /invalid prober type/],
    ['two kinds', { [ready]: { httpGet: { port: 1 }, grpc: { port: 2 } } }, /invalid prober type/],
    [
      'a negative time-out',
      { [ready]: { httpGet: { port: 1 }, timeoutSeconds: -1 } },
      /timeoutSeconds/,
    ],
    [
      'a header that would split the request',
      { [ready]: { httpGet: { port: 1, httpHeaders: [{ name: 'a', value: 'b\r\nc' }] } } },
      /httpHeaders/,
    ],
    ['another key', { '/app-health/a/b/readyz': { httpGet: { port: 1 } } }, /invalid key/],
  ])('%s is refused', (_, value, reason) => {
    expect(probes(value)).toMatch(reason);
  });

  it.each<[string, unknown, Record<string, unknown>]>([
    [
      'one for each of two containers',
      {
        [ready]: { httpGet: { path: '/hello/sunnyvale', port: 8080 } },
        '/app-health/business/livez': { httpGet: { path: '/buisiness/live', port: 9090 } },
      },
      {
        [ready]: { ...http, path: '/hello/sunnyvale', port: 8080 },
        '/app-health/business/livez': { ...http, path: '/buisiness/live', port: 9090 },
      },
    ],
    [
      'one with times, of which the time-out counts',
      {
        [ready]: {
          httpGet: { path: '/hello/sunnyvale', port: 8080 },
          initialDelaySeconds: 120,
          timeoutSeconds: 10,
          periodSeconds: 20,
        },
      },
      { [ready]: { ...http, path: '/hello/sunnyvale', port: 8080, timeout: 10_000 } },
    ],
    [
      'one without a path',
      { [ready]: { httpGet: { port: 9090 } } },
      { [ready]: { ...http, port: 9090 } },
    ],
    ['none at all', {}, {}],
    [
      'a path without its slash, as in 1.7',
      { [ready]: { httpGet: { path: 'hello/sunnyvale', port: 8080 } } },
      { [ready]: { ...http, path: '/hello/sunnyvale', port: 8080 } },
    ],
    [
      'one as 1.1 wrote it',
      { [ready]: { path: '/hello/sunnyvale', port: 8080 } },
      { [ready]: { ...http, path: '/hello/sunnyvale', port: 8080 } },
    ],
    [
      'a time-out of 0: the default',
      { [ready]: { httpGet: { port: 1 }, timeoutSeconds: 0 } },
      { [ready]: { ...http, port: 1 } },
    ],
    [
      'all that a probe can have',
      {
        '/app-lifecycle/a/prestopz': {
          httpGet: {
            port: 1,
            scheme: 'HTTPS',
            host: '10.0.0.1',
            httpHeaders: [{ name: ':authority', value: 'h' }],
          },
        },
      },
      {
        '/app-lifecycle/a/prestopz': {
          ...http,
          port: 1,
          secure: true,
          host: '10.0.0.1',
          headers: [['Host', 'h']],
        },
      },
    ],
    [
      'a plain one that says so',
      { [ready]: { httpGet: { port: 1, scheme: 'HTTP' } } },
      { [ready]: { ...http, port: 1 } },
    ],
    [
      'TCP',
      { '/app-health/a/startupz': { tcpSocket: { port: 1 } } },
      { '/app-health/a/startupz': { kind: 'tcp', timeout: 1_000, host: 'localhost', port: 1 } },
    ],
    [
      'members in other cases of their letters, as Go reads them',
      { '/app-health/a/livez': { gRPC: { Port: 1, SERVICE: 's' }, timeoutseconds: 2 } },
      { '/app-health/a/livez': { kind: 'grpc', timeout: 2_000, port: 1, service: 's' } },
    ],
    [
      'gRPC',
      { '/app-health/a/livez': { grpc: { port: 1, service: 's' } } },
      { '/app-health/a/livez': { kind: 'grpc', timeout: 1_000, port: 1, service: 's' } },
    ],
  ])('%s is taken', (_, value, expected) => {
    expect(probes(value)).toEqual(expected);
  });
});

describe('metricsTargets', () => {
  const ownPorts = new Map([
    [15_020, 'the status port'],
    [15_000, "Envoy's admin port"],
  ]);
  const annotationTargets = (value: string) =>
    metricsTargets({ ISTIO_PROMETHEUS_ANNOTATIONS: value }, ownPorts);
  const listedTargets = (value: string) =>
    metricsTargets({ PILOT_AGENT_METRICS_TARGETS: value }, ownPorts);

  it.each([
    ['nothing', '', []],
    [
      'an annotation',
      '{"scrape":"true","path":"stats","port":"8080"}',
      [{ variable: 'ISTIO_PROMETHEUS_ANNOTATIONS', port: 8080, path: '/stats' }],
    ],
    [
      'the defaults',
      '{}',
      [{ variable: 'ISTIO_PROMETHEUS_ANNOTATIONS', port: 80, path: '/metrics' }],
    ],
    ['an annotation that says no', '{"scrape":"false","port":"8080"}', []],
    ['one that says no as Go writes it', '{"scrape":"F"}', []],
    [
      'what Istio’s injector writes',
      '{"scrape":"true","path":"","port":""}',
      [{ variable: 'ISTIO_PROMETHEUS_ANNOTATIONS', port: 80, path: '/metrics' }],
    ],
    [
      'all of it empty',
      '{"scrape":"","path":"","port":""}',
      [{ variable: 'ISTIO_PROMETHEUS_ANNOTATIONS', port: 80, path: '/metrics' }],
    ],
  ])('takes %s', (_, value, targets) => {
    expect(annotationTargets(value)).toEqual({ targets, flaws: [] });
  });

  it('takes several, after the annotation', () => {
    const values = {
      ISTIO_PROMETHEUS_ANNOTATIONS: '{"port":"1"}',
      PILOT_AGENT_METRICS_TARGETS: '[{"port":2},{"port":"2","path":"/x"}]',
    };
    expect(metricsTargets(values, ownPorts)).toEqual({
      flaws: [],
      targets: [
        { variable: 'ISTIO_PROMETHEUS_ANNOTATIONS', port: 1, path: '/metrics' },
        { variable: 'PILOT_AGENT_METRICS_TARGETS', port: 2, path: '/metrics' },
        { variable: 'PILOT_AGENT_METRICS_TARGETS', port: 2, path: '/x' },
      ],
    });
  });

  it.each([
    ['what is not JSON', annotationTargets('{'), /not a JSON object/],
    ['what is not a list', listedTargets('{}'), /not a JSON array/],
    ['no port', annotationTargets('{"port":"http"}'), /'http' is not a port/],
    ['a loop over the status port', annotationTargets('{"port":"15020"}'), /the status port/],
    ['Envoy a second time', listedTargets('[{"port":15000}]'), /Envoy's admin port/],
    [
      'what is neither true nor false',
      annotationTargets('{"scrape":"maybe"}'),
      /'maybe' is not true or false/,
    ],
    ['a null', annotationTargets('{"port":null}'), /not a JSON object/],
    ['a port beyond all ports', annotationTargets('{"port":"99999"}'), /'99999' is not a port/],
    ['a target twice', listedTargets('[{"port":1},{"port":"1"}]'), /named twice/],
  ])('refuses %s', (_, result, reason) => {
    expect(result.flaws).toMatchObject([{ text: expect.stringMatching(reason) as string }]);
  });

  it('leaves out what is wrong, and has the others', () => {
    const { targets, flaws } = listedTargets(
      '[{"port":1},{"port":"http"},{"port":2,"scrape":"x"},{"port":3}]',
    );
    expect([targets.map(({ port }) => port), flaws.length]).toEqual([[1, 3], 2]);
  });
});
