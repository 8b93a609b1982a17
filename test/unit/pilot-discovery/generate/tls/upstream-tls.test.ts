import { describe, expect, it } from 'vitest';
import {
  type TlsInputs,
  upstreamTls,
} from '../../../../../src/pilot-discovery/generate/tls/upstream-tls.ts';
import { ClusterSchema } from '../../../../../src/shared/proto/envoy/config/cluster/v3/cluster_pb.ts';
import {
  canonical,
  messageYaml,
  proxyIn,
  shortSources,
  specIn,
} from '../../../../support/golden.ts';

/** Returns the TLS of port 80 of a.mesh, whose endpoints have the account `a`. */
function tlsOf(tls: string, more: Partial<TlsInputs> = {}) {
  const rule = `{ host: a.mesh, trafficPolicy: { tls: ${tls} } }`;
  return upstreamTls({
    tls: tls === '' ? undefined : specIn('DestinationRule', rule).trafficPolicy?.tls,
    unruled: 'plain',
    destination: 'listed',
    alpn: 'nothing',
    sni: 'outbound_.80_._.a.mesh',
    accounts: ['spiffe://mesh/ns/default/sa/a'],
    registry: 'ServiceEntry',
    node: proxyIn(''),
    location: 'internal',
    secrets: 'refused',
    ...more,
  });
}

const clusterOf = (tls: string, more: Partial<TlsInputs> = {}): string =>
  messageYaml(ClusterSchema, tlsOf(tls, more).cluster, shortSources);

/** Returns a TLS socket with this context. */
const socket = (context: string, depth = 2): string =>
  `
name: envoy.transport_sockets.tls
typed_config:
  "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
  ${context.trim().replaceAll('\n', '\n  ')}
    tls_params: { tls_minimum_protocol_version: TLSv1_2, tls_maximum_protocol_version: TLSv1_3 }`.replaceAll(
    '\n',
    `\n${' '.repeat(depth)}`,
  );
const transportSocket = (context: string): string => `transport_socket:${socket(context)}`;

/** Returns the context of mutual TLS in the mesh. */
const ofMesh = (
  alpn = '[istio]',
  sni = 'outbound_.80_._.a.mesh',
  name = 'spiffe://mesh/ns/default/sa/a',
) => `
sni: ${sni}
common_tls_context:
  alpn_protocols: ${alpn}
  tls_certificate_sds_secret_configs: [{ name: default, sds_config: "agent,0s" }]
  combined_validation_context:
    default_validation_context: { match_subject_alt_names: [{ exact: "${name}" }] }
    validation_context_sds_secret_config: { name: ROOTCA, sds_config: "agent,0s" }`;

/** Returns the context of mutual TLS with the certificates that the metadata of the proxy name. */
const ofProxy = (sni: string, alpn = '') => `
${sni}
common_tls_context:
  ${alpn}
  tls_certificate_sds_secret_configs: [{ name: file-cert:/c.pem~/k.pem, sds_config: agent }]
  combined_validation_context:
    default_validation_context: { match_subject_alt_names: [{ exact: "spiffe://mesh/ns/default/sa/a" }] }
    validation_context_sds_secret_config: { name: file-root:/r.pem, sds_config: agent }`;
const withFiles = {
  node: proxyIn(
    '{ TLS_CLIENT_CERT_CHAIN: /c.pem, TLS_CLIENT_KEY: /k.pem, TLS_CLIENT_ROOT_CERT: /r.pem }',
  ),
};

describe('a cluster without tls in a rule', () => {
  const byEndpoint = (context: string) => `
transport_socket_matches:
  - name: tlsMode-istio
    match: { tlsMode: istio }
    transport_socket:${socket(context, 6)}
  - name: tlsMode-disabled
    match: {}
    transport_socket:
      name: envoy.transport_sockets.raw_buffer
      typed_config: { "@type": type.googleapis.com/envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer }`;

  it.each<[what: string, more: Partial<TlsInputs>, cluster: string]>([
    ['is plain text outside of the mesh', {}, '{}'],
    [
      'asks for mutual TLS of those endpoints that can do it',
      { unruled: 'mutual' },
      byEndpoint(ofMesh()),
    ],
    [
      'says that HTTP/2 follows',
      { unruled: 'mutual', alpn: 'h2' },
      byEndpoint(ofMesh('[istio, h2]')),
    ],
    [
      'asks for mutual TLS of all if no endpoint is known',
      { unruled: 'mutual', destination: 'original' },
      transportSocket(ofMesh()),
    ],
    [
      'shows the certificates of the proxy',
      { unruled: 'mutual', ...withFiles },
      transportSocket(ofProxy('sni: outbound_.80_._.a.mesh')),
    ],
  ])('%s', (_, more, cluster) => {
    expect(clusterOf('', more)).toBe(canonical(cluster));
    expect(tlsOf('', more).names).toBeUndefined();
  });
});

