import { describe, expect, it } from 'vitest';
import { variables as groups } from '../../../../../scripts/docs/variables.ts';
import type { Flag } from '../../../../../src/shared/text/flag.ts';
import { flags } from '../../../../../src/pilot-agent/config/flags.ts';
import { logFlags } from '../../../../../src/shared/log/log-flags.ts';
import { presentConfig } from '../../../../../src/pilot-agent/run/start/present-config.ts';
import { accepted, type TestConfig } from '../../../../support/resolved.ts';

const present = (testConfig: TestConfig = {}) => presentConfig(accepted(testConfig));

it('shows each value with its source, times with their unit, and nothing of a secret', () => {
  const shown = present({
    proxyConfig: {
      tracing: { lightstep: { address: 'l:1', accessToken: 'hush' } },
      drainDuration: '30s',
    },
    annotation: { proxyMetadata: { API_KEY: 'hush', COLOUR: 'red', headers: 'some' } },
    given: { parentShutdownDuration: '40s' },
  });
  expect(shown['drainDuration']).toEqual({ value: '30s', source: 'PROXY_CONFIG' });
  expect(shown['parentShutdownDuration']).toEqual({
    value: '40s',
    source: '--parentShutdownDuration',
  });
  expect(shown['minDelay']).toEqual({ value: '10s', source: 'default' });
  expect(shown['proxyMetadata']).toEqual({
    value: { API_KEY: '***', COLOUR: 'red', headers: 'some' },
    source: 'annotation proxy.istio.io/config',
  });
  expect(shown['binaryPath']).toEqual({ value: null, source: 'default' });
  expect(JSON.stringify(shown)).not.toContain('hush');
});

it('shows what variables say under their names, each with its own source, and nothing of a secret', () => {
  const header = { name: 'Authorization', value: 'hush' };
  const env = {
    ISTIO_KUBE_APP_PROBERS: JSON.stringify({
      '/app-health/a/readyz': { httpGet: { port: 1, httpHeaders: [header] } },
    }),
    ISTIO_PROMETHEUS_ANNOTATIONS: '{"port":"1"}',
    ISTIO_META_TOKEN: 'hush',
    ISTIO_METAJSON_ANNOTATIONS: '{"a":"hush"}',
    ISTIO_META_OWNER: 'me',
    ISTIO_META_LINK: 'https://user:hush@host/',
    ISTIO_META_TLS_SERVER_KEY: '/k',
    SECRET_TTL: '1h',
    JWT_POLICY: 'first-party-jwt',
    GATEWAY_SECRETS: '/gateway',
    TERMINATION_DRAIN_DURATION_SECONDS: '7',
  };
  const shown = present({ env });
  expect(shown['ISTIO_KUBE_APP_PROBERS']).toMatchObject({
    value: {
      '/app-health/a/readyz': { port: 1, timeout: '1s', headers: [['Authorization', '***']] },
    },
    source: '$ISTIO_KUBE_APP_PROBERS',
  });
  expect(shown).toMatchObject({
    ISTIO_PROMETHEUS_ANNOTATIONS: {
      value: [{ port: 1, path: '/metrics' }],
      source: '$ISTIO_PROMETHEUS_ANNOTATIONS',
    },
    PILOT_AGENT_METRICS_TARGETS: { value: [], source: 'default' },
    SECRET_TTL: { value: '3600s', source: '$SECRET_TTL' },
    SECRET_GRACE_PERIOD_RATIO: { value: 0.5, source: 'default' },
    JWT_POLICY: { value: 'first-party-jwt', source: '$JWT_POLICY' },
    GATEWAY_SECRETS: { value: '/gateway', source: '$GATEWAY_SECRETS' },
    TERMINATION_DRAIN_DURATION_SECONDS: {
      value: '7s',
      source: '$TERMINATION_DRAIN_DURATION_SECONDS',
    },
    ISTIO_META_TLS_SERVER_KEY: { value: '/k', source: '$ISTIO_META_TLS_SERVER_KEY' },
    ISTIO_META_TLS_CLIENT_KEY: { value: '/etc/certs/key.pem', source: 'default' },
    ISTIO_META_TOKEN: { value: '***', source: '$ISTIO_META_TOKEN' },
    ISTIO_META_LINK: { value: '***', source: '$ISTIO_META_LINK' },
    ISTIO_METAJSON_ANNOTATIONS: { value: '***', source: '$ISTIO_METAJSON_ANNOTATIONS' },
    ISTIO_META_OWNER: { value: 'me', source: '$ISTIO_META_OWNER' },
  });
  expect(JSON.stringify(shown)).not.toContain('hush');
  expect(present({ env: { JWT_POLICY: 'other' } })['JWT_POLICY']).toEqual({
    value: 'none',
    source: '$JWT_POLICY',
  });
});

