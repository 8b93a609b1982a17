import { describe, expect, it } from 'vitest';
import type { GivenFlags } from '../../../../src/pilot-agent/config/flag-layer.ts';
import { type FlagName, flags } from '../../../../src/pilot-agent/config/flags.ts';
import { accepted, configOf, problemsOf, type TestConfig } from '../../../support/resolved.ts';
import type { AgentConfig } from '../../../../src/pilot-agent/config/agent-config.ts';

/** The longest time of Node's timers, in ms; a longer timer fires at once. */
const longestTimer = 2 ** 31 - 1;
const ownFiles = {
  chain: '/etc/certs/cert-chain.pem',
  key: '/etc/certs/key.pem',
  root: '/etc/certs/root-cert.pem',
};

it('is the defaults of the Go agent if nothing is given', () => {
  expect(accepted()).toMatchObject({ ok: true, warnings: [] });
  expect(configOf()).toEqual({
    configPath: '/etc/istio/proxy',
    binaryPath: undefined,
    serviceCluster: 'istio-proxy',
    drainDuration: 45_000,
    parentShutdownDuration: 60_000,
    terminationDrainDuration: 5_000,
    discoveryAddress: 'istio-pilot:15010',
    proxyAdminPort: 15_000,
    statusPort: 15_020,
    controlPlaneAuthPolicy: 'NONE',
    concurrency: undefined,
    connectTimeout: 1_000,
    dnsRefreshRate: 300_000,
    customConfigFile: '',
    proxyBootstrapTemplatePath: '',
    statsdUdpAddress: '',
    envoyMetricsService: undefined,
    envoyAccessLogService: undefined,
    tracing: undefined,
    extraStatTags: [],
    proxyMetadata: {},
    further: {},
    meshConfig: './etc/istio/config/mesh',
    proxyLogLevel: 'warning',
    proxyComponentLogLevel: 'misc:error',
    outlierLogPath: '',
    serviceregistry: 'Kubernetes',
    id: '',
    ip: '',
    domain: '',
    trustDomain: '',
    pilotIdentity: '',
    mixerIdentity: '',
    disableInternalTelemetry: false,
    stsPort: 0,
    tokenManagerPlugin: 'GoogleTokenExchange',
    minDelay: 10_000,
    envoyRestartPolicy: 'backoff',
    envoyRestartBudget: 10,
    xdsProxy: true,
    xdsStoreMaxAge: 86_400_000,
    rotation: '',
    keepEnvoy: false,
    profiling: false,
    statusPage: true,
    statusPageLog: false,
    drainCap: 5_000,
    drainMinimum: 5_000,
    pilotCertProvider: undefined,
    provCert: '',
    fileMountedCerts: false,
    istioNamespace: 'istio-system',
    bootstrapOverride: '',
    prometheusPort: 15_090,
    healthPort: 15_021,
    readinessTimeout: 1_000,
    podName: '',
    podNamespace: '',
    instanceIp: '',
    serviceAccount: '',
    cpuLimit: undefined,
    deltaXds: false,
    exchangeKeys: '',
    gcpMetadata: '',
    metadataHost: '',
    probeDestination: 'localhost first',
    gkeClusterUrl: '',
    searchPath: '',
    metadataVariables: {},
    secrets: {
      tokenFile: './var/run/secrets/tokens/istio-token',
      caAddress: '',
      clusterId: '',
      trustDomain: '',
      algorithm: 'RSA',
      pkcs8: false,
      ttl: 86_400_000,
      graceRatio: 0.5,
      initialBackOff: 0,
      output: '',
      workloadSocket: 'socket',
      crlFile: './var/run/secrets/istio/crl/ca-crl.pem',
      gateway: '',
      namesServer: false,
      namesClient: false,
      namesPair: false,
    },
    probes: new Map(),
    metricsTargets: [],
    role: 'sidecar',
    node: {
      ip: '10.1.2.3',
      id: '.',
      domain: '.svc.cluster.local',
      addresses: ['10.1.2.3'],
      ipv6: false,
    },
    certificates: [ownFiles],
    watched: Object.values(ownFiles),
    awaited: [],
    controlPlaneTls: ownFiles,
    own: { server: ownFiles, client: ownFiles },
    besidePushed: { certificates: [], watched: [], awaited: [] },
    logging: { level: 'info', json: false, targets: ['stdout'] },
    configFile: '',
    watch: [],
    configUrl: '',
    configUrlCAFile: '',
    configUrlTokenFile: '',
    watchKube: [],
    kubeconfig: '',
    watchConsul: [],
    consulAddress: 'http://127.0.0.1:8500',
    consulCAFile: '',
    consulTokenFile: '',
    httpProxy: '',
    noProxy: [],
    sources: [],
  } satisfies AgentConfig);
});

