import { describe, expect, it } from 'vitest';
import { accepted, configOf } from '../../../support/resolved.ts';

const seconds = 'TERMINATION_DRAIN_DURATION_SECONDS';

it.each<{ value: string | undefined; cap: number; wrong?: true }>([
  { value: '20', cap: 20_000 },
  { value: undefined, cap: 5_000 },
  { value: '', cap: 5_000, wrong: true },
  { value: 'NaN', cap: 5_000, wrong: true },
  { value: '0', cap: 0 },
  { value: '-10', cap: 0 },
  { value: '1.5', cap: 5_000, wrong: true },
  { value: '20s', cap: 5_000, wrong: true },
])(
  'drains at most $cap ms with TERMINATION_DRAIN_DURATION_SECONDS="$value"',
  ({ value, cap, wrong }) => {
    const { config, warnings } = accepted({ env: { [seconds]: value } });
    expect(config.drainCap).toBe(cap);
    expect(warnings).toEqual(
      wrong
        ? [`${seconds}: '${value ?? ''}' is not a whole number of seconds: the default applies`]
        : [],
    );
  },
);

it('the cap of the drain is terminationDrainDuration, unless the variable says another', () => {
  const proxyConfig = { terminationDrainDuration: '30s' };
  expect(accepted({ proxyConfig })).toMatchObject({
    config: { drainCap: 30_000 },
    sources: { drainCap: 'PROXY_CONFIG' },
  });
  expect(accepted({ proxyConfig, env: { [seconds]: '7' } })).toMatchObject({
    config: { drainCap: 7_000, terminationDrainDuration: 30_000 },
    sources: { drainCap: `$${seconds}` },
  });
  expect(configOf({ proxyConfig, env: { [seconds]: 'soon' } }).drainCap).toBe(30_000);
});

it.each<{ value: string; minimum: number; wrong?: true }>([
  { value: '0s', minimum: 0 },
  { value: '1m', minimum: 60_000 },
  { value: '10', minimum: 5_000, wrong: true },
  { value: '', minimum: 5_000, wrong: true },
])(
  'drains at least $minimum ms with MINIMUM_DRAIN_DURATION="$value"',
  ({ value, minimum, wrong }) => {
    const { config, warnings, sources } = accepted({ env: { MINIMUM_DRAIN_DURATION: value } });
    expect(config.drainMinimum).toBe(minimum);
    expect(sources.drainMinimum).toBe(wrong ? 'default' : '$MINIMUM_DRAIN_DURATION');
    expect(warnings).toEqual(
      wrong
        ? [
            `MINIMUM_DRAIN_DURATION: '${value}' is not a duration (such as '45s' or '1m30s'): the default applies`,
          ]
        : [],
    );
  },
);

it.each<{ value: string; timeout: number; wrong?: true }>([
  { value: '3s', timeout: 3_000 },
  { value: '3', timeout: 1_000, wrong: true },
])(
  'Envoy has $timeout ms to say that it is ready with ENVOY_READINESS_CHECK_TIMEOUT="$value"',
  ({ value, timeout, wrong }) => {
    expect(accepted({ env: { ENVOY_READINESS_CHECK_TIMEOUT: value } })).toMatchObject({
      config: { readinessTimeout: timeout },
      sources: { readinessTimeout: wrong ? 'default' : '$ENVOY_READINESS_CHECK_TIMEOUT' },
    });
  },
);

it.each([
  ['ENVOY_PROMETHEUS_PORT', 'prometheusPort', '16090', 16_090, 15_090],
  ['ENVOY_STATUS_PORT', 'healthPort', '16021', 16_021, 15_021],
] as const)('%s is a port', (variable, field, text, port, standard) => {
  expect(accepted({ env: { [variable]: text } })).toMatchObject({
    config: { [field]: port },
    sources: { [field]: `$${variable}` },
  });
  for (const wrong of ['', '0', '65536', 'http'])
    expect(accepted({ env: { [variable]: wrong } })).toMatchObject({
      config: { [field]: standard },
      sources: { [field]: 'default' },
      warnings: [`${variable}: '${wrong}' is not a port (1 to 65535): the default applies`],
    });
});

it.each([
  ['PROV_CERT', 'provCert', ''],
  ['ISTIO_BOOTSTRAP_OVERRIDE', 'bootstrapOverride', ''],
  ['ISTIO_NAMESPACE', 'istioNamespace', 'istio-system'],
  ['PILOT_CERT_PROVIDER', 'pilotCertProvider', ''],
] as const)('%s is a text', (variable, field, empty) => {
  expect(accepted({ env: { [variable]: 'x' } })).toMatchObject({
    config: { [field]: 'x' },
    sources: { [field]: `$${variable}` },
  });
  expect(configOf({ env: { [variable]: '' } })[field]).toBe(empty);
});

