import type { MeshConfig } from '../../istio/mesh-config.ts';
import { TlsParameters_TlsProtocol as TlsProtocol } from '../../../shared/proto/envoy/extensions/transport_sockets/tls/v3/common_pb.ts';
import { DownstreamTlsContextSchema } from '../../../shared/proto/envoy/extensions/transport_sockets/tls/v3/tls_pb.ts';
import type { IngressTls, TlsVersion } from '../../istio/sidecar.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { certificateInFiles, rootInFile, workloadCertificate, workloadRoot } from './sds-secret.ts';
import { typedConfig, type TypedConfig } from '../encoding/typed-config.ts';

/** The socket of a chain that takes mutual TLS of the mesh. */
export function mutualTls({ trustDomain }: MeshConfig, { tls }: ProxyNode): TypedConfig {
  const { serverCertChain, serverKey, serverRootCert } = tls;
  return typedConfig('envoy.transport_sockets.tls', DownstreamTlsContextSchema, {
    commonTlsContext: {
      tlsParams: {
        tlsMinimumProtocolVersion: TlsProtocol.TLSv1_2,
        tlsMaximumProtocolVersion: TlsProtocol.TLSv1_3,
        cipherSuites: [
          'ECDHE-ECDSA-AES256-GCM-SHA384',
          'ECDHE-RSA-AES256-GCM-SHA384',
          'ECDHE-ECDSA-AES128-GCM-SHA256',
          'ECDHE-RSA-AES128-GCM-SHA256',
          'AES256-GCM-SHA384',
          'AES128-GCM-SHA256',
        ],
      },
      tlsCertificateSdsSecretConfigs: [
        serverCertChain === '' || serverKey === ''
          ? workloadCertificate()
          : certificateInFiles(serverCertChain, serverKey, 'workload'),
      ],
      validationContextType: {
        case: 'combinedValidationContext',
        value: {
          defaultValidationContext: {
            matchSubjectAltNames: [
              { matchPattern: { case: 'prefix', value: `spiffe://${trustDomain}/` } },
            ],
          },
          validationContextSdsSecretConfig:
            serverRootCert === '' ? workloadRoot() : rootInFile(serverRootCert, 'workload'),
        },
      },
      alpnProtocols: ['h2', 'http/1.1'],
    },
    requireClientCertificate: true,
  });
}

const versions: Readonly<Record<TlsVersion, TlsProtocol>> = {
  auto: TlsProtocol.TLS_AUTO,
  '1.0': TlsProtocol.TLSv1_0,
  '1.1': TlsProtocol.TLSv1_1,
  '1.2': TlsProtocol.TLSv1_2,
  '1.3': TlsProtocol.TLSv1_3,
};

/** The socket of a chain that takes the TLS of a port of a Sidecar. */
export function ownTls(tls: IngressTls): TypedConfig {
  const {
    mode,
    serverCertificate,
    privateKey,
    caCertificates,
    caCrl,
    verifyCertificateHash,
    minimum,
    maximum,
    cipherSuites,
  } = tls;
  const isUsual = minimum === 'auto' && maximum === 'auto' && cipherSuites.length === 0;
  return typedConfig('envoy.transport_sockets.tls', DownstreamTlsContextSchema, {
    commonTlsContext: {
      ...(!isUsual && {
        tlsParams: {
          tlsMinimumProtocolVersion: versions[minimum],
          tlsMaximumProtocolVersion: versions[maximum],
          cipherSuites: [...cipherSuites],
        },
      }),
      tlsCertificateSdsSecretConfigs: [certificateInFiles(serverCertificate, privateKey, 'rule')],
      ...(mode === 'mutual' && {
        validationContextType: {
          case: 'combinedValidationContext',
          value: {
            defaultValidationContext: {
              verifyCertificateHash: [...verifyCertificateHash],
              ...(caCrl !== '' && { crl: { specifier: { case: 'filename', value: caCrl } } }),
            },
            validationContextSdsSecretConfig: rootInFile(caCertificates, 'rule'),
          },
        },
      }),
      alpnProtocols: ['h2', 'http/1.1'],
    },
    requireClientCertificate: mode === 'mutual',
  });
}
