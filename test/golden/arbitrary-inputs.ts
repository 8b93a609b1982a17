import * as fc from 'fast-check';
import type {
  ProxyConfig,
  RemoteService,
  TlsSettings,
} from '../../src/pilot-agent/config/proxy-config.ts';
import { certificates, type GoldenCase, inputsOf } from './cases.ts';

/** Texts of any characters, and of halves of characters. */
export const anyText = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 0x7f }), fc.integer({ min: 0, max: 0x10ffff })), {
    maxLength: 20,
  })
  .map((points) => String.fromCodePoint(...points));
/** Texts that users should not write. */
const oddText = fc.oneof(
  anyText,
  fc.constantFrom(
    '',
    '"',
    "'",
    '\n',
    '%s',
    '\u2028',
    '\ud800',
    '\udc00x',
    '\0',
    '$(HOST_IP)',
    '{{ .x }}',
    '\\',
    '{"a":',
    '☃',
    'x'.repeat(3000),
  ),
);
const name = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,12}[a-z0-9])?(\.[a-z]{1,8}){0,3}$/);
const ipv6 = fc.ipV6().map((address) => address.replace(/%.*/, ''));
const port = fc.integer({ min: 1, max: 65_535 });
const ipAddress = fc
  .tuple(
    fc.oneof(
      fc.ipV4(),
      ipv6.map((ip) => `[${ip}]`),
    ),
    port,
  )
  .map((parts) => parts.join(':'));
const address = fc.oneof(
  fc.tuple(name, port).map((parts) => parts.join(':')),
  ipAddress,
);
const duration = fc.oneof(
  fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  fc.double({ min: 0, max: 10, noNaN: true }),
);
const count = fc.integer({ min: 0, max: 2 ** 31 - 1 });

/**
 * Settings of TLS with the files of the golden folder: whether these exist does not depend on the
 * bootstrap.
 */
const tls: fc.Arbitrary<TlsSettings> = fc.record({
  mode: fc.constantFrom('DISABLE', 'SIMPLE', 'MUTUAL'),
  caCertificates: fc.oneof(
    { weight: 5, arbitrary: fc.constant(`${certificates}/root-cert.pem`) },
    fc.constant(''),
  ),
  clientCertificate: fc.constant(`${certificates}/cert-chain.pem`),
  privateKey: fc.constant(`${certificates}/key.pem`),
  sni: fc.oneof({ weight: 5, arbitrary: name }, oddText),
  subjectAltNames: fc.array(fc.oneof(oddText, name, fc.ipV4(), fc.constant('spiffe://a/b')), {
    maxLength: 3,
  }),
});
const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const service: fc.Arbitrary<RemoteService> = fc.record({
  address,
  tlsSettings: some(tls),
  tcpKeepalive: some(fc.record({ probes: count, time: duration, interval: duration })),
});
const tracing: fc.Arbitrary<ProxyConfig['tracing']> = fc.record({
  zipkin: some(fc.record({ address })),
  lightstep: some(
    fc.record({
      address,
      accessToken: fc.oneof({ weight: 5, arbitrary: name }, oddText),
      secure: fc.boolean(),
      cacertPath: fc.constantFrom('', `${certificates}/root-cert.pem`),
    }),
  ),
  datadog: some(fc.record({ address })),
  stackdriver: some(
    fc.record({
      debug: fc.boolean(),
      maxNumberOfAttributes: count,
      maxNumberOfAnnotations: count,
      maxNumberOfMessageEvents: count,
    }),
  ),
  openTelemetry: some(fc.record({ address })),
  tlsSettings: some(tls),
});
const config: fc.Arbitrary<Partial<ProxyConfig>> = fc.record({
  configPath: oddText,
  serviceCluster: oddText.filter((text) => text !== ''),
  drainDuration: duration,
  parentShutdownDuration: duration,
  terminationDrainDuration: duration,
  discoveryAddress: address,
  proxyAdminPort: port,
  statusPort: fc.oneof(fc.constant(0), port),
  controlPlaneAuthPolicy: fc.constantFrom('NONE', 'MUTUAL_TLS'),
  concurrency: count,
  connectTimeout: fc.double({ min: 1, max: 30_000, noNaN: true }),
  dnsRefreshRate: duration,
  statsdUdpAddress: fc.oneof(fc.constant(''), ipAddress),
  envoyMetricsService: some(service),
  envoyAccessLogService: some(service),
  tracing: some(tracing),
  extraStatTags: fc.array(oddText, { maxLength: 3 }),
  proxyMetadata: fc.dictionary(
    fc.oneof(
      oddText,
      oddText.map((text) => `ISTIO_META_${text}`),
    ),
    oddText,
    { maxKeys: 3 },
  ),
});

