import type { MeshConfig } from '../../istio/mesh/mesh-config.ts';
import {
  type SdsSecretConfigSchema,
  TlsParameters_TlsProtocol as TlsProtocol,
} from '../../../shared/proto/envoy/extensions/transport_sockets/tls/v3/common_pb.ts';
import { DownstreamTlsContextSchema } from '../../../shared/proto/envoy/extensions/transport_sockets/tls/v3/tls_pb.ts';
import type { ServerCertificate, TerminatedTls } from '../../istio/workloads/gateway.ts';
import type { IngressTls, TlsVersion } from '../../istio/workloads/sidecar.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import {
  certificateInFiles,
  rootInFile,
  credentialSecret,
  workloadCertificate,
  workloadRoot,
} from './sds-secret.ts';
import { stringMatcher } from '../encoding/string-matcher.ts';
import { type Init, typedConfig, type TypedConfig } from '../encoding/typed-config.ts';

/** Returns the socket of a chain that terminates mutual TLS of the mesh. */
export function mutualTls({ trustDomain }: MeshConfig, { tls }: ProxyNode): TypedConfig {
  const { pair, root } = workloadSecrets(tls);
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
      tlsCertificateSdsSecretConfigs: [pair],
      validationContextType: {
        case: 'combinedValidationContext',
        value: {
          defaultValidationContext: {
            matchSubjectAltNames: [
              { matchPattern: { case: 'prefix', value: `spiffe://${trustDomain}/` } },
            ],
          },
          validationContextSdsSecretConfig: root,
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

type Parameters = Pick<IngressTls, 'minimum' | 'maximum' | 'cipherSuites'>;

/** Returns the parameters of TLS; none if all are Envoy's defaults. */
const parametersOf = ({ minimum, maximum, cipherSuites }: Parameters) =>
  minimum === 'auto' && maximum === 'auto' && cipherSuites.length === 0
    ? {}
    : {
        tlsParams: {
          tlsMinimumProtocolVersion: versions[minimum],
          tlsMaximumProtocolVersion: versions[maximum],
          cipherSuites: [...cipherSuites],
        },
      };

/** Returns the socket of a chain that terminates TLS at a gateway. */
export function gatewayTls(
  node: Pick<ProxyNode, 'tls' | 'credentials'>,
  { mode, certificate, client, ...parameters }: TerminatedTls,
  alpnProtocols: string[],
): TypedConfig {
  const { pair, root } = secretsOf(node, certificate);
  return typedConfig('envoy.transport_sockets.tls', DownstreamTlsContextSchema, {
    commonTlsContext: {
      ...parametersOf(parameters),
      tlsCertificateSdsSecretConfigs: [pair],
      ...(mode !== 'simple' && {
        validationContextType: {
          case: 'combinedValidationContext',
          value: {
            defaultValidationContext: {
              matchSubjectAltNames: client.subjectAltNames.map((value) =>
                stringMatcher({ type: 'exact', value }),
              ),
              verifyCertificateHash: [...client.hashes],
              verifyCertificateSpki: [...client.keyHashes],
              ...(client.crl !== '' && {
                crl: { specifier: { case: 'filename', value: client.crl } },
              }),
            },
            validationContextSdsSecretConfig: root,
          },
        },
      }),
      alpnProtocols,
    },
    requireClientCertificate: mode === 'mutual' || mode === 'istio-mutual',
  });
}

/** The certificate of a server, and the roots by which it verifies clients. */
interface ServerSecrets {
  readonly pair: Init<typeof SdsSecretConfigSchema>;
  readonly root: Init<typeof SdsSecretConfigSchema>;
}

const workloadSecrets = ({
  serverCertChain,
  serverKey,
  serverRootCert,
}: ProxyNode['tls']): ServerSecrets => ({
  pair:
    serverCertChain === '' || serverKey === ''
      ? workloadCertificate()
      : certificateInFiles(serverCertChain, serverKey, 'workload'),
  root: serverRootCert === '' ? workloadRoot() : rootInFile(serverRootCert, 'workload'),
});

function secretsOf(
  { tls, credentials }: Pick<ProxyNode, 'tls' | 'credentials'>,
  certificate: ServerCertificate,
): ServerSecrets {
  switch (certificate.type) {
    case 'workload':
      return workloadSecrets(tls);
    case 'credential':
      return {
        pair: credentialSecret(credentials, certificate.name),
        root: credentialSecret(credentials, `${certificate.name}-cacert`),
      };
    case 'files':
      return {
        pair: certificateInFiles(certificate.chain, certificate.key, 'rule'),
        root: rootInFile(certificate.roots, 'rule'),
      };
  }
}

/** Returns the socket of a chain that terminates the TLS of a port of a Sidecar. */
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
  return typedConfig('envoy.transport_sockets.tls', DownstreamTlsContextSchema, {
    commonTlsContext: {
      ...parametersOf({ minimum, maximum, cipherSuites }),
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