const notTls = {
  mode: 'DISABLE',
  caCertificates: '',
  clientCertificate: '',
  privateKey: '',
  sni: '',
  subjectAltNames: [],
};
const noTracer = {
  zipkin: undefined,
  lightstep: undefined,
  datadog: undefined,
  stackdriver: undefined,
  openTelemetry: undefined,
  tlsSettings: undefined,
};
const address = (hostAndPort: string) => ({
  address: hostAndPort,
  tlsSettings: undefined,
  tcpKeepalive: undefined,
});

/**
 * The texts of each flag, with the values that they resolve to. `at` is the name of the field in
 * the configuration, if it differs from the name of the flag.
 */
const good: Readonly<
  Record<
    FlagName,
    | { readonly at?: keyof AgentConfig; readonly texts: Readonly<Record<string, unknown>> }
    | 'nothing'
  >
> = {
  binaryPath: { texts: { '/usr/bin/envoy': '/usr/bin/envoy', envoy: 'envoy' } },
  configPath: { texts: { './etc/istio/proxy': './etc/istio/proxy' } },
  customConfigFile: { texts: { 'envoy.json': 'envoy.json', '': '' } },
  templateFile: { at: 'proxyBootstrapTemplatePath', texts: { '/t.json': '/t.json', '': '' } },
  meshConfig: { texts: { '/m.yaml': '/m.yaml', '': '' } },
  drainDuration: { texts: { '0': 0, '1s': 1_000, '59.9s': 59_000, '100ms': 0 } },
  parentShutdownDuration: {
    texts: {
      '46s': 46_000,
      '46.1s': 47_000,
      '45s1ns': 46_000,
      '1h1m1s': 3_661_000,
      '1000h': 2_147_483_000,
    },
  },
  discoveryAddress: {
    texts: {
      'istiod.istio-system.svc:15012': 'istiod.istio-system.svc:15012',
      '[::1]:15010': '[::1]:15010',
    },
  },
  controlPlaneAuthPolicy: { texts: { NONE: 'NONE', MUTUAL_TLS: 'MUTUAL_TLS' } },
  connectTimeout: { texts: { '1ms': 1, '7s': 7_000, '30s': 30_000 } },
  dnsRefreshRate: { texts: { '60s': 60_000, '1.5ms': 1.5 } },
  proxyAdminPort: { texts: { '1': 1, '65535': 65_535 } },
  statusPort: { texts: { '0': 0, '65535': 65_535 } },
  serviceCluster: { texts: { 'my-cluster': 'my-cluster' } },
  concurrency: { texts: { '0': 0, '8': 8, '2147483647': 2_147_483_647 } },
  proxyLogLevel: {
    texts: Object.fromEntries(
      [
        'trace',
        'debug',
        'info',
        'warning',
        'warn',
        'error',
        'critical',
        'off',
        '',
        'warning,misc:error',
        'off,a:off,b:trace',
      ].map((level) => [level, level]),
    ),
  },
  proxyComponentLogLevel: {
    texts: {
      '': '',
      'misc:error': 'misc:error',
      'upstream:debug,http2:trace': 'upstream:debug,http2:trace',
    },
  },
  outlierLogPath: { texts: { '/dev/stdout': '/dev/stdout' } },
  statsdUdpAddress: { texts: { 'statsd:9125': 'statsd:9125', '': '' } },
  envoyMetricsServiceAddress: {
    at: 'envoyMetricsService',
    texts: { 'metrics:15000': address('metrics:15000'), '': undefined },
  },
  envoyMetricsService: {
    texts: {
      '{"address":"metrics:15000"}': address('metrics:15000'),
      '': undefined,
      null: undefined,
    },
  },
  envoyAccessLogService: {
    texts: {
      '{"address":"oap.istio-system:11800","tlsSettings":{"mode":"DISABLE","subjectAltNames":[],"caCertificates":null},"tcpKeepalive":{"interval":"10s","probes":3,"time":"10s"}}':
        {
          address: 'oap.istio-system:11800',
          tlsSettings: notTls,
          tcpKeepalive: { probes: 3, time: 10_000, interval: 10_000 },
        },
    },
  },
  lightstepAddress: { at: 'tracing', texts: { '': undefined } },
  lightstepAccessToken: { at: 'tracing', texts: { '': undefined } },
  lightstepSecure: { at: 'tracing', texts: { true: undefined } },
  lightstepCacertPath: { at: 'tracing', texts: { '': undefined } },
  zipkinAddress: {
    at: 'tracing',
    texts: { 'zipkin:9411': { ...noTracer, zipkin: { address: 'zipkin:9411' } }, '': undefined },
  },
  datadogAgentAddress: {
    at: 'tracing',
    texts: {
      '$(HOST_IP):8126': { ...noTracer, datadog: { address: '$(HOST_IP):8126' } },
      '': undefined,
    },
  },
  serviceregistry: { texts: { Consul: 'Consul', Mock: 'Mock', whatever: 'whatever', '': '' } },
  id: { texts: { 'mypod.myns': 'mypod.myns', '': '' } },
  ip: { texts: { '10.0.0.1': '10.0.0.1', nonsense: 'nonsense' } },
  domain: { texts: { 'my.domain': 'my.domain' } },
  'trust-domain': { at: 'trustDomain', texts: { 'mesh.com': 'mesh.com' } },
  pilotIdentity: { texts: { 'pilot-identity': 'pilot-identity' } },
  mixerIdentity: { texts: { 'mixer-identity': 'mixer-identity' } },
  disableInternalTelemetry: { texts: { true: true, T: true, '0': false } },
  stsPort: { texts: { '0': 0, '15463': 15_463 } },
  tokenManagerPlugin: { texts: { none: 'none' } },
  openTelemetryAddress: {
    at: 'tracing',
    texts: { 'otel:4317': { ...noTracer, openTelemetry: { address: 'otel:4317' } } },
  },
  minDelay: { texts: { '0s': 0, '500ms': 500 } },
  envoyRestartPolicy: { texts: { backoff: 'backoff', exit: 'exit' } },
  envoyRestartBudget: { texts: { '0': 0, '3': 3 } },
  xdsProxy: { texts: { true: true, false: false } },
  xdsStoreMaxAge: { texts: { '1h': 3_600_000, '30m': 1_800_000 } },
  rotation: { texts: { '': '', 'hot-restart': 'hot-restart', sds: 'sds' } },
  keepEnvoy: { texts: { true: true, false: false } },
  statusPage: { texts: { true: true, false: false } },
  statusPageLog: { texts: { true: true, false: false } },
  profiling: { texts: { true: true, false: false } },
  controlPlaneBootstrap: 'nothing',
  applicationPorts: 'nothing',
  config: { at: 'configFile', texts: { '': '', 'agent.yaml': 'agent.yaml' } },
  watch: { texts: { '/etc/secret': ['/etc/secret'], 'a b,c': ['a b,c'] } },
  configUrl: {
    texts: {
      '': '',
      'https://user:pw@host:1/path?token=x': 'https://user:pw@host:1/path?token=x',
      'HTTP://h': 'HTTP://h',
    },
  },
  configUrlCAFile: { texts: { '': '', 'ca.pem': 'ca.pem' } },
  configUrlTokenFile: { texts: { '': '', '/token': '/token' } },
  watchKube: {
    texts: Object.fromEntries(
      [
        'Secret/default/front',
        'ConfigMap/kube-system/a.b',
        'Gateway.networking.istio.io/x-1/y',
      ].map((text) => [text, [text]]),
    ),
  },
  kubeconfig: { texts: { '~/.kube/config': '~/.kube/config' } },
  watchConsul: { texts: { 'kv/envoy/front': ['kv/envoy/front'], 'service/web': ['service/web'] } },
  consulAddress: {
    texts: { 'consul:8500': 'consul:8500', 'https://consul:8501': 'https://consul:8501' },
  },
  consulCAFile: { texts: { 'ca.pem': 'ca.pem' } },
  consulTokenFile: { texts: { '/token': '/token' } },
  httpProxy: {
    texts: {
      'http://proxy:3128': 'http://proxy:3128',
      'http://a:b@[fd00::1]/': 'http://a:b@[fd00::1]/',
    },
  },
  noProxy: {
    texts: Object.fromEntries(
      [
        '*',
        'a.example,.b.example:80, *.c.example',
        '10.0.0.0/8',
        'fd00::/8',
        '[fd00::1]:443',
        '10.1.2.3:80',
        'fd00::1',
      ].map((text) => [text, [text]]),
    ),
  },
};

