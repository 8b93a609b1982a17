import { describe, expect, it } from 'vitest';
import {
  gatewayTls,
  mutualTls,
  ownTls,
} from '../../../../../src/pilot-discovery/generate/tls/downstream-tls.ts';
import { FilterChainSchema } from '../../../../../src/shared/proto/envoy/config/listener/v3/listener_components_pb.ts';
import {
  canonical,
  meshIn,
  messageYaml,
  proxyIn,
  shortSources,
  specIn,
} from '../../../../support/golden.ts';
import type { TypedConfig } from '../../../../../src/pilot-discovery/generate/encoding/typed-config.ts';

const printed = (transportSocket: TypedConfig): string =>
  messageYaml(FilterChainSchema, { transportSocket }, shortSources);

const socket = (context: string): string => `
transport_socket:
  name: envoy.transport_sockets.tls
  typed_config:
    "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext
    ${context.trim().replaceAll('\n', '\n    ')}
      alpn_protocols: [h2, http/1.1]`;

describe('mutual TLS of the mesh, as a workload takes it', () => {
  const ofMesh = (certificate: string, root: string, domain = 'cluster.local') =>
    socket(`
require_client_certificate: true
common_tls_context:
  tls_params:
    tls_minimum_protocol_version: TLSv1_2
    tls_maximum_protocol_version: TLSv1_3
    cipher_suites:
      - ECDHE-ECDSA-AES256-GCM-SHA384
      - ECDHE-RSA-AES256-GCM-SHA384
      - ECDHE-ECDSA-AES128-GCM-SHA256
      - ECDHE-RSA-AES128-GCM-SHA256
      - AES256-GCM-SHA384
      - AES128-GCM-SHA256
  tls_certificate_sds_secret_configs: [${certificate}]
  combined_validation_context:
    default_validation_context: { match_subject_alt_names: [{ prefix: "spiffe://${domain}/" }] }
    validation_context_sds_secret_config: ${root}`);
  const [certificate, root] = [
    '{ name: default, sds_config: "agent,0s" }',
    '{ name: ROOTCA, sds_config: "agent,0s" }',
  ];

  it.each<[what: string, mesh: string, metadata: string, chain: string]>([
    ['certificates of the agent', '', '', ofMesh(certificate, root)],
    ['callers of a trust domain', 'trustDomain: shop', '', ofMesh(certificate, root, 'shop')],
    [
      'certificates in files',
      '',
      '{ TLS_SERVER_CERT_CHAIN: /c.pem, TLS_SERVER_KEY: /k.pem, TLS_SERVER_ROOT_CERT: /r.pem }',
      ofMesh(
        '{ name: file-cert:/c.pem~/k.pem, sds_config: agent }',
        '{ name: file-root:/r.pem, sds_config: agent }',
      ),
    ],
    [
      'a chain without a key, which is none',
      '',
      '{ TLS_SERVER_CERT_CHAIN: /c.pem }',
      ofMesh(certificate, root),
    ],
    [
      'a key without a chain, which is none',
      '',
      '{ TLS_SERVER_KEY: /k.pem }',
      ofMesh(certificate, root),
    ],
  ])('%s', (_, mesh, metadata, chain) => {
    expect(printed(mutualTls(meshIn(mesh), proxyIn(metadata)))).toBe(canonical(chain));
  });
});

describe('the tls of a port of a Sidecar', () => {
  const files = 'serverCertificate: /c.pem, privateKey: /k.pem';
  const certificate =
    'tls_certificate_sds_secret_configs: [{ name: file-cert:/c.pem~/k.pem, sds_config: "agent,1s" }]';

  it.each<[what: string, tls: string, chain: string]>([
    [
      'a certificate of the server',
      `{ mode: SIMPLE, ${files} }`,
      `
require_client_certificate: false
common_tls_context:
  ${certificate}`,
    ],
    [
      'versions and ciphers',
      `{ mode: SIMPLE, ${files}, minProtocolVersion: TLSV1_2, maxProtocolVersion: TLSV1_3, cipherSuites: [ECDHE-RSA-AES128-GCM-SHA256] }`,
      `
require_client_certificate: false
common_tls_context:
  tls_params:
    tls_minimum_protocol_version: TLSv1_2
    tls_maximum_protocol_version: TLSv1_3
    cipher_suites: [ECDHE-RSA-AES128-GCM-SHA256]
  ${certificate}`,
    ],
    [
      'one version that is said',
      `{ mode: SIMPLE, ${files}, minProtocolVersion: TLSV1_3 }`,
      `
require_client_certificate: false
common_tls_context:
  tls_params: { tls_minimum_protocol_version: TLSv1_3 }
  ${certificate}`,
    ],
    [
      'certificates of clients',
      `{ mode: MUTUAL, ${files}, caCertificates: /r.pem }`,
      `
require_client_certificate: true
common_tls_context:
  ${certificate}
  combined_validation_context:
    default_validation_context: {}
    validation_context_sds_secret_config: { name: file-root:/r.pem, sds_config: "agent,1s" }`,
    ],
    [
      'certain certificates of clients, and revoked ones',
      `{ mode: MUTUAL, ${files}, caCertificates: /r.pem, caCrl: /crl.pem, verifyCertificateHash: [${'ab'.repeat(32)}] }`,
      `
require_client_certificate: true
common_tls_context:
  ${certificate}
  combined_validation_context:
    default_validation_context:
      crl: { filename: /crl.pem }
      verify_certificate_hash: [${'ab'.repeat(32)}]
    validation_context_sds_secret_config: { name: file-root:/r.pem, sds_config: "agent,1s" }`,
    ],
  ])('%s', (_, tls, chain) => {
    const [ingress] = specIn(
      'Sidecar',
      `{ ingress: [{ port: { number: 8443, name: tls, protocol: HTTPS }, defaultEndpoint: "127.0.0.1:8080", tls: ${tls} }] }`,
    ).ingress;
    if (ingress?.tls === undefined || ingress.tls === 'closed') throw new Error('it is closed');
    expect(printed(ownTls(ingress.tls))).toBe(canonical(socket(chain)));
  });
});

