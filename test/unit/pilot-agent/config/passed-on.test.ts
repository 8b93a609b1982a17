import { describe, expect, it } from 'vitest';
import { proxyConfigJson } from '../../../../src/pilot-agent/bootstrap/proxy-config-json.ts';
import { parseText } from '../../../../src/pilot-agent/config/parse-text.ts';
import { configOf, flawsOf, type TestConfig } from '../../../support/resolved.ts';

/** Returns the configuration that the control plane receives. */
const passedOn = (testConfig: TestConfig) => proxyConfigJson(configOf(testConfig));

/** A field of each kind in Istio's API that the agent does not use. */
const ofIstio = {
  tracingServiceName: 'CANONICAL_NAME_ONLY',
  interceptionMode: 'TPROXY',
  statNameLength: 200,
  meshId: 'mesh',
  holdApplicationUntilProxyStarts: false,
  image: { imageType: 'distroless' },
  runtimeValues: { 're2.max_program_size.error_level': '1024' },
  caCertificatesPem: ['-----BEGIN CERTIFICATE-----\nx'],
  gatewayTopology: {
    numTrustedProxies: 2,
    forwardClientCertDetails: 'SANITIZE_SET',
    proxyProtocol: {},
  },
  proxyStatsMatcher: {
    inclusionPrefixes: ['upstream_rq_retry'],
    inclusionSuffixes: ['a'],
    inclusionRegexps: ['.*circuit_breakers.*'],
  },
  privateKeyProvider: { cryptomb: { pollDelay: '10s', fallback: true } },
  proxyHeaders: {
    setCurrentClientCertDetails: { subject: false },
    server: { disabled: true },
    metadataExchangeHeaders: { mode: 'IN_MESH' },
  },
  readinessProbe: { periodSeconds: 5, httpGet: { path: '/ready', port: 8080 } },
  fileFlushInterval: '1s',
  statsCompression: false,
  discoveryRefreshDelay: '1s',
  sds: { enabled: true },
  tracing: {
    zipkin: { address: 'z:1' },
    sampling: 0.5,
    maxPathTagLength: 300,
    enableIstioTags: false,
    customTags: { tag: { header: { name: 'x', default_value: 'y' } } },
  },
};

describe('the control plane', () => {
  it('is told each field of Istio as it was said, in camel or snake case, and nobody is warned', () => {
    expect(passedOn({ proxyConfig: ofIstio })).toMatchObject(ofIstio);
    const snakeCase = JSON.parse(
      JSON.stringify(ofIstio).replace(/"(\w+)":/g, (name) =>
        name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      ),
    ) as unknown;
    expect(passedOn({ proxyConfig: snakeCase })).toMatchObject(ofIstio);
  });

  it('is told what no API knows, at its place, beside what the agent goes by', () => {
    const proxyConfig = {
      nobody: { knows: [1, null, 'a', { b: true }] },
      tracing: { zipkin: { address: 'z:1', spans: 7 }, later: 'x' },
    };
    expect(passedOn({ proxyConfig })).toMatchObject(proxyConfig);
  });

  it('is told the effective value of what the agent knows, whatever a lower layer says', () => {
    expect(
      passedOn({
        proxyConfig: { drainDuration: '10s', statusPort: '1' },
        given: { drainDuration: '20s' },
      }),
    ).toMatchObject({
      drainDuration: '20s',
      statusPort: 1,
    });
  });

  it('is told of a field what the highest layer says of it, and nothing of the layers below', () => {
    const mesh = {
      gatewayTopology: { numTrustedProxies: 1 },
      meshId: 'm',
      tracing: { sampling: 1, later: 1 },
      nobody: { a: 1 },
      other: 1,
    };
    const proxyConfig = {
      gateway_topology: { forwardClientCertDetails: 4 },
      tracing: { openCensusAgent: { address: 'o:1' } },
    };
    const json = passedOn({ mesh, proxyConfig, annotation: { nobody: { b: 2 } } }) as Readonly<
      Record<string, unknown>
    >;
    expect(json).toMatchObject({
      gatewayTopology: { forwardClientCertDetails: 'SANITIZE_SET' },
      meshId: 'm',
      nobody: { b: 2 },
      other: 1,
    });
    expect(json['gatewayTopology']).not.toHaveProperty('numTrustedProxies');
    expect(json['tracing']).toEqual({ openCensusAgent: { address: 'o:1' }, sampling: undefined });
    expect(json['nobody']).not.toHaveProperty('a');
  });

  it('is told no secret: none of a header of a probe, none by its name, no private key', () => {
    const proxyConfig = {
      readinessProbe: { httpGet: { httpHeaders: [{ name: 'Authorization', value: 'hunter2' }] } },
      tracing: { lightstep: { address: 'l:1', accessToken: 'hunter2', refreshToken: 'hunter2' } },
      nobody: {
        apiKey: 'hunter2',
        pem: '-----BEGIN EC PRIVATE KEY-----\nhunter2',
        list: ['-----BEGIN PRIVATE KEY-----hunter2', 'x'],
      },
    };
    const json = passedOn({ proxyConfig });
    expect(JSON.stringify(json)).not.toContain('hunter2');
    expect(json).toMatchObject({
      readinessProbe: { httpGet: { httpHeaders: [{ name: 'Authorization' }] } },
      nobody: { list: ['x'] },
    });
  });

  it('is told one of two names of the service', () => {
    expect(passedOn({ proxyConfig: { serviceCluster: 'mine' } })).toMatchObject({
      serviceCluster: 'mine',
    });
    expect(
      passedOn({ proxyConfig: { serviceCluster: 'mine', tracingServiceName: 0 } }),
    ).not.toHaveProperty('serviceCluster');
  });

  it('is told of nothing that changes all objects', () => {
    const proxyConfig = JSON.parse(
      '{"__proto__":{"polluted":1},"tracing":{"__proto__":{"polluted":1}},"constructor":{"prototype":1}}',
    ) as unknown;
    expect(passedOn({ proxyConfig })).toHaveProperty('constructor', { prototype: 1 });
    expect({}).not.toHaveProperty('polluted');
    expect(configOf({ proxyConfig })).not.toHaveProperty('polluted');
  });
});

