import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ResolvedConfig } from '../../../../src/pilot-agent/config/resolve-config.ts';
import {
  accepted,
  configOf,
  problemsOf,
  resolved,
  type TestConfig,
} from '../../../support/resolved.ts';
import type { AgentConfig } from '../../../../src/pilot-agent/config/agent-config.ts';

/** The layers of texts, the lowest first, and their names. */
const texts = ['mesh', 'proxyConfig', 'annotation'] as const;
const names = {
  mesh: 'mesh file mesh.yaml',
  proxyConfig: 'PROXY_CONFIG',
  annotation: 'annotation proxy.istio.io/config',
};
const places = {
  mesh: `${names.mesh}: defaultConfig.`,
  proxyConfig: 'PROXY_CONFIG.',
  annotation: `${names.annotation}: `,
};

describe('the layers of ProxyConfig', () => {
  const some = {
    discoveryAddress: 'foo:123',
    proxyMetadata: { SOME: 'setting' },
    drainDuration: '1s',
  };
  const withSome = {
    ...configOf(),
    discoveryAddress: 'foo:123',
    proxyMetadata: { SOME: 'setting' },
    drainDuration: 1_000,
  };

  it('say nothing if there are none', () => {
    expect(configOf({ layers: {} })).toEqual(configOf());
  });

  it.each([
    ['the annotation', { annotation: some }],
    ['the file', { mesh: some }],
    ['the environment', { proxyConfig: some }],
  ])('are read from %s', (_, testConfig) => {
    expect(configOf(testConfig)).toEqual(withSome);
  });

  it('may be several: the highest wins, maps and lists are replaced, null and unknown fields say nothing', () => {
    const result = accepted({
      mesh: { ...some, discoveryAddress: 'file:123', extraStatTags: ['a'] },
      proxyConfig: { discoveryAddress: 'environment:123', proxyMetadata: null, OTHER: 'option' },
      annotation: {
        discoveryAddress: 'annotation:123',
        proxyMetadata: { ANNOTATION: 'something' },
        drainDuration: '5s',
        extraStatTags: ['b'],
      },
    });
    expect(result.config).toEqual({
      ...configOf(),
      discoveryAddress: 'annotation:123',
      proxyMetadata: { ANNOTATION: 'something' },
      drainDuration: 5_000,
      extraStatTags: ['b'],
      further: { OTHER: 'option' },
    });
    expect(result.warnings).toEqual([
      'PROXY_CONFIG.OTHER is not known here: the control plane gets it as it is',
    ]);
  });
});