it('shows who the node is, from whichever flag or variable that follows', () => {
  const env = { POD_NAME: 'web-0', POD_NAMESPACE: 'shop', INSTANCE_IP: '10.9.9.9' };
  expect(present({ env, given: { domain: 'd' } })).toMatchObject({
    role: { value: 'sidecar', source: 'default' },
    id: { value: 'web-0.shop', source: '$POD_NAME, $POD_NAMESPACE' },
    ip: { value: '10.9.9.9', source: '$INSTANCE_IP' },
    domain: { value: 'd', source: '--domain' },
  });
});

it('shows how it logs', () => {
  expect(
    present({ logFlags: { log_target: ['stderr', '/l'], log_output_level: 'debug' } }),
  ).toMatchObject({
    log_output_level: { value: 'debug', source: '--log_output_level' },
    log_as_json: { value: false, source: 'default' },
    log_target: { value: ['stderr', '/l'], source: '--log_target' },
  });
});

it('shows the sources whole, each with what nobody has said, and no secret of a URL', () => {
  const shown = present({
    given: { configUrl: 'https://user:hush@host:8443/envoy?token=hush', watch: ['/a', '/b'] },
    env: { PILOT_AGENT_WATCH_CONSUL: 'kv/envoy', CONSUL_HTTP_ADDR: 'https://:hush@consul:8501' },
  });
  expect(shown).toMatchObject({
    configUrl: { value: 'https://***@host:8443/envoy?***', source: '--configUrl' },
    watch: { value: ['/a', '/b'], source: '--watch' },
    watchConsul: { value: ['kv/envoy'], source: '$PILOT_AGENT_WATCH_CONSUL' },
    consulAddress: { value: 'https://***@consul:8501/', source: '$CONSUL_HTTP_ADDR' },
    sources: { source: '--watch, --configUrl, $PILOT_AGENT_WATCH_CONSUL, $CONSUL_HTTP_ADDR' },
  });
  expect(shown['sources']?.value).toMatchObject([
    { name: 'watch', paths: ['/a', '/b'] },
    {
      name: 'url',
      url: 'https://***@host:8443/envoy?***',
      every: '30s',
      timeout: '10s',
      largest: 16_777_216,
    },
    { name: 'consul/kv/envoy', address: 'https://***@consul:8501/', watch: { prefix: 'envoy' } },
  ]);
  expect(JSON.stringify(shown)).not.toContain('hush');
  expect(
    present({ given: { consulAddress: 'consul:8500', zipkinAddress: 'zipkin:9411' } }),
  ).toMatchObject({
    consulAddress: { value: 'consul:8500' },
    tracing: { value: { zipkin: { address: 'zipkin:9411' } } },
  });
});

describe('a value that is added is presented', () => {
  const shown = present();

  it('of each flag that has an effect, by its name; a flag of a part by that of the whole', () => {
    const effective = Object.entries<Flag>(flags).filter(([, { ignored }]) => ignored !== true);
    const names = effective.map(([name, { field }]) =>
      field?.includes('.') === true ? (field.split('.')[0] ?? '') : name,
    );
    expect(names.filter((name) => !(name in shown))).toEqual([]);
    const logging = Object.entries<Flag>(logFlags).filter(
      ([, { text }]) => !text.startsWith('ignored'),
    );
    expect(logging.filter(([name]) => !(name in shown))).toEqual([]);
  });

  it('with its unit, if it is a duration', () => {
    const durations = Object.entries<Flag>(flags).filter(([, { value }]) => value === 'duration');
    expect(durations.filter(([name]) => !/^\d+s$/.test(String(shown[name]?.value)))).toEqual([]);
  });

  it('of each variable that is not a layer of its own, by its name', () => {
    // These are shown by what they set: fields of a layer, or the template. Only the client of
    // Kubernetes reads `KUBERNETES_SERVICE_*`.
    const layers =
      /^(?:PROXY_CONFIG|ISTIO_BOOTSTRAP|STACKDRIVER_TRACING_\w+|KUBERNETES_SERVICE_\w+)$/;
    const ofFlags = Object.values<Flag>(flags).map(({ variable }) => variable);
    const { Program: program, ...others } = groups;
    const named = Object.values(others)
      .flat()
      .filter(
        ({ name, text }) =>
          !layers.test(name) &&
          !ofFlags.includes(name) &&
          !/^ignored/i.test(text) &&
          name !== 'CA_PROVIDER',
      );
    expect(program).toBeDefined();
    expect(named.map(({ name }) => name).filter((name) => !(name in shown))).toEqual([]);
  });

  it('and nothing besides that nobody gives', () => {
    const given = [
      ...Object.keys(flags),
      ...Object.keys(logFlags),
      ...Object.values(groups)
        .flat()
        .map(({ name }) => name),
    ];
    const fields = [
      'role',
      'terminationDrainDuration',
      'tracing',
      'extraStatTags',
      'proxyMetadata',
      'sources',
    ];
    expect(Object.keys(shown).filter((name) => ![...given, ...fields].includes(name))).toEqual([]);
  });
});