const isRepeated = (name: string) => 'repeated' in flags[name as FlagName];
const givenFlag = (name: string, text: string): GivenFlags => ({
  [name]: isRepeated(name) ? [text] : text,
});

describe('a flag', () => {
  it('has a line in this table', () => {
    expect(Object.keys(good)).toEqual(Object.keys(flags));
  });

  it.each(
    Object.entries(good).flatMap(([name, line]) =>
      line === 'nothing'
        ? []
        : Object.entries(line.texts).map(([text, value]) => ({
            name,
            field: line.at ?? (name as keyof AgentConfig),
            text,
            value,
          })),
    ),
  )('is taken: --$name "$text"', ({ name, field, text, value }) => {
    expect(configOf({ given: givenFlag(name, text) })[field]).toEqual(value);
  });

  it.each(['controlPlaneBootstrap', 'applicationPorts'])(
    'has no effect any more: --%s, with a warning',
    (name) => {
      expect(accepted({ given: { [name]: 'false' } })).toEqual({
        ...accepted(),
        warnings: [`--${name} has no effect, and is ignored`],
      });
    },
  );

  const wholeNumber = (text: string) => `'${text}' is not a whole number from 0 on`;
  const port = (text: string) => `'${text}' is not a port (1 to 65535)`;
  const statusPort = (text: string) => `'${text}' is not a port (1 to 65535, or 0 for none)`;
  const duration = (text: string) => `'${text}' is not a duration (such as '45s' or '1m30s')`;
  const name = (text: string) => `'${text}' is not a name`;
  const hostAndPort = (text: string) =>
    `'${text}' is not host:port, the host a name or an IP address (IPv6 in brackets)`;
  const boolean = (text: string) => `'${text}' is not true or false`;
  const json = (text: string) => `'${text}' is not JSON, such as {"address":"host:port"}`;
  const bad: Readonly<
    Partial<
      Record<FlagName, readonly [texts: readonly string[], problem: (text: string) => string]>
    >
  > = {
    binaryPath: [[''], name],
    configPath: [[''], name],
    drainDuration: [['', '5', '-1s', '1 s', 'bad-int-value', 'NaN'], duration],
    parentShutdownDuration: [['', '60', '-1s', 'bad-int-value'], duration],
    discoveryAddress: [['', 'istio-pilot', '10.0.0.100'], hostAndPort],
    controlPlaneAuthPolicy: [
      ['', '1', 'mutual_tls'],
      (text) => `'${text}' is not one of NONE, MUTUAL_TLS`,
    ],
    connectTimeout: [
      ['', '1', '0s', '-1s', '30.1s'],
      (text) => `'${text}' is not a duration from '1ms' to '30s'`,
    ],
    dnsRefreshRate: [
      ['', '300', '0s', '1ms', '-1s'],
      (text) => `'${text}' is not a duration of more than '1ms'`,
    ],
    proxyAdminPort: [['', '0', '65536', '-1', '1.5', '0x10', ' 80', 'http'], port],
    statusPort: [['', '65536', '-1', '1e3', 'http'], statusPort],
    serviceCluster: [[''], name],
    concurrency: [['', '-1', '1.5', 'abc', 'bad-int-value', '2147483648'], wholeNumber],
    statsdUdpAddress: [['statsd', 'statsd:'], hostAndPort],
    envoyMetricsServiceAddress: [['metrics', 'metrics:0'], hostAndPort],
    envoyMetricsService: [['{', 'metrics:15000'], json],
    envoyAccessLogService: [['{address: "als:1"}'], json],
    zipkinAddress: [['zipkin'], hostAndPort],
    datadogAgentAddress: [['$(HOST_IP)', '$(HOST_IP)$(HOST_IP):8126'], hostAndPort],
    disableInternalTelemetry: [['', 'yes'], boolean],
    stsPort: [['', '65536'], statusPort],
    openTelemetryAddress: [['otel'], hostAndPort],
    minDelay: [['', '10', '-1s'], duration],
    envoyRestartPolicy: [['', 'never'], (text) => `'${text}' is not one of backoff, exit`],
    envoyRestartBudget: [['', '-1', 'many'], wholeNumber],
    xdsProxy: [['maybe'], (text) => `'${text}' is not true or false`],
    xdsStoreMaxAge: [['1', 'day'], duration],
    rotation: [['SDS', 'push'], (text) => `'${text}' is not one of hot-restart, sds`],
    keepEnvoy: [['', 'maybe'], boolean],
    profiling: [['', 'maybe'], boolean],
    statusPage: [['', 'maybe'], boolean],
    statusPageLog: [['', 'maybe'], boolean],
    watch: [[''], () => 'an empty text is not a path'],
    configUrl: [
      ['host', 'ftp://user:pw@host', 'https://', 'https:///x', 'http://h:port/'],
      () => 'is not an http or https URL',
    ],
    watchKube: [
      ['', 'secret/default/front', 'Secret/front', 'Secret/a/b/c', 'Secret/A/b', 'Gateway./'],
      (text) =>
        `'${text}' is not KIND/NAMESPACE/NAME, such as 'Secret/default/front' or 'Gateway.networking.istio.io/default/front'`,
    ],
    watchConsul: [
      ['', 'kv', 'kv/', 'kv//x', 'key/x', 'service/'],
      (text) => `'${text}' is not kv/PREFIX or service/NAME`,
    ],
    httpProxy: [
      [
        'proxy:3128',
        'https://proxy:3128',
        'http://user:hush@proxy/path',
        'http://proxy?a',
        'socks5://proxy:1',
        'http://a b',
      ],
      () => 'is not http://HOST:PORT',
    ],
    noProxy: [
      [
        '',
        'http://a.example',
        '10.0.0.0/33',
        'fd00::/129',
        'a.example/8',
        'a b',
        ',',
        'a.example:0',
        'a.*.example',
        '.',
      ],
      (text) =>
        `'${text}' is not a list of hosts, addresses, ranges of addresses or *, with commas between`,
    ],
  };
  it.each(
    Object.entries(bad).flatMap(([flag, [texts, problem]]) =>
      texts.map((text) => ({ flag, text, problem: problem(text) })),
    ),
  )('is refused: --$flag "$text"', ({ flag, text, problem }) => {
    expect(problemsOf({ given: givenFlag(flag, text) })).toEqual([
      { place: `--${flag}`, text: problem },
    ]);
  });

  it('that has a table of good values and none of bad ones takes any text', () => {
    const others = Object.keys(good).filter(
      (flag) => !(flag in bad) && good[flag as FlagName] !== 'nothing',
    );
    const lightstep = others.filter((flag) => flag.startsWith('lightstep'));
    expect(lightstep).toHaveLength(4);
    for (const flag of others.filter((other) => !lightstep.includes(other)))
      expect(problemsOf({ given: { [flag]: 'any text \n at all' } })).toEqual([]);
  });

  it.each<{ flag: FlagName }>([
    { flag: 'concurrency' },
    { flag: 'drainDuration' },
    { flag: 'parentShutdownDuration' },
  ])(
    '$flag: bad-int-value is refused before Envoy sees it (base id and restart epoch are the agent’s own)',
    ({ flag }) => {
      expect(problemsOf({ given: { [flag]: 'bad-int-value' } }).map(({ place }) => place)).toEqual([
        `--${flag}`,
      ]);
    },
  );

  it('an empty TLS is one that is switched off, and nothing in the JSON is lost', () => {
    const text = Object.keys((good.envoyAccessLogService as { texts: object }).texts)[0] ?? '';
    expect(configOf({ given: { envoyMetricsService: text } }).envoyMetricsService).toEqual({
      address: 'oap.istio-system:11800',
      tlsSettings: notTls,
      tcpKeepalive: { probes: 3, time: 10_000, interval: 10_000 },
    });
  });

  it('of JSON says where in it something is wrong', () => {
    const given = {
      envoyMetricsService:
        '{"address":"metrics","tlsSettings":{"mode":"FULL"},"tcpKeepalive":{"probes":"x"}}',
    };
    expect(problemsOf({ given })).toEqual([
      { place: '--envoyMetricsService.address', text: hostAndPort('metrics') },
      {
        place: '--envoyMetricsService.tlsSettings.mode',
        text: "'FULL' is not one of DISABLE, SIMPLE, MUTUAL, ISTIO_MUTUAL",
      },
      { place: '--envoyMetricsService.tcpKeepalive.probes', text: wholeNumber('x') },
    ]);
    expect(problemsOf({ given: { envoyMetricsService: '[1]' } })).toEqual([
      { place: '--envoyMetricsService', text: 'a list is not a map of fields' },
    ]);
  });

  it('of an address gives way to the one that says more', () => {
    const { config, warnings, sources } = accepted({
      given: { envoyMetricsServiceAddress: 'old:1', envoyMetricsService: '{"address":"new:1"}' },
    });
    expect(config.envoyMetricsService?.address).toBe('new:1');
    expect(sources.envoyMetricsService).toBe('--envoyMetricsService');
    expect(warnings).toEqual([
      '--envoyMetricsServiceAddress has no effect beside --envoyMetricsService, and is ignored',
    ]);
  });
});