describe('a layer', () => {
  it.each([
    ['defaults', {}, 'istio-pilot:15010', 'default'],
    ['the mesh file', { mesh: 'a:1' }, 'a:1', names.mesh],
    ['PROXY_CONFIG', { mesh: 'a:1', proxyConfig: 'b:1' }, 'b:1', names.proxyConfig],
    [
      'the annotation',
      { mesh: 'a:1', proxyConfig: 'b:1', annotation: 'c:1' },
      'c:1',
      names.annotation,
    ],
    [
      'the address annotation',
      { mesh: 'a:1', proxyConfig: 'b:1', annotation: 'c:1', address: 'd:1' },
      'd:1',
      'annotation sidecar.istio.io/discoveryAddress',
    ],
    [
      'the flag',
      { mesh: 'a:1', proxyConfig: 'b:1', annotation: 'c:1', address: 'd:1', flag: 'e:1' },
      'e:1',
      '--discoveryAddress',
    ],
  ] as const)('wins over those below: %s', (_, addressByLayer, value, source) => {
    const given: Partial<Record<string, string>> = addressByLayer;
    const layers = Object.fromEntries(
      texts.flatMap((text) =>
        given[text] === undefined ? [] : [[text, { discoveryAddress: given[text] }]],
      ),
    );
    const result = accepted({
      ...layers,
      annotations:
        given['address'] === undefined
          ? {}
          : { 'sidecar.istio.io/discoveryAddress': given['address'] },
      given: given['flag'] === undefined ? {} : { discoveryAddress: given['flag'] },
    });
    expect([result.config.discoveryAddress, result.sources.discoveryAddress]).toEqual([
      value,
      source,
    ]);
  });

  it('of flags counts only when a flag is given, even if its value is the default (the peer: always)', () => {
    const proxyConfig = { concurrency: 4, serviceCluster: 'mine' };
    expect(configOf({ proxyConfig })).toMatchObject(proxyConfig);
    expect(
      configOf({ proxyConfig, given: { concurrency: '0', serviceCluster: 'istio-proxy' } }),
    ).toMatchObject({
      concurrency: 0,
      serviceCluster: 'istio-proxy',
    });
  });

  it.each(texts)(
    'is in camel case or snake case, in all depths but the names of maps: %s',
    (text) => {
      const content = {
        discovery_address: 'a:1',
        proxyAdminPort: 15001,
        envoy_metrics_service: {
          address: 'm:1',
          tls_settings: { mode: 'SIMPLE', ca_certificates: '/ca.pem' },
          tcp_keepalive: { probes: 2 },
        },
        proxy_metadata: { a_b: 'kept' },
      };
      expect(accepted({ [text]: content })).toMatchObject({
        config: {
          discoveryAddress: 'a:1',
          proxyAdminPort: 15_001,
          envoyMetricsService: {
            address: 'm:1',
            tlsSettings: { caCertificates: '/ca.pem' },
            tcpKeepalive: { probes: 2 },
          },
          proxyMetadata: { a_b: 'kept' },
        },
        warnings: [],
      });
    },
  );

  it('takes enums by name or number, and whole numbers as digits', () => {
    const proxyConfig = {
      controlPlaneAuthPolicy: 1,
      concurrency: '2',
      envoyMetricsService: { address: 'm:1', tlsSettings: { mode: 3 } },
    };
    expect(configOf({ proxyConfig })).toMatchObject({
      controlPlaneAuthPolicy: 'MUTUAL_TLS',
      concurrency: 2,
      envoyMetricsService: { tlsSettings: { mode: 'ISTIO_MUTUAL' } },
    });
    expect(configOf({ proxyConfig: { controlPlaneAuthPolicy: 0 } }).controlPlaneAuthPolicy).toBe(
      'NONE',
    );
  });

  it('replaces a message as a whole', () => {
    const result = configOf({
      mesh: { tracing: { zipkin: { address: 'z:1' }, tlsSettings: { mode: 'SIMPLE' } } },
      proxyConfig: { tracing: { datadog: { address: 'd:1' } } },
    });
    expect(result.tracing).toMatchObject({
      zipkin: undefined,
      datadog: { address: 'd:1' },
      tlsSettings: undefined,
    });
  });

  it('leaves everything as it was by null, in the depths too', () => {
    const every = Object.fromEntries(Object.keys(accepted().sources).map((name) => [name, null]));
    const { warnings, ...result } = accepted({ proxyConfig: every });
    expect({ ...result, warnings: [] }).toEqual(accepted());
    expect(warnings).toContain(
      'PROXY_CONFIG.minDelay is not known here: the control plane gets it as it is',
    ); // minDelay is only a flag
    expect(
      configOf({ proxyConfig: { envoyMetricsService: { address: 'm:1', tlsSettings: null } } })
        .envoyMetricsService,
    ).toEqual({
      address: 'm:1',
      tlsSettings: undefined,
      tcpKeepalive: undefined,
    });
  });

  it.each(texts)('warns of each field that is not known, with its place: %s', (text) => {
    const content = {
      stat_name_len: 189,
      statNameLength: 189,
      tracing: { zipkin: { address: 'z:1', collector_type: 'x' }, sampled: 10, sampling: 10 },
      __proto: 1,
    };
    expect(accepted({ [text]: content }).warnings).toEqual(
      ['stat_name_len', 'tracing.zipkin.collector_type', 'tracing.sampled', '__proto'].map(
        (path) => `${places[text]}${path} is not known here: the control plane gets it as it is`,
      ),
    );
  });

  it.each(texts)('is a map of fields, or nothing: %s', (text) => {
    const name = text === 'mesh' ? `${names.mesh}: defaultConfig` : names[text];
    for (const [content, flaw] of [
      [['x'], 'a list is not a map of fields'],
      ['x', "'x' is not a map of fields"],
    ] as const)
      if (text === 'annotation')
        expect(accepted({ [text]: content }).warnings).toEqual([
          `${name}: ${flaw}: all of it is left out`,
        ]);
      else expect(problemsOf({ [text]: content })).toEqual([{ place: name, text: flaw }]);
    expect(configOf({ [text]: null })).toEqual(configOf());
  });
});