describe('a cluster with tls in a rule', () => {
  it.each<[what: string, tls: string, more: Partial<TlsInputs>, cluster: string]>([
    ['is plain text with DISABLE', '{ mode: DISABLE }', { unruled: 'mutual' }, '{}'],
    ['has that of the mesh', '{ mode: ISTIO_MUTUAL }', {}, transportSocket(ofMesh())],
    [
      'has that of the mesh by other names',
      '{ mode: ISTIO_MUTUAL, sni: b.mesh, subjectAltNames: [c] }',
      {},
      transportSocket(ofMesh('[istio]', 'b.mesh', 'c')),
    ],
    [
      'has that of the mesh with the certificates of the proxy, and the name of the request',
      '{ mode: ISTIO_MUTUAL }',
      { ...withFiles, alpn: 'h2' },
      transportSocket(ofProxy('', 'alpn_protocols: [h2]')),
    ],
    [
      'has that of the mesh outside of it too, whatever certificates the proxy has',
      '{ mode: ISTIO_MUTUAL }',
      { ...withFiles, location: 'external' },
      transportSocket(ofMesh()),
    ],
    [
      'checks with the roots of the machine',
      '{ mode: SIMPLE }',
      {},
      transportSocket(`
common_tls_context:
  combined_validation_context:
    default_validation_context: { match_subject_alt_names: [{ exact: "spiffe://mesh/ns/default/sa/a" }] }
    validation_context_sds_secret_config: { name: file-root:system, sds_config: "agent,1s" }`),
    ],
    [
      'checks with roots, names and revoked certificates of the rule',
      '{ mode: SIMPLE, sni: b.mesh, caCertificates: /r.pem, caCrl: /crl.pem, subjectAltNames: [c, d] }',
      { alpn: 'h2' },
      transportSocket(`
sni: b.mesh
common_tls_context:
  alpn_protocols: [h2]
  combined_validation_context:
    default_validation_context:
      match_subject_alt_names: [{ exact: c }, { exact: d }]
      crl: { filename: /crl.pem }
    validation_context_sds_secret_config: { name: file-root:/r.pem, sds_config: "agent,1s" }`),
    ],
    ...(['Service', 'ConsulService'] as const).map(
      (registry): [what: string, tls: string, more: Partial<TlsInputs>, cluster: string] => [
        `does not check accounts of a ${registry}, whose certificate is not of the mesh`,
        '{ mode: SIMPLE }',
        { registry },
        transportSocket(`
common_tls_context:
  combined_validation_context:
    default_validation_context: {}
    validation_context_sds_secret_config: { name: file-root:system, sds_config: "agent,1s" }`),
      ],
    ),
    [
      'does not check accounts of a Service with a certificate of the rule',
      '{ mode: MUTUAL, clientCertificate: /c.pem, privateKey: /k.pem }',
      { registry: 'Service' },
      transportSocket(`
common_tls_context:
  tls_certificate_sds_secret_configs: [{ name: file-cert:/c.pem~/k.pem, sds_config: "agent,1s" }]
  combined_validation_context:
    default_validation_context: {}
    validation_context_sds_secret_config: { name: file-root:system, sds_config: "agent,1s" }`),
    ],
    [
      'checks accounts of a Service with the certificates of the mesh',
      '{ mode: ISTIO_MUTUAL }',
      { registry: 'Service' },
      transportSocket(ofMesh()),
    ],
    [
      'checks nothing',
      '{ mode: SIMPLE, insecureSkipVerify: true }',
      {},
      transportSocket('common_tls_context:\n  validation_context: {}'),
    ],
    [
      'shows a certificate of the rule',
      '{ mode: MUTUAL, clientCertificate: /c.pem, privateKey: /k.pem, caCertificates: /r.pem }',
      { accounts: [] },
      transportSocket(`
common_tls_context:
  tls_certificate_sds_secret_configs: [{ name: file-cert:/c.pem~/k.pem, sds_config: "agent,1s" }]
  combined_validation_context:
    default_validation_context: {}
    validation_context_sds_secret_config: { name: file-root:/r.pem, sds_config: "agent,1s" }`),
    ],
    [
      'shows the certificate of the proxy instead',
      '{ mode: MUTUAL, clientCertificate: /c2.pem, privateKey: /k2.pem }',
      withFiles,
      transportSocket(ofProxy('')),
    ],
    [
      'has a secret of the control plane',
      '{ mode: MUTUAL, credentialName: shop }',
      { secrets: 'given', accounts: [] },
      transportSocket(`
common_tls_context:
  tls_certificate_sds_secret_configs: [{ name: "kubernetes://shop", sds_config: "ads,1s" }]
  combined_validation_context:
    default_validation_context: {}
    validation_context_sds_secret_config: { name: "kubernetes://shop-cacert", sds_config: "ads,1s" }`),
    ],
    [
      'is plain text if the proxy may not have that secret',
      '{ mode: MUTUAL, credentialName: shop }',
      {},
      '{}',
    ],
  ])('%s', (_, tls, more, cluster) => {
    expect(clusterOf(tls, more)).toBe(canonical(cluster));
  });

  it.each<[tls: string, names: string]>([
    ['{ mode: SIMPLE }', '{ autoSni: true, autoSanValidation: true }'],
    ['{ mode: SIMPLE, subjectAltNames: [a] }', '{ autoSni: true, autoSanValidation: false }'],
    ['{ mode: SIMPLE, insecureSkipVerify: true }', '{ autoSni: true, autoSanValidation: false }'],
    ['{ mode: SIMPLE, sni: b.mesh }', 'none'],
    ['{ mode: ISTIO_MUTUAL }', 'none'],
    ['{ mode: DISABLE }', 'none'],
  ])('takes names of the request with %s: %s', (tls, names) => {
    expect(canonical(JSON.stringify(tlsOf(tls).names ?? 'none'))).toBe(canonical(names));
  });
});