describe('the default of the address of the control plane', () => {
  const env = { PILOT_CERT_PROVIDER: 'istiod' };

  it.each([
    ['that of 1.5', {}, 'istio-pilot:15010', 'default'],
    [
      'that of 1.5, if the provider is empty',
      { env: { PILOT_CERT_PROVIDER: '' } },
      'istio-pilot:15010',
      'default',
    ],
    [
      'that of 1.6, if a provider is named',
      { env },
      'istiod.istio-system.svc:15012',
      'default with $PILOT_CERT_PROVIDER',
    ],
    [
      'no more than a default',
      { env, mesh: { discoveryAddress: 'file:1' } },
      'file:1',
      'mesh file mesh.yaml',
    ],
  ])('is %s', (_, testConfig, discoveryAddress, source) => {
    expect(accepted(testConfig)).toMatchObject({
      config: { discoveryAddress },
      sources: { discoveryAddress: source },
    });
  });
});

it('the provider of the control plane’s certificate is not guessed', () => {
  expect(configOf().pilotCertProvider).toBeUndefined();
});

it('ISTIO_BOOTSTRAP wins over every other template, unless it is empty', () => {
  const testConfig = {
    proxyConfig: { proxyBootstrapTemplatePath: '/p' },
    given: { templateFile: '/t' },
  };
  expect(
    configOf({ ...testConfig, env: { ISTIO_BOOTSTRAP: '/b' } }).proxyBootstrapTemplatePath,
  ).toBe('/b');
  expect(configOf({ ...testConfig, env: { ISTIO_BOOTSTRAP: '' } }).proxyBootstrapTemplatePath).toBe(
    '/t',
  );
});

describe('STACKDRIVER_TRACING_*', () => {
  const on = { STACKDRIVER_TRACING_ENABLED: 'true' };

  it('make a tracer, with 1.5’s limits', () => {
    const env = {
      ...on,
      STACKDRIVER_TRACING_DEBUG: '1',
      STACKDRIVER_TRACING_MAX_NUMBER_OF_ANNOTATIONS: '201',
    };
    expect(accepted({ env })).toMatchObject({
      config: {
        tracing: {
          zipkin: undefined,
          stackdriver: {
            debug: true,
            maxNumberOfAttributes: 200,
            maxNumberOfAnnotations: 201,
            maxNumberOfMessageEvents: 200,
          },
        },
      },
      sources: { tracing: '$STACKDRIVER_TRACING_ENABLED' },
      warnings: [],
    });
  });

  it('give way to any other tracer', () => {
    expect(
      configOf({ env: on, mesh: { tracing: { zipkin: { address: 'z:1' } } } }).tracing?.stackdriver,
    ).toBeUndefined();
    expect(
      configOf({ env: on, given: { zipkinAddress: 'z:1' } }).tracing?.stackdriver,
    ).toBeUndefined();
  });

  it.each(['f', '0', 'false'])('make none with "%s"', (text) => {
    expect(accepted({ env: { STACKDRIVER_TRACING_ENABLED: text } })).toEqual(accepted());
  });

  it('that are not understood are warned of, and their defaults hold', () => {
    const env = {
      ...on,
      STACKDRIVER_TRACING_DEBUG: 'yes',
      STACKDRIVER_TRACING_MAX_NUMBER_OF_ATTRIBUTES: '-1',
    };
    expect(accepted({ env })).toMatchObject({
      config: { tracing: { stackdriver: { debug: false, maxNumberOfAttributes: 200 } } },
      warnings: [
        "STACKDRIVER_TRACING_DEBUG: 'yes' is not true or false: the default applies",
        "STACKDRIVER_TRACING_MAX_NUMBER_OF_ATTRIBUTES: '-1' is not a whole number from 0 on: the default applies",
      ],
    });
    expect(accepted({ env: { STACKDRIVER_TRACING_ENABLED: '' } })).toMatchObject({
      config: { tracing: undefined },
      warnings: ["STACKDRIVER_TRACING_ENABLED: '' is not true or false: the default applies"],
    });
  });
});