describe('a value', () => {
  it.each<{ field: string; value: unknown; at?: string; text: string }>([
    { field: 'drainDuration', value: 45, text: "45 is not a duration (such as '45s' or '1m30s')" },
    {
      field: 'drainDuration',
      value: { seconds: 45 },
      text: "a map is not a duration (such as '45s' or '1m30s')",
    },
    {
      field: 'terminationDrainDuration',
      value: '-1s',
      text: "'-1s' is not a duration (such as '45s' or '1m30s')",
    },
    { field: 'serviceCluster', value: 5, text: '5 is not a name' },
    { field: 'concurrency', value: -1, text: '-1 is not a whole number from 0 on' },
    { field: 'concurrency', value: 1.5, text: '1.5 is not a whole number from 0 on' },
    { field: 'concurrency', value: true, text: 'true is not a whole number from 0 on' },
    { field: 'proxyAdminPort', value: 70_000, text: '70000 is not a port (1 to 65535)' },
    { field: 'statusPort', value: 'x', text: "'x' is not a port (1 to 65535, or 0 for none)" },
    { field: 'controlPlaneAuthPolicy', value: 2, text: '2 is not one of NONE, MUTUAL_TLS' },
    { field: 'customConfigFile', value: ['x'], text: 'a list is not a text' },
    { field: 'extraStatTags', value: 'x', text: "'x' is not a list of texts" },
    { field: 'extraStatTags', value: ['x', 1], at: 'extraStatTags[1]', text: 'is not a text' },
    { field: 'proxyMetadata', value: ['x'], text: 'a list is not a map of texts' },
    {
      field: 'proxyMetadata',
      value: { A: true },
      at: 'proxyMetadata.A',
      text: 'is not a text: put it in quotes',
    },
    { field: 'tracing', value: 'zipkin', text: "'zipkin' is not a map of fields" },
    {
      field: 'tracing',
      value: { lightstep: { address: 'l:1', accessToken: 'hush', secure: 1 } },
      at: 'tracing.lightstep.secure',
      text: '1 is not true or false',
    },
  ])(
    'of the wrong kind is a problem at its place, or a warning: $field $value',
    ({ field, value, at: path = field, text }) => {
      for (const layer of texts) {
        const testConfig = { [layer]: { [field]: value } };
        if (layer !== 'annotation' && !['extraStatTags', 'tracing'].includes(field)) {
          expect(problemsOf(testConfig)).toEqual([{ place: `${places[layer]}${path}`, text }]);
          continue;
        }
        const { config, warnings } = accepted(testConfig);
        expect([config, warnings]).toEqual([
          configOf(),
          [`${places[layer]}${path}: ${text}: ${field} is left out`],
        ]);
      }
    },
  );

  it.each<[field: string, wrong: unknown]>([
    ['tracing', { zipkin: { address: 'nowhere' } }],
    ['tracing', { zipkin: { address: 'z:1' }, datadog: { address: 'd:1' } }],
    [
      'tracing',
      { openTelemetry: { address: 'o:1' }, tlsSettings: { mode: 'MUTUAL', privateKey: '/k' } },
    ],
    ['statsdUdpAddress', 'statsd'],
    ['envoyMetricsService', { address: 'm:1', tlsSettings: { mode: 'SIMPEL' } }],
    ['envoyAccessLogService', { address: 'a:70000' }],
    ['gatewayTopology', { numTrustedProxies: 'two' }],
    ['proxyStatsMatcher', { inclusionRegexps: 'a.*' }],
    ['holdApplicationUntilProxyStarts', 'perhaps'],
  ])(
    'of what a proxy can serve without is left out, in what an injector writes: %s %j',
    (field, wrong) => {
      const right = { mesh: { drainDuration: '7s' } };
      for (const layer of ['proxyConfig', 'annotation'] as const) {
        const { config, warnings } = accepted({
          ...right,
          [layer]: { [field]: wrong, concurrency: 3 },
        });
        expect(config).toEqual({ ...configOf(right), concurrency: 3 });
        expect(
          warnings.filter(
            (text) =>
              text.startsWith(`${places[layer]}${field}`) &&
              text.endsWith(`: ${field} is left out`),
          ),
        ).toHaveLength(1);
      }
    },
  );

  it.each(['envoyMetricsService', 'envoyAccessLogService'] as const)(
    'of a keepalive is left out alone: %s',
    (field) => {
      const tlsSettings = { mode: 'SIMPLE' };
      for (const layer of ['proxyConfig', 'annotation'] as const) {
        const configWith = (tcpKeepalive: unknown) => ({
          [layer]: { [field]: { address: 'a:1', tlsSettings, tcpKeepalive } },
        });
        const { config, warnings } = accepted(configWith({ probes: 'x', time: '1s' }));
        expect(config).toEqual(configOf(configWith(undefined)));
        const place = `${places[layer]}${field}.tcpKeepalive`;
        expect(warnings).toEqual([
          `${place}.probes: 'x' is not a whole number from 0 on: ${field}.tcpKeepalive is left out`,
        ]);
      }
    },
  );

  it.each([
    { tcpKeepalive: 'x', tlsSettings: { mode: 'FULL' } },
    { tcpKeepalive: { probes: 'x' }, address: 'a' },
  ])('of a keepalive does not hide another one: %j', (wrong) => {
    const { config, warnings } = accepted({
      proxyConfig: { envoyAccessLogService: { address: 'a:1', ...wrong } },
    });
    expect(config.envoyAccessLogService).toBeUndefined();
    expect(warnings.map((text) => text.replace(/.*: /s, ''))).toEqual(
      Array(2).fill('envoyAccessLogService is left out'),
    );
  });

  it.each<[field: string, content: object]>([
    ['envoyMetricsService', { address: 'm:1' }],
    ['envoyAccessLogService', { address: 'a:1' }],
    ['tracing', { zipkin: { address: 'z:1' } }],
  ])(
    'is what is not known below tlsSettings, without which a connection might be less safe: %s',
    (field, content) => {
      const value = { ...content, tlsSettings: { mode: 'SIMPLE', credentialName: 'c' } };
      const text = 'is not known here, and may be what secures the connection';
      for (const layer of ['proxyConfig', 'annotation'] as const) {
        const { config, warnings } = accepted({ [layer]: { [field]: value } });
        expect({ ...config, further: {} }).toEqual(configOf());
        expect(warnings).toEqual([
          `${places[layer]}${field}.tlsSettings.credentialName: ${text}: ${field} is left out`,
        ]);
      }
    },
  );

  it('of an annotation leaves that of the layer below', () => {
    const testConfig = {
      proxyConfig: { tracing: { zipkin: { address: 'z:1' } } },
      annotation: { tracing: { zipkin: { address: 'z' } } },
    };
    expect(configOf(testConfig).tracing?.zipkin).toEqual({ address: 'z:1' });
  });

  it('is checked in its layer, even if another takes its place', () => {
    expect(
      problemsOf({ mesh: { drainDuration: 45 }, given: { drainDuration: '45s' } }).map(
        ({ place }) => place,
      ),
    ).toEqual([`${places.mesh}drainDuration`]);
  });

  it('of metadata that has no text has an empty one', () => {
    expect(configOf({ proxyConfig: { proxyMetadata: { A: null, B: 'b' } } }).proxyMetadata).toEqual(
      { A: '', B: 'b' },
    );
  });
});