describe('flags of LightStep', () => {
  const given = { lightstepAddress: 'satellite:8080', lightstepAccessToken: 'hush' };

  it('make one tracer', () => {
    const all = { ...given, lightstepSecure: 'true', lightstepCacertPath: '/ca.pem' };
    expect(configOf({ given: all }).tracing).toEqual({
      ...noTracer,
      lightstep: {
        address: 'satellite:8080',
        accessToken: 'hush',
        secure: true,
        cacertPath: '/ca.pem',
      },
    });
    expect(configOf({ given }).tracing?.lightstep).toEqual({
      address: 'satellite:8080',
      accessToken: 'hush',
      secure: false,
      cacertPath: '',
    });
  });

  it.each<{ given: GivenFlags; place: string; text: string }>([
    {
      given: { lightstepAddress: 'satellite:8080' },
      place: '--lightstepAccessToken',
      text: 'is missing',
    },
    {
      given: { lightstepAddress: 'satellite:8080', lightstepAccessToken: '' },
      place: '--lightstepAccessToken',
      text: 'is missing',
    },
    {
      given: { lightstepAccessToken: 'hush' },
      place: '--lightstepAddress',
      text: 'is missing: it has to be host:port, the host a name or an IP address (IPv6 in brackets)',
    },
    {
      given: { ...given, lightstepSecure: 'yes' },
      place: '--lightstepSecure',
      text: "'yes' is not true or false",
    },
  ])('go together: $given', ({ given: some, place, text }) => {
    expect(problemsOf({ given: some })).toEqual([{ place, text }]);
  });

  it('without an address have no effect', () => {
    expect(accepted({ given: { lightstepSecure: 'true' } })).toMatchObject({
      config: { tracing: undefined },
      warnings: ['--lightstepSecure has no effect without an address, and is ignored'],
    });
  });
});

