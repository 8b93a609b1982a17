import { describe, expect, it } from 'vitest';
import { accepted, configOf, flawsOf } from '../../../support/resolved.ts';

const placesOf = (proxyConfig: unknown) =>
  flawsOf({ proxyConfig }).map(({ place }) => place.replace('PROXY_CONFIG.', ''));

describe('proxy address', () => {
  it.each([
    'istio-pilot:80',
    '10.0.0.100:9090',
    '[2001:db8::100]:80',
    'Istio.Example.com:65535',
    'istiod.:15012',
    '1a.b2:1',
    `${'a'.repeat(63)}.b:1`,
  ])('takes %s', (address) => {
    expect(configOf({ proxyConfig: { discoveryAddress: address } }).discoveryAddress).toBe(address);
  });

  it.each([
    'istio-pilot',
    'isti..:80',
    '10.0.0.100',
    'istio-pilot:port',
    'istio-pilot:100000',
    '[2001:db8::10::20]:80',
    '[2001:db8::100]',
    '[2001:db8::100]:port',
    '2001:db8::100:80',
    '',
    ':80',
    '[]:80',
    'istio-pilot:',
    'istio-pilot:0',
    'istio-pilot:65536',
    'istio-pilot:+80',
    'istio_pilot:80',
    '-pilot:80',
    'pilot-:80',
    '10.0.0.300:80',
    'a b:80',
    '[istio-pilot]:80',
    '[10.0.0.1]:80',
    '[fe80::1%eth0]:80',
    'http://istio-pilot:80',
    'istio-pilot:80\n',
    `${'a'.repeat(64)}.b:1`,
    `${'a.'.repeat(128)}b:1`,
  ])('refuses "%s"', (address) => {
    expect(placesOf({ discoveryAddress: address })).toEqual(['discoveryAddress']);
  });
});

describe('connect timeout', () => {
  it('takes 1 s, and both ends', () => {
    for (const [text, ms] of [
      ['1s', 1_000],
      ['1ms', 1],
      ['30s', 30_000],
    ] as const)
      expect(configOf({ proxyConfig: { connectTimeout: text } }).connectTimeout).toBe(ms);
  });

  it.each(['31s', '99999ns', '0s', '-1s'])('refuses %s', (text) => {
    expect(placesOf({ connectTimeout: text })).toEqual(['connectTimeout']);
  });
});

describe('ProxyConfig', () => {
  const baseline = {
    configPath: '/etc/istio/proxy',
    binaryPath: '/usr/local/bin/envoy',
    discoveryAddress: 'istio-pilot.istio-system:15010',
    proxyAdminPort: 15_000,
    drainDuration: '45s',
    parentShutdownDuration: '60s',
    serviceCluster: 'istio-proxy',
    statsdUdpAddress: 'istio-statsd-prom-bridge.istio-system:9125',
    envoyMetricsService: { address: 'metrics-service.istio-system:15000' },
    envoyAccessLogService: { address: 'accesslog-service.istio-system:15000' },
    controlPlaneAuthPolicy: 1,
  };

  it.each(['serviceCluster', 'customConfigFile', 'discoveryAddress'])(
    'refuses a NUL in %s, which no command line and no path can have',
    (field) => {
      const proxyConfig = { [field]: 'web:80\0' };
      const flaw = { place: `PROXY_CONFIG.${field}`, text: 'has a NUL character' };
      expect(flawsOf({ proxyConfig })).toEqual([flaw]);
      expect(accepted({ annotation: proxyConfig }).warnings.join()).toContain(flaw.text);
    },
  );

  it('takes the baseline, and the empty object, which is the defaults (the peer has none there)', () => {
    expect(placesOf(baseline)).toEqual([]);
    expect(placesOf({})).toEqual([]);
  });

  it.each<[change: object, place: string]>([
    [{ configPath: '' }, 'configPath'],
    [{ binaryPath: '' }, 'binaryPath'],
    [{ discoveryAddress: '10.0.0.100' }, 'discoveryAddress'],
    [{ proxyAdminPort: 0 }, 'proxyAdminPort'],
    [{ drainDuration: '-1s' }, 'drainDuration'],
    [{ parentShutdownDuration: '-1s' }, 'parentShutdownDuration'],
    [{ serviceCluster: '' }, 'serviceCluster'],
    [{ statsdUdpAddress: '10.0.0.100' }, 'statsdUdpAddress'],
    [
      { envoyMetricsService: { address: 'metrics-service.istio-system' } },
      'envoyMetricsService.address',
    ],
    [
      { envoyAccessLogService: { address: 'accesslog-service.istio-system' } },
      'envoyAccessLogService.address',
    ],
    [{ controlPlaneAuthPolicy: -1 }, 'controlPlaneAuthPolicy'],
    [{ tracing: { zipkin: { address: '10.0.0.100' } } }, 'tracing.zipkin.address'],
    [
      { tracing: { lightstep: { address: '10.0.0.100', accessToken: 't' } } },
      'tracing.lightstep.address',
    ],
    [{ tracing: { lightstep: { address: '', accessToken: 't' } } }, 'tracing.lightstep.address'],
    [
      { tracing: { lightstep: { address: 'collector.lightstep:8080', accessToken: '' } } },
      'tracing.lightstep.accessToken',
    ],
  ])('refuses %j', (change, place) => {
    expect(placesOf({ ...baseline, ...change })).toEqual([place]);
  });

  it('refuses a LightStep of which nothing is told, with both problems', () => {
    expect(placesOf({ tracing: { lightstep: {} } })).toEqual([
      'tracing.lightstep.address',
      'tracing.lightstep.accessToken',
    ]);
  });

  it.each([
    { zipkin: { address: 'zipkin.istio-system:9411' } },
    { lightstep: { address: 'collector.lightstep:8080', accessToken: 'abcdefg1234567' } },
    { datadog: { address: '$(HOST_IP):8126' } },
    { stackdriver: {} },
    { openTelemetry: { address: 'otel:4317' } },
    {},
  ])('takes the tracing %j', (tracing) => {
    expect(placesOf({ ...baseline, tracing })).toEqual([]);
  });

  it('takes $(HOST_IP) once, and for a Datadog agent only', () => {
    expect(placesOf({ tracing: { zipkin: { address: '$(HOST_IP):9411' } } })).toEqual([
      'tracing.zipkin.address',
    ]);
    expect(placesOf({ tracing: { datadog: { address: '$(HOST_IP).$(HOST_IP):8126' } } })).toEqual([
      'tracing.datadog.address',
    ]);
  });
});