describe('problems', () => {
  it('of all layers are told at once, those of the command line first', () => {
    const testConfig: TestConfig = {
      given: { proxyAdminPort: '0' },
      leftover: ['ingress'],
      mesh: { statusPort: 'x' },
      layers: { annotation: { ok: false, reason: 'line 1, column 2: bad' } },
      proxyConfig: { concurrency: -1, drainDuration: 5 },
    };
    expect(resolved(testConfig)).toMatchObject({
      ok: false,
      usage: false,
      problems: [
        { place: 'role', text: "'ingress' is not sidecar or router" },
        { place: '--proxyAdminPort', text: "'0' is not a port (1 to 65535)" },
        {
          place: `${places.mesh}statusPort`,
          text: "'x' is not a port (1 to 65535, or 0 for none)",
        },
        { place: 'PROXY_CONFIG.concurrency', text: '-1 is not a whole number from 0 on' },
        {
          place: 'PROXY_CONFIG.drainDuration',
          text: "5 is not a duration (such as '45s' or '1m30s')",
        },
      ],
    });
  });

  it.each<{ testConfig: TestConfig; usage: boolean }>([
    { testConfig: { given: { statusPort: 'x' }, leftover: ['ingress'] }, usage: true },
    { testConfig: { given: { drainDuration: '90s' } }, usage: true },
    { testConfig: { mesh: { statusPort: 'x' } }, usage: false },
    { testConfig: { given: { statusPort: 'x' }, proxyConfig: { statusPort: 'x' } }, usage: false },
    { testConfig: { proxyConfig: [] }, usage: false },
    {
      testConfig: {
        layers: { mesh: { path: '--x', content: { ok: false, reason: 'cannot be read: EACCES' } } },
      },
      usage: false,
    },
  ])('are the command line’s ($usage) or a file’s: $testConfig', ({ testConfig, usage }) => {
    expect(resolved(testConfig)).toMatchObject({ ok: false, usage });
  });

  it.each<{ testConfig: TestConfig; place: string; text: string }>([
    {
      testConfig: { mesh: { drainDuration: '90s' } },
      place: `${places.mesh}drainDuration`,
      text: '90s is not less than --parentShutdownDuration 60s',
    },
    {
      testConfig: {
        proxyConfig: { drainDuration: '50s' },
        given: { parentShutdownDuration: '50s' },
      },
      place: '--parentShutdownDuration',
      text: '50s is not more than PROXY_CONFIG.drainDuration 50s',
    },
  ])('about two durations are told at the higher layer: $place', ({ testConfig, place, text }) => {
    expect(problemsOf(testConfig)).toEqual([{ place, text }]);
  });

  it('about two durations of an annotation are warned of, and those below hold', () => {
    const mesh = { parentShutdownDuration: '50s', drainDuration: '20s' };
    const { config, warnings } = accepted({
      mesh,
      annotation: { drainDuration: '50s', concurrency: 3 },
    });
    expect(config).toMatchObject({
      drainDuration: 20_000,
      parentShutdownDuration: 50_000,
      concurrency: 3,
    });
    expect(warnings).toEqual([
      `${places.annotation}drainDuration: 50s is not less than ${places.mesh}parentShutdownDuration 50s: it is left out`,
    ]);
  });
});