describe('TLS that ends at a gateway', () => {
  const [certificate, root] = [
    '{ name: default, sds_config: "agent,0s" }',
    '{ name: ROOTCA, sds_config: "agent,0s" }',
  ];
  const printedFor = (tls: string, metadata = ''): string => {
    const [server] = specIn(
      'Gateway',
      `{ servers: [{ port: { number: 443, name: s, protocol: HTTPS }, hosts: ['*'], tls: { ${tls} } }] }`,
    ).servers;
    if (server === undefined || !('certificate' in server.tls)) throw new Error('it has no TLS');
    return printed(gatewayTls(proxyIn(metadata), server.tls, ['h2', 'http/1.1']));
  };
  const expected = (
    pair: string,
    { client = 'not asked', validation = '', parameters = '' } = {},
  ): string =>
    canonical(
      socket(`
require_client_certificate: ${client === 'needed' ? 'true' : 'false'}
common_tls_context:
  tls_certificate_sds_secret_configs: [${pair}]
  ${parameters === '' ? '' : `tls_params: { ${parameters} }`}
  ${validation === '' ? '' : `combined_validation_context: { ${validation} }`}`),
    );
  const credential = '{ name: "kubernetes://c", sds_config: "ads,1s" }';
  const checkedBy = (secret: string, more = '{}') =>
    `default_validation_context: ${more}, validation_context_sds_secret_config: ${secret}`;
  const roots = checkedBy('{ name: "kubernetes://c-cacert", sds_config: "ads,1s" }');
  const files = 'serverCertificate: /c, privateKey: /k';
  const ofFiles = '{ name: "file-cert:/c~/k", sds_config: "agent,1s" }';

  it.each([
    ['mode: SIMPLE, credentialName: c', expected(credential)],
    ['mode: SIMPLE, credentialName: "kubernetes://c"', expected(credential)],
    [
      'mode: MUTUAL, credentialName: c',
      expected(credential, { client: 'needed', validation: roots }),
    ],
    ['mode: OPTIONAL_MUTUAL, credentialName: c', expected(credential, { validation: roots })],
    [`mode: SIMPLE, ${files}`, expected(ofFiles)],
    [
      `mode: MUTUAL, ${files}, caCertificates: /r, caCrl: /l`,
      expected(ofFiles, {
        client: 'needed',
        validation: checkedBy(
          '{ name: "file-root:/r", sds_config: "agent,1s" }',
          '{ crl: { filename: /l } }',
        ),
      }),
    ],
    [
      'mode: ISTIO_MUTUAL',
      expected(certificate, { client: 'needed', validation: checkedBy(root) }),
    ],
    [
      'mode: SIMPLE, credentialName: c, minProtocolVersion: TLSV1_2, cipherSuites: [AES128-SHA]',
      expected(credential, {
        parameters: 'tls_minimum_protocol_version: TLSv1_2, cipher_suites: [AES128-SHA]',
      }),
    ],
    [
      'mode: SIMPLE, credentialName: c, maxProtocolVersion: TLSV1_3',
      expected(credential, { parameters: 'tls_maximum_protocol_version: TLSv1_3' }),
    ],
    [
      'mode: MUTUAL, credentialName: c, subjectAltNames: [a], verifyCertificateHash: [df6ff72fe9116521268f6f2dd4966f51df479883fe7037b39f75916ac3049d1a], verifyCertificateSpki: [NvqYIYSbgK2vCJpQhObf77vv+bQWtc5ek5RIOwPiC9A=]',
      expected(credential, {
        client: 'needed',
        validation: checkedBy(
          '{ name: "kubernetes://c-cacert", sds_config: "ads,1s" }',
          '{ match_subject_alt_names: [{ exact: a }], verify_certificate_hash: [df6ff72fe9116521268f6f2dd4966f51df479883fe7037b39f75916ac3049d1a], verify_certificate_spki: [NvqYIYSbgK2vCJpQhObf77vv+bQWtc5ek5RIOwPiC9A=] }',
        ),
      }),
    ],
  ])('{ %s }', (tls, yaml) => {
    expect(printedFor(tls)).toBe(yaml);
  });

  it('is that of the files of the proxy, if its metadata names them', () => {
    const metadata =
      'TLS_SERVER_CERT_CHAIN: /c, TLS_SERVER_KEY: /k, TLS_SERVER_ROOT_CERT: /r'.replaceAll(
        ', ',
        '\n',
      );
    expect(printedFor('mode: ISTIO_MUTUAL', metadata)).toBe(
      expected('{ name: "file-cert:/c~/k", sds_config: agent }', {
        client: 'needed',
        validation: checkedBy('{ name: "file-root:/r", sds_config: agent }'),
      }),
    );
  });

  it('is asked of the agent, if that has the secrets of gateways', () => {
    expect(printedFor('mode: MUTUAL, credentialName: c', 'GATEWAY_SECRETS: "true"')).toBe(
      expected('{ name: c, sds_config: "agent,1s" }', {
        client: 'needed',
        validation: checkedBy('{ name: c-cacert, sds_config: "agent,1s" }'),
      }),
    );
  });
});
