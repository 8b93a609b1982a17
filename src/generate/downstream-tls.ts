import type { MeshConfig } from '../mesh/mesh-config.ts';
import { ApiConfigSource_ApiType as ApiType, ApiVersion, type ConfigSourceSchema } from '../proto/envoy/config/core/v3/config_source_pb.ts';
import {
  TlsParameters_TlsProtocol as TlsProtocol,
  type SdsSecretConfigSchema,
} from '../proto/envoy/extensions/transport_sockets/tls/v3/common_pb.ts';
import { DownstreamTlsContextSchema } from '../proto/envoy/extensions/transport_sockets/tls/v3/tls_pb.ts';
import type { ProxyNode } from './proxy-node.ts';
import { typedConfig, type TypedConfig, type Init } from './typed-config.ts';

type SdsSecret = Init<typeof SdsSecretConfigSchema>;

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
        serverCertChain === '' || serverKey === '' ? workloadSecret('default') : fileSecret(`file-cert:${serverCertChain}~${serverKey}`),
      ],
      validationContextType: {
        case: 'combinedValidationContext',
        value: {
          defaultValidationContext: {
            matchSubjectAltNames: [{ matchPattern: { case: 'prefix', value: `spiffe://${trustDomain}/` } }],
          },
          validationContextSdsSecretConfig: serverRootCert === '' ? workloadSecret('ROOTCA') : fileSecret(`file-root:${serverRootCert}`),
        },
      },
      alpnProtocols: ['h2', 'http/1.1'],
    },
    requireClientCertificate: true,
  });
}

/** A secret of the agent, for which Envoy waits as long as it takes. */
const workloadSecret = (name: string): SdsSecret => ({ name, sdsConfig: { ...sdsConfig, initialFetchTimeout: {} } });

const fileSecret = (name: string): SdsSecret => ({ name, sdsConfig });

const sdsConfig: Init<typeof ConfigSourceSchema> = {
  configSourceSpecifier: {
    case: 'apiConfigSource',
    value: {
      apiType: ApiType.GRPC,
      transportApiVersion: ApiVersion.V3,
      grpcServices: [{ targetSpecifier: { case: 'envoyGrpc', value: { clusterName: 'sds-grpc' } } }],
      setNodeOnFirstMessageOnly: true,
    },
  },
  resourceApiVersion: ApiVersion.V3,
};