describe('texts', () => {
  it('that could not be read or parsed are problems, with their reason; an annotation is ignored', () => {
    const content = { ok: false, reason: 'line 2, column 1: bad' } as const;
    expect(
      problemsOf({
        layers: { mesh: { path: '/m', content }, proxyConfig: content, annotation: content },
      }),
    ).toEqual([
      { place: 'mesh file /m', text: 'line 2, column 1: bad' },
      { place: 'PROXY_CONFIG', text: 'line 2, column 1: bad' },
    ]);
    const { config, warnings } = accepted({ layers: { annotation: content } });
    expect([config, warnings]).toEqual([
      configOf(),
      ['annotation proxy.istio.io/config: line 2, column 1: bad: it is ignored'],
    ]);
  });

  it.each([
    [null, []],
    [{ trustDomain: 'x', enableTracing: true }, []],
    [{ default_config: { statusPort: 1 } }, []],
    [['x'], [{ place: 'mesh file /m', text: 'not a map of fields' }]],
    ['x', [{ place: 'mesh file /m', text: 'not a map of fields' }]],
  ])('of a mesh are only read for defaultConfig: %j', (value, problems) => {
    const testConfig: TestConfig = {
      layers: { mesh: { path: '/m', content: { ok: true, value } } },
    };
    expect(problemsOf(testConfig)).toEqual(problems);
    if (problems.length === 0) expect(accepted(testConfig).warnings).toEqual([]);
  });

  it('of a mesh may have it in snake case', () => {
    const mesh = {
      path: '/m',
      content: { ok: true, value: { default_config: { status_port: 1 } } },
    } as const;
    expect(configOf({ layers: { mesh } }).statusPort).toBe(1);
  });
});