/** Regular expressions, some of which RE2 accepts. */
export const expression = fc
  .array(
    fc.oneof(
      fc.stringMatching(/^[abz019_.^$|()[\]{}*+?\\:<>=!#&~ \n'"\/é\0-]$/),
      fc.constantFrom(
        '(?:',
        '(?i)',
        '(?P<n>',
        '(?=',
        '[^',
        '[a-z]',
        '[[:alpha:]]',
        '\\d',
        '\\W',
        '\\b',
        '\\z',
        '\\Z',
        '\\pL',
        '\\p{Greek}',
        '\\x41',
        '\\1',
        '\\Q',
        '{2}',
        '{2,5}',
        '{1001}',
        '*?',
        '\\.',
        '[z-a]',
        '[\\d-z]',
        '\ud800',
        '{pod_ip}',
      ),
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map((parts) => parts.join(''));
const patterns = (pattern: fc.Arbitrary<string>) =>
  fc.array(pattern, { maxLength: 5 }).map((all) => all.join(','));

const annotations = fc.record(
  {
    'sidecar.istio.io/statsInclusionPrefixes': patterns(oddText),
    'sidecar.istio.io/statsInclusionSuffixes': patterns(oddText),
    'sidecar.istio.io/statsInclusionRegexps': patterns(expression),
    'sidecar.istio.io/extraStatTags': patterns(fc.oneof(oddText, expression)),
  },
  { requiredKeys: [] },
);
const env = fc
  .record({
    texts: fc.dictionary(oddText, oddText, { maxKeys: 4 }),
    json: fc.dictionary(oddText, fc.dictionary(oddText, fc.jsonValue(), { maxKeys: 3 }), {
      maxKeys: 2,
    }),
  })
  .map(({ texts, json }) => ({
    ...Object.fromEntries(Object.entries(texts).map(([key, text]) => [`ISTIO_META_${key}`, text])),
    ...Object.fromEntries(
      Object.entries(json).map(([key, value]) => [`ISTIO_METAJSON_${key}`, JSON.stringify(value)]),
    ),
  }));

/**
 * A valid configuration of a node with arbitrary texts, and the input of a bootstrap or template
 * for it.
 */
export const arbitraryInputs = fc
  .record({
    config,
    metadata: fc.record({
      env,
      annotations,
      labels: fc.dictionary(oddText, oddText, { maxKeys: 4 }),
      platform: fc.dictionary(oddText, oddText, { maxKeys: 2 }),
    }),
    inputs: fc.record({
      serviceNode: oddText.map((id) => `sidecar~10.0.0.1~${id}~`),
      ipv6: fc.boolean(),
      addresses: fc.array(fc.oneof(fc.ipV4(), ipv6), { maxLength: 3 }),
      locality: fc.record({ region: oddText, zone: oddText, subZone: oddText }),
      sans: fc.array(fc.record({ type: fc.constantFrom('DNS', 'URI'), value: oddText }), {
        minLength: 1,
        maxLength: 2,
      }),
      prometheusPort: fc.oneof(fc.constant(0), port),
      healthPort: fc.oneof(fc.constant(0), port),
      outlierLogPath: fc.constantFrom('', '/dev/stdout'),
      stsPort: fc.oneof(fc.constant(0), port),
      podIp: fc.oneof(fc.ipV4(), ipv6, oddText),
    }),
  })
  .map((golden: GoldenCase) => inputsOf(golden));
