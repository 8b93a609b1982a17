import { describe, expect, it } from 'vitest';
import type { Findings } from '../../../../src/pilot-agent/bootstrap/proto-json.ts';
import {
  upstreamTls,
  type BootstrapTls,
} from '../../../../src/pilot-agent/bootstrap/upstream-tls.ts';
import type { TlsSettings } from '../../../../src/pilot-agent/config/proxy-config.ts';

const empty: TlsSettings = {
  mode: 'SIMPLE',
  caCertificates: '',
  clientCertificate: '',
  privateKey: '',
  sni: '',
  subjectAltNames: [],
};

function contextOf(settings: Partial<TlsSettings>, more: Partial<BootstrapTls> = {}) {
  const findings: Findings = { problems: [], warnings: [] };
  const context = upstreamTls(
    {
      settings: { ...empty, ...settings },
      place: 'it',
      metadata: {},
      http2: true,
      name: 'envoy_metrics_service',
      ...more,
    },
    findings,
  );
  return { context: context && (JSON.parse(JSON.stringify(context)) as unknown), ...findings };
}

const files = (chain: string, key: string) => [
  { certificate_chain: { filename: chain }, private_key: { filename: key } },
];

describe('upstreamTls', () => {
  it('takes the chain for the client and the root for the CA under ISTIO_MUTUAL (the Go agent has them the other way round)', () => {
    expect(contextOf({ mode: 'ISTIO_MUTUAL' })).toEqual({
      context: {
        common_tls_context: {
          tls_certificates: files('/etc/certs/cert-chain.pem', '/etc/certs/key.pem'),
          validation_context: { trusted_ca: { filename: '/etc/certs/root-cert.pem' } },
          alpn_protocols: ['istio', 'h2'],
        },
        sni: 'envoy_metrics_service',
      },
      problems: [],
      warnings: [],
    });
  });

  it('takes a CA alone, and tells no protocol to a server without HTTP/2', () => {
    expect(contextOf({ caCertificates: '/etc/tracing/ca.pem' }, { http2: false }).context).toEqual({
      common_tls_context: {
        validation_context: { trusted_ca: { filename: '/etc/tracing/ca.pem' } },
      },
    });
  });

  it('is plaintext under DISABLE', () => {
    expect(contextOf({ mode: 'DISABLE', caCertificates: 'ca' })).toEqual({
      context: undefined,
      problems: [],
      warnings: [],
    });
  });

  it('has the files, the name and the names of MUTUAL, each name by its kind', () => {
    const subjectAltNames = ['a.example.com', 'spiffe://td/ns/a/sa/b', '10.0.0.1', '2001:db8::1'];
    const given = contextOf({
      mode: 'MUTUAL',
      caCertificates: 'ca',
      clientCertificate: 'chain',
      privateKey: 'key',
      sni: 'name',
      subjectAltNames,
    });
    expect(given.context).toEqual({
      common_tls_context: {
        tls_certificates: files('chain', 'key'),
        validation_context: {
          trusted_ca: { filename: 'ca' },
          match_typed_subject_alt_names: [
            { san_type: 'DNS', matcher: { exact: 'a.example.com' } },
            { san_type: 'URI', matcher: { exact: 'spiffe://td/ns/a/sa/b' } },
            { san_type: 'IP_ADDRESS', matcher: { exact: '10.0.0.1' } },
            { san_type: 'IP_ADDRESS', matcher: { exact: '2001:db8::1' } },
          ],
        },
        alpn_protocols: ['h2'],
      },
      sni: 'name',
    });
  });

  it('takes the files that the metadata name, but no CA if none is wanted', () => {
    const metadata = {
      TLS_CLIENT_CERT_CHAIN: 'own-chain',
      TLS_CLIENT_KEY: 'own-key',
      TLS_CLIENT_ROOT_CERT: 'own-root',
    };
    const istio = JSON.stringify(contextOf({ mode: 'ISTIO_MUTUAL' }, { metadata }).context);
    for (const file of ['own-chain', 'own-key', 'own-root']) expect(istio).toContain(file);
    expect(istio).not.toContain('/etc/certs');
    expect(JSON.stringify(contextOf({}, { metadata }).context)).not.toContain('own-');
    expect(contextOf({ mode: 'MUTUAL' }, { metadata }).problems).toEqual([]);
  });

  it.each<{ what: string; settings: Partial<TlsSettings>; places: readonly string[] }>([
    {
      what: 'MUTUAL without files (the Go agent speaks plaintext)',
      settings: { mode: 'MUTUAL', caCertificates: 'ca' },
      places: ['it.clientCertificate', 'it.privateKey'],
    },
    {
      what: 'MUTUAL without a key',
      settings: { mode: 'MUTUAL', caCertificates: 'ca', clientCertificate: 'c' },
      places: ['it.privateKey'],
    },
    {
      what: 'names without a CA, which Envoy refuses',
      settings: { subjectAltNames: ['a'] },
      places: ['it.caCertificates'],
    },
    {
      what: 'a name that is too long',
      settings: { caCertificates: 'ca', sni: 'a'.repeat(256) },
      places: ['it.sni'],
    },
    {
      what: 'a name with a zero byte',
      settings: { caCertificates: 'ca', sni: 'a\0' },
      places: ['it.sni'],
    },
  ])('has a problem with $what', ({ settings, places }) => {
    const { context, problems } = contextOf(settings);
    expect(context).toBeUndefined();
    expect(problems.map(({ place }) => place)).toEqual(places);
  });

  it('warns of a server that is not checked', () => {
    expect(contextOf({}).warnings).toEqual([
      "it: without caCertificates the server's certificate is not checked",
    ]);
  });
});