it.each<{ given: GivenFlags; tracer: string; weaker: readonly string[] }>([
  {
    given: { zipkinAddress: 'z:1', datadogAgentAddress: 'd:1' },
    tracer: 'zipkin',
    weaker: ['datadogAgentAddress'],
  },
  {
    given: { lightstepAddress: 'l:1', lightstepAccessToken: 't', zipkinAddress: 'z:1' },
    tracer: 'lightstep',
    weaker: ['zipkinAddress'],
  },
  {
    given: { openTelemetryAddress: 'o:1', lightstepAddress: 'l:1' },
    tracer: 'openTelemetry',
    weaker: ['lightstepAddress'],
  },
])(
  'of several tracers the order of 1.5 decides, after this agent’s own: $tracer',
  ({ given, tracer, weaker }) => {
    const { config, warnings, sources } = accepted({ given });
    expect(
      Object.entries(config.tracing ?? {}).flatMap(([name, value]) =>
        value === undefined ? [] : [name],
      ),
    ).toEqual([tracer]);
    expect(sources.tracing).toMatch(new RegExp(`^--${tracer}`));
    expect(warnings).toEqual(
      weaker.map((flag) => `--${flag} has no effect beside ${sources.tracing}, and is ignored`),
    );
  },
);

describe('what is wrong', () => {
  it.each([
    ...[
      'bad',
      'WARNING',
      'info ',
      'misc:error',
      ',misc:error',
      'warning,',
      'warning,misc',
      'warning,:error',
      'warning,misc:loud',
    ].map((text) => ({
      flag: 'proxyLogLevel',
      text,
      right: 'one of trace, debug, info, warning, warn, error, critical, off',
    })),
    ...['a:bad', 'misc', 'misc:error,'].map((text) => ({
      flag: 'proxyComponentLogLevel',
      text,
      right: 'a list of name:level',
    })),
  ])(
    'is left out if it is a level of Envoy, which an annotation may have brought: --$flag "$text"',
    ({ flag, text, right }) => {
      const { config, warnings } = accepted({ given: { [flag]: text } });
      expect([config, warnings]).toEqual([
        configOf(),
        [`--${flag}: '${text}' is not ${right}: ${flag} is left out`],
      ]);
    },
  );

  it('is told at once, the role first', () => {
    const given = {
      statusPort: 'x',
      concurrency: '-1',
      proxyLogLevel: 'loud',
      envoyMetricsService: '{',
    };
    expect(problemsOf({ given, leftover: ['ingress'] }).map(({ place }) => place)).toEqual([
      'role',
      '--envoyMetricsService',
      '--statusPort',
      '--concurrency',
    ]);
  });

  it.each<{ what: string; given: GivenFlags; place?: string; text?: string }>([
    {
      what: 'drain as long as parent shutdown',
      given: { drainDuration: '60s' },
      place: '--drainDuration',
      text: '60s is not less than --parentShutdownDuration 60s',
    },
    {
      what: 'a parent shutdown below the default drain',
      given: { parentShutdownDuration: '30s' },
      place: '--parentShutdownDuration',
      text: '30s is not more than --drainDuration 45s',
    },
    {
      what: '1s, 1s',
      given: { parentShutdownDuration: '1s', drainDuration: '1s' },
      place: '--parentShutdownDuration',
      text: '1s is not more than --drainDuration 1s',
    },
    {
      what: '1s, 2s',
      given: { parentShutdownDuration: '1s', drainDuration: '2s' },
      place: '--parentShutdownDuration',
      text: '1s is not more than --drainDuration 2s',
    },
    {
      what: '-2s, 1s',
      given: { parentShutdownDuration: '-2s', drainDuration: '1s' },
      place: '--parentShutdownDuration',
      text: "'-2s' is not a duration (such as '45s' or '1m30s')",
    },
    {
      what: '2s, -1s',
      given: { parentShutdownDuration: '2s', drainDuration: '-1s' },
      place: '--drainDuration',
      text: "'-1s' is not a duration (such as '45s' or '1m30s')",
    },
    { what: '2s, 1s', given: { parentShutdownDuration: '2s', drainDuration: '1s' } },
    {
      what: '2s, 1.001s, which the peer refuses',
      given: { parentShutdownDuration: '2s', drainDuration: '1.001s' },
    },
    {
      what: '2.001s, 1s, which the peer refuses',
      given: { parentShutdownDuration: '2.001s', drainDuration: '1s' },
    },
    {
      what: '1h1s, 10s, which the peer refuses',
      given: { parentShutdownDuration: '1h1s', drainDuration: '10s' },
    },
    {
      what: '10s, 1h1s',
      given: { parentShutdownDuration: '10s', drainDuration: '1h1s' },
      place: '--parentShutdownDuration',
      text: '10s is not more than --drainDuration 3601s',
    },
    {
      what: '1.7s, 1.5s: 2s, 1s',
      given: { parentShutdownDuration: '1.7s', drainDuration: '1.5s' },
    },
    {
      what: '1.2s, 1.5s: 2s, 1s',
      given: { parentShutdownDuration: '1.2s', drainDuration: '1.5s' },
    },
    {
      what: '2s, 2.9s: 2s, 2s',
      given: { parentShutdownDuration: '2s', drainDuration: '2.9s' },
      place: '--parentShutdownDuration',
      text: '2s is not more than --drainDuration 2s',
    },
  ])('about durations: $what: $text', ({ given, place, text }) => {
    expect(problemsOf({ given })).toEqual(text === undefined ? [] : [{ place, text }]);
  });

  it('about durations is told beside what else is wrong, but not of a duration that is none', () => {
    expect(
      problemsOf({ given: { drainDuration: '60s', statusPort: 'x' } }).map(({ place }) => place),
    ).toEqual(['--statusPort', '--drainDuration']);
    expect(
      problemsOf({ given: { drainDuration: 'long', parentShutdownDuration: '1s' } }).map(
        ({ place }) => place,
      ),
    ).toEqual(['--drainDuration']);
  });
});