describe('annotations beside the configuration', () => {
  const port = 'status.sidecar.istio.io/port';

  it('name the status port, which a flag can overrule', () => {
    const testConfig: TestConfig = { annotation: { statusPort: 1 }, annotations: { [port]: '2' } };
    expect(accepted(testConfig)).toMatchObject({
      config: { statusPort: 2 },
      sources: { statusPort: `annotation ${port}` },
    });
    expect(configOf({ ...testConfig, given: { statusPort: '3' } }).statusPort).toBe(3);
    expect(configOf({ annotations: { [port]: '0' } }).statusPort).toBe(0);
  });

  it.each(['http', '-1', '65536', '1.5'])(
    'keep the old status port if theirs is none: "%s" (the peer: no status server)',
    (text) => {
      expect(
        accepted({ proxyConfig: { statusPort: 15 }, annotations: { [port]: text } }),
      ).toMatchObject({
        config: { statusPort: 15 },
        warnings: [
          `annotation ${port}: '${text}' is not a port (1 to 65535, or 0 for none), and is ignored`,
        ],
      });
    },
  );

  it('name the discovery address, which is checked (the peer: not)', () => {
    const annotations = { 'sidecar.istio.io/discoveryAddress': 'istiod' };
    const { config, warnings } = accepted({
      proxyConfig: { discoveryAddress: 'below:1' },
      annotations,
    });
    expect(config.discoveryAddress).toBe('below:1');
    expect(warnings).toEqual([
      "annotation sidecar.istio.io/discoveryAddress: 'istiod' is not host:port, the host a name or an IP address (IPv6 in brackets): discoveryAddress is left out",
    ]);
  });

  it('say nothing if they are empty, and are not looked at otherwise', () => {
    const annotations = {
      [port]: '',
      'sidecar.istio.io/discoveryAddress': '',
      statusPort: '7',
      toString: 'x',
    };
    expect(accepted({ annotations })).toEqual(accepted());
  });
});

it('each value has its source', () => {
  const { config, sources } = accepted({
    mesh: { extraStatTags: ['a'] },
    proxyConfig: { tracing: {} },
    annotation: { drainDuration: '1s' },
    given: { minDelay: '1s', 'trust-domain': 'x', templateFile: '/t', id: 'me' },
    env: {
      ISTIO_BOOTSTRAP: '/b',
      TERMINATION_DRAIN_DURATION_SECONDS: '1',
      PROV_CERT: '/p',
      POD_NAMESPACE: 'shop',
    },
  });
  expect(Object.keys(sources).sort()).toEqual(Object.keys(config).sort());
  const configuredSources = Object.entries(sources).filter(([, source]) => source !== 'default');
  expect(Object.fromEntries(configuredSources)).toEqual({
    podNamespace: '$POD_NAMESPACE',
    extraStatTags: names.mesh,
    tracing: names.proxyConfig,
    drainDuration: names.annotation,
    minDelay: '--minDelay',
    trustDomain: '--trust-domain',
    proxyBootstrapTemplatePath: '$ISTIO_BOOTSTRAP',
    id: '--id',
    drainCap: '$TERMINATION_DRAIN_DURATION_SECONDS',
    provCert: '$PROV_CERT',
    controlPlaneTls: '$PROV_CERT',
    node: '--id, $POD_NAMESPACE',
  });
});