describe('tracing', () => {
  it('names one tracer', () => {
    expect(
      flawsOf({ proxyConfig: { tracing: { stackdriver: {}, zipkin: { address: 'z:1' } } } }),
    ).toEqual([
      {
        place: 'PROXY_CONFIG.tracing',
        text: 'names zipkin and stackdriver: it has to be one tracer',
      },
    ]);
  });

  it('has the limits of Stackdriver, 200 without a word', () => {
    const stackdriver = {
      debug: true,
      maxNumberOfAnnotations: '201',
      max_number_of_message_events: 201,
    };
    expect(configOf({ proxyConfig: { tracing: { stackdriver } } }).tracing?.stackdriver).toEqual({
      debug: true,
      maxNumberOfAttributes: 200,
      maxNumberOfAnnotations: 201,
      maxNumberOfMessageEvents: 201,
    });
  });

  it('does not repeat a token that is wrong', () => {
    const lightstep = { address: 'l:1', accessToken: 1_234_567 };
    expect(flawsOf({ proxyConfig: { tracing: { lightstep } } })).toEqual([
      { place: 'PROXY_CONFIG.tracing.lightstep.accessToken', text: 'is not a text' },
    ]);
  });
});

describe.each([
  [
    'envoyMetricsService',
    (tlsSettings: unknown) => ({ envoyMetricsService: { address: 's:1', tlsSettings } }),
  ],
  [
    'envoyAccessLogService',
    (tlsSettings: unknown) => ({ envoyAccessLogService: { address: 's:1', tlsSettings } }),
  ],
  ['tracing', (tlsSettings: unknown) => ({ tracing: { zipkin: { address: 's:1' }, tlsSettings } })],
])('TLS of %s', (field, withTls) => {
  it('in mode MUTUAL needs certificate and key of the client (the peer goes on in plaintext)', () => {
    const problem = (name: string) => ({
      place: `PROXY_CONFIG.${field}.tlsSettings.${name}`,
      text: 'is missing: mode MUTUAL needs it',
    });
    expect(flawsOf({ proxyConfig: withTls({ mode: 'MUTUAL' }) })).toEqual([
      problem('clientCertificate'),
      problem('privateKey'),
    ]);
    expect(flawsOf({ proxyConfig: withTls({ mode: 2, clientCertificate: '/c' }) })).toEqual([
      problem('privateKey'),
    ]);
    expect(
      flawsOf({
        proxyConfig: withTls({ mode: 'MUTUAL', clientCertificate: '/c', privateKey: '/k' }),
      }),
    ).toEqual([]);
  });

  it('in mode MUTUAL is told so beside what else is wrong', () => {
    expect(placesOf(withTls({ mode: 'MUTUAL', privateKey: '/k', sni: 5 }))).toEqual([
      `${field}.tlsSettings.sni`,
      `${field}.tlsSettings.clientCertificate`,
    ]);
  });

  it.each(['DISABLE', 'SIMPLE', 'ISTIO_MUTUAL'])('in mode %s needs no file', (mode) => {
    expect(placesOf(withTls({ mode }))).toEqual([]);
  });
});