describe('the role', () => {
  it.each([
    { leftover: [], role: 'sidecar', source: 'default' },
    { leftover: ['sidecar'], role: 'sidecar', source: 'argument' },
    { leftover: ['router', 'extra'], role: 'router', source: 'argument' },
  ])('is $role with $leftover', ({ leftover, role, source }) => {
    const { config, sources } = accepted({ leftover });
    expect([config.role, sources.role]).toEqual([role, source]);
  });

  it.each(['ingress', 'Sidecar', ''])('"%s" is refused', (role) => {
    expect(problemsOf({ leftover: [role] })).toEqual([
      { place: 'role', text: `'${role}' is not sidecar or router` },
    ]);
  });

  it('is found among unknown flags, of which a warning tells by name only', () => {
    const { config, warnings } = accepted({ leftover: ['--token=secret', '--foo', 'router'] });
    expect(config.role).toBe('router');
    expect(warnings).toEqual(['unknown flag --token is ignored', 'unknown flag --foo is ignored']);
  });
});

it.each<{
  what: string;
  testConfig: TestConfig;
  field: 'drainCap' | 'drainMinimum' | 'minDelay' | 'parentShutdownDuration' | 'dnsRefreshRate';
}>([
  {
    what: 'a drain of a year',
    testConfig: { env: { TERMINATION_DRAIN_DURATION_SECONDS: '31536000' } },
    field: 'drainCap',
  },
  {
    what: 'a drain of a year',
    testConfig: { proxyConfig: { terminationDrainDuration: '8760h' } },
    field: 'drainCap',
  },
  {
    what: 'a minimum of a year',
    testConfig: { env: { MINIMUM_DRAIN_DURATION: '8760h' } },
    field: 'drainMinimum',
  },
  { what: 'a window of a year', testConfig: { given: { minDelay: '8760h' } }, field: 'minDelay' },
  {
    what: 'a parent shutdown of a year',
    testConfig: { given: { parentShutdownDuration: '8760h' } },
    field: 'parentShutdownDuration',
  },
  {
    what: 'a refresh each year',
    testConfig: { mesh: { dnsRefreshRate: '8760h' } },
    field: 'dnsRefreshRate',
  },
])(
  'makes the longest that a timer can count of $what: beyond that it would fire at once',
  ({ testConfig, field }) => {
    // Envoy counts some of them in whole seconds.
    expect(longestTimer - configOf(testConfig)[field]).toBeOneOf([0, longestTimer % 1_000]);
  },
);

it('warns of a $(HOST_IP) that Kubernetes has not replaced', () => {
  const warningsOf = (address: string) =>
    accepted({ given: { datadogAgentAddress: address } }).warnings;
  expect(warningsOf('$(HOST_IP):8126')).toEqual([
    'the address of the Datadog agent is $(HOST_IP):8126: Envoy sends no spans there; Kubernetes replaces $(HOST_IP) only in arguments and variables, and only if the container has the variable HOST_IP',
  ]);
  expect(warningsOf('10.0.0.1:8126')).toEqual([]);
});