describe('a field that the control plane would refuse the whole proxy for', () => {
  it.each([
    ['gatewayTopology', 'x', "'x' is not a map of fields"],
    [
      'gatewayTopology',
      { numTrustedProxies: -1 },
      '-1 is not a whole number from 0 on',
      '.numTrustedProxies',
    ],
    ['statNameLength', 5.5, '5.5 is not a whole number from 0 on'],
    ['interceptionMode', 'BLAH', "'BLAH' is not one of REDIRECT, TPROXY, NONE"],
    ['holdApplicationUntilProxyStarts', 'true', "'true' is not true or false"],
    [
      'proxyStatsMatcher',
      { inclusionPrefixes: 'a' },
      "'a' is not a list of texts",
      '.inclusionPrefixes',
    ],
    ['tracing', { sampling: 101 }, '101 is not a number from 0 to 100', '.sampling'],
    ['tracing', { sampling: 'much' }, "'much' is not a number from 0 to 100", '.sampling'],
    ['discoveryRefreshDelay', 5, "5 is not a duration (such as '45s' or '1m30s')"],
  ])('is told: %s', (field, given, text, below = '') => {
    expect(flawsOf({ proxyConfig: { [field]: given } })).toEqual([
      { place: `PROXY_CONFIG.${field}${below}`, text },
    ]);
  });

  it('is told if there is a second tracer', () => {
    const tracing = { zipkin: { address: 'z:1' }, openCensusAgent: { address: 'o:1' } };
    expect(flawsOf({ proxyConfig: { tracing } })).toEqual([
      {
        place: 'PROXY_CONFIG.tracing',
        text: 'names zipkin and openCensusAgent: it has to be one tracer',
      },
    ]);
  });

  const deep = 'is nested more than 25 levels deep';
  it.each([
    ['a number that JSON has not', 'nobody: .nan', 'NaN is not a number of JSON'],
    ['a number without end', '{"nobody": 1e999}', 'Infinity is not a number of JSON'],
    ['a time', 'nobody: !!timestamp 2001-12-14', 'is not a value of JSON'],
    ['bytes', 'nobody: [!!binary aGVsbG8=]', 'is not a value of JSON'],
    ['a set', 'nobody: !!set {a, b}', 'is not a value of JSON'],
    ['what is deep', `{"nobody": ${'['.repeat(27)}${']'.repeat(27)}}`, deep],
  ])('is told: %s', async (_, text, flaw) => {
    const proxyConfig = await parseText(text);
    expect(flawsOf({ layers: { proxyConfig } })).toEqual([
      { place: 'PROXY_CONFIG.nobody', text: flaw },
    ]);
  });

  it('has the values of an alias, and as many levels as there may be', async () => {
    const text = `a: &a {b: [1]}\nc: *a\nd: ${'['.repeat(26)}${']'.repeat(26)}`;
    expect(passedOn({ layers: { proxyConfig: await parseText(text) } })).toMatchObject({
      a: { b: [1] },
      c: { b: [1] },
    });
  });
});