it('names the node by flags and environment', () => {
  const env = { POD_NAME: 'mypod', POD_NAMESPACE: 'myns', INSTANCE_IP: '10.9.9.9' };
  expect(accepted({ env })).toMatchObject({
    config: {
      node: { ip: '10.9.9.9', id: 'mypod.myns', domain: 'myns.svc.cluster.local', ipv6: false },
    },
    sources: { node: '$INSTANCE_IP, $POD_NAME, $POD_NAMESPACE' },
  });
  expect(
    accepted({ given: { id: 'x', ip: '1.1.1.1', domain: 'd', serviceregistry: 'Consul' }, env }),
  ).toMatchObject({
    config: { node: { ip: '1.1.1.1', id: 'x', domain: 'd' } },
    sources: { node: '--ip, --id, --domain' },
  });
});

describe('the application', () => {
  const env = {
    ISTIO_KUBE_APP_PROBERS: '{"/app-health/a/readyz":{"tcpSocket":{"port":1}}}',
    ISTIO_PROMETHEUS_ANNOTATIONS: '{"port":"1"}',
    PILOT_AGENT_METRICS_TARGETS: '[{"port":2}]',
  };

  it('has its probes and its metrics in variables', () => {
    const probe = { kind: 'tcp', timeout: 1_000, host: 'localhost', port: 1 };
    expect(accepted({ env })).toMatchObject({
      config: {
        probes: new Map([['/app-health/a/readyz', probe]]),
        metricsTargets: [
          { port: 1, path: '/metrics' },
          { port: 2, path: '/metrics' },
        ],
      },
      sources: {
        probes: '$ISTIO_KUBE_APP_PROBERS',
        metricsTargets: '$ISTIO_PROMETHEUS_ANNOTATIONS, $PILOT_AGENT_METRICS_TARGETS',
      },
    });
  });

  it('has no annotation of a router', () => {
    expect(accepted({ env, leftover: ['router'] })).toMatchObject({
      config: { metricsTargets: [{ port: 2, path: '/metrics' }] },
      sources: { metricsTargets: '$PILOT_AGENT_METRICS_TARGETS' },
    });
  });

  it.each([
    [
      'a prober that is not JSON',
      { ISTIO_KUBE_APP_PROBERS: '{' },
      'ISTIO_KUBE_APP_PROBERS: failed to decode app prober: it is not JSON: the probe is left out',
    ],
    [
      'a port by its name',
      { ISTIO_PROMETHEUS_ANNOTATIONS: '{"scrape":"true","port":"http"}' },
      "ISTIO_PROMETHEUS_ANNOTATIONS: port 'http' is not a port (1 to 65535): it is not scraped",
    ],
    [
      'no JSON',
      { ISTIO_PROMETHEUS_ANNOTATIONS: 'true' },
      'ISTIO_PROMETHEUS_ANNOTATIONS: it is not a JSON object with port and path: it is not scraped',
    ],
    [
      'the status port',
      { PILOT_AGENT_METRICS_TARGETS: '[{"port":15020}]' },
      'PILOT_AGENT_METRICS_TARGETS: port 15020 is the status port, whose metrics are merged already: it is not scraped',
    ],
  ])('is a warning if it is wrong, and does not end the agent: %s', (_, env, warning) => {
    const { config, warnings } = accepted({ env });
    expect(warnings).toContain(warning);
    expect([config.metricsTargets, [...config.probes.keys()]]).toEqual([[], []]);
  });

  it('has the probes that are right beside one that is wrong', () => {
    const right = '/app-health/a/livez';
    const probers = {
      [right]: { httpGet: { port: 1 } },
      '/app-health/a/readyz': { httpGet: { port: 'http' } },
    };
    expect([
      ...accepted({
        env: { ISTIO_KUBE_APP_PROBERS: JSON.stringify(probers) },
      }).config.probes.keys(),
    ]).toEqual([right]);
  });
});

it('secrets have the variables that say something of them as their source', () => {
  const env = {
    CA_ADDR: 'ca:1',
    SECRET_TTL: '1h',
    INITIAL_BACKOFF_MSEC: 'soon',
    ISTIO_META_TLS_CLIENT_KEY: '/k',
  };
  expect(accepted({ env })).toMatchObject({
    config: {
      secrets: {
        caAddress: 'ca:1',
        ttl: 3_600_000,
        initialBackOff: 0,
        namesClient: true,
        namesServer: false,
        namesPair: true,
      },
    },
    sources: {
      secrets: '$CA_ADDR, $SECRET_TTL, $ISTIO_META_TLS_CLIENT_KEY',
      metadataVariables: '$ISTIO_META*',
    },
    warnings: ["INITIAL_BACKOFF_MSEC: 'soon' is not a whole number of ms: the default applies"],
  });
});