describe('whatever is said', () => {
  const fields: { [Field in keyof AgentConfig]?: fc.Arbitrary<unknown> } = {
    discoveryAddress: fc.constantFrom('a:1', 'b:2', '[::1]:3'),
    concurrency: fc.nat(64),
    serviceCluster: fc.string({ minLength: 1 }),
    extraStatTags: fc.array(fc.string(), { maxLength: 3 }),
    proxyMetadata: fc
      .dictionary(fc.string(), fc.string(), { maxKeys: 3, noNullPrototype: true })
      .filter((map) => !Object.hasOwn(map, '__proto__')),
    statusPort: fc.integer({ min: 0, max: 65_535 }),
    controlPlaneAuthPolicy: fc.constantFrom('NONE', 'MUTUAL_TLS'),
  };
  const layer = fc.record(fields, { requiredKeys: [], noNullPrototype: true });

  it('each field is that of the highest layer that names it', () => {
    fc.assert(
      fc.property(layer, layer, layer, (mesh, proxyConfig, annotation) => {
        const { config, sources } = accepted({ mesh, proxyConfig, annotation });
        const contentByLayer = { mesh, proxyConfig, annotation };
        for (const field of Object.keys(fields) as (keyof typeof fields)[]) {
          const highest = texts.findLast((text) => field in contentByLayer[text]);
          expect(config[field]).toEqual(
            highest === undefined ? configOf()[field] : contentByLayer[highest][field],
          );
          expect(sources[field]).toBe(highest === undefined ? 'default' : names[highest]);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('two layers that are merged beforehand come to the same', () => {
    fc.assert(
      fc.property(layer, layer, layer, (a, b, c) => {
        const whole = configOf({ mesh: a, proxyConfig: b, annotation: c });
        expect(configOf({ mesh: { ...a, ...b }, annotation: c })).toEqual(whole);
        expect(configOf({ mesh: a, proxyConfig: { ...b, ...c } })).toEqual(whole);
      }),
      { numRuns: 60 },
    );
  });

  it('there is an answer, in which each problem has a place and a text', () => {
    const knownField = fc.constantFrom(
      ...Object.keys(accepted().sources),
      'tls_settings',
      'address',
      'zipkin',
      '__proto__',
      'constructor',
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof({ depthSize: 'small' }, fc.anything(), fc.string(), fc.integer(), tie('map')),
      map: fc.dictionary(knownField, tie('tree'), { maxKeys: 5 }),
    }));
    const given = fc.dictionary(
      fc.constantFrom(
        'drainDuration',
        'concurrency',
        'envoyMetricsService',
        'zipkinAddress',
        'lightstepSecure',
      ),
      fc.string(),
    );
    const env = fc.dictionary(
      fc.constantFrom(
        'ENVOY_STATUS_PORT',
        'STACKDRIVER_TRACING_ENABLED',
        'POD_NAME',
        'INSTANCE_IP',
        'PROV_CERT',
      ),
      fc.string(),
    );
    // Three of four parts are sound; otherwise, hardly any configuration would be sound in all
    // parts.
    const any = <T>(broken: fc.Arbitrary<T>, sound: fc.Arbitrary<T>) =>
      fc.oneof(broken, { weight: 3, arbitrary: sound });
    const anyLayer = any<unknown>(tree, layer);
    const outcomes = new Set<boolean>();
    fc.assert(
      fc.property(
        anyLayer,
        anyLayer,
        anyLayer,
        fc.dictionary(fc.string(), fc.string()),
        any(given, fc.constant({})),
        any(env, fc.constant({})),
        any(fc.array(fc.string()), fc.constant<string[]>([])),
        (mesh, proxyConfig, annotation, annotations, flags, variables, leftover) => {
          const result: ResolvedConfig = resolved({
            mesh,
            proxyConfig,
            annotation,
            annotations,
            given: flags,
            env: variables,
            leftover,
          });
          outcomes.add(result.ok);
          if (result.ok) {
            expect(Object.keys(result.sources).sort()).toEqual(Object.keys(result.config).sort());
            return;
          }
          expect(result.problems.length).toBeGreaterThan(0);
          for (const { place, text } of result.problems) {
            expect(place).not.toBe('');
            expect(text).not.toMatch(/^$|Invalid|undefined/);
          }
        },
      ),
      { numRuns: 300 },
    );
    expect(outcomes).toEqual(new Set([true, false]));
  });
});
