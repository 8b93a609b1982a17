import type { ClientTls } from '../../istio/traffic/destination-rule.ts';
import type { RegistryName } from '../../environment/environment.ts';
import type { ClusterSchema } from '../../../shared/proto/envoy/config/cluster/v3/cluster_pb.ts';
import { RawBufferSchema } from '../../../shared/proto/envoy/extensions/transport_sockets/raw_buffer/v3/raw_buffer_pb.ts';
import {
  TlsParameters_TlsProtocol as TlsProtocol,
  type CertificateValidationContextSchema,
  type SdsSecretConfigSchema,
} from '../../../shared/proto/envoy/extensions/transport_sockets/tls/v3/common_pb.ts';
import {
  UpstreamTlsContextSchema,
  type CommonTlsContextSchema,
} from '../../../shared/proto/envoy/extensions/transport_sockets/tls/v3/tls_pb.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import {
  certificateInFiles,
  credentialSecret,
  rootInFile,
  workloadCertificate,
  workloadRoot,
} from './sds-secret.ts';
import { typedConfig, type Init, type TypedConfig } from '../encoding/typed-config.ts';

type Cluster = Init<typeof ClusterSchema>;
type SdsSecret = Init<typeof SdsSecretConfigSchema>;
type Validation = NonNullable<Init<typeof CommonTlsContextSchema>['validationContextType']>;

/** The properties of a cluster that affect the encryption of its connections. */
export interface TlsInputs {
  readonly tls: ClientTls | undefined;
  /**
   * The TLS if no rule sets it. `mutual`: both sides are in the mesh, and nothing disables mutual
   * TLS, which is used if an endpoint supports it.
   */
  readonly unruled: 'mutual' | 'plain';
  /** `original`: the endpoint is the address that the client has called. */
  readonly destination: 'listed' | 'original';
  /** The ALPN protocol besides those of the mesh. */
  readonly alpn: 'h2' | 'nothing';
  /**
   * The server name (SNI) that identifies the cluster to the side that terminates TLS:
   * `outbound_.80_.v1_.reviews.default.svc.cluster.local`
   */
  readonly sni: string;
  /** The names in the certificates of the endpoints, if a rule has none. */
  readonly accounts: readonly string[];
  /**
   * The origin of the service. The accounts of a ServiceEntry also apply to TLS that is not that of
   * the mesh, as in istiod; the endpoints of other services may have any other certificate then.
   */
  readonly registry: RegistryName;
  readonly node: Pick<ProxyNode, 'tls' | 'credentials'>;
  /** Whether the service is in the mesh. */
  readonly location: 'external' | 'internal';
  /** Whether the proxy may request secrets from the control plane. */
  readonly secrets: 'given' | 'refused';
}

/** The encryption of the connections of a cluster. */
export interface UpstreamTls {
  readonly cluster: Cluster;
  /** The names that are taken from an HTTP request; undefined if none is. */
  readonly names: { readonly autoSni: boolean; readonly autoSanValidation: boolean } | undefined;
}

/** Returns the sockets of a cluster: one, or one for each way to connect to an endpoint. */
export function upstreamTls(inputs: TlsInputs): UpstreamTls {
  const { tls, unruled, node, sni, accounts } = inputs;
  const files = filesOf(node);
  if (tls === undefined) {
    if (unruled === 'plain') return plain;
    if (files !== undefined)
      return {
        cluster: { transportSocket: mutual(inputs, files, accounts, sni) },
        names: undefined,
      };
    const socket = mutual(inputs, ofWorkload, accounts, sni);
    return {
      cluster: inputs.destination === 'original' ? { transportSocket: socket } : byEndpoint(socket),
      names: undefined,
    };
  }
  const ruled = tls.subjectAltNames;
  const inMesh = ruled.length > 0 ? ruled : accounts;
  const names = inputs.registry === 'ServiceEntry' ? inMesh : ruled;
  switch (tls.mode) {
    case 'disable':
    case 'closed':
      return plain;
    case 'istio-mutual':
      if (files !== undefined && inputs.location === 'internal')
        return {
          cluster: { transportSocket: mutual(inputs, files, inMesh, tls.sni) },
          names: fromRequest(tls),
        };
      return {
        cluster: {
          transportSocket: mutual(inputs, ofWorkload, inMesh, tls.sni === '' ? sni : tls.sni),
        },
        names: undefined,
      };
    case 'mutual':
      if (files !== undefined)
        return {
          cluster: { transportSocket: mutual(inputs, files, names, tls.sni) },
          names: fromRequest(tls),
        };
      return originated(inputs, tls, names);
    case 'simple':
      return originated(inputs, tls, names);
  }
}

const plain: UpstreamTls = { cluster: {}, names: undefined };

/** The certificate of one side, and the roots by which it verifies the other. */
interface Secrets {
  readonly certificate: SdsSecret;
  readonly root: SdsSecret;
  readonly alpn: readonly string[];
}

const ofWorkload: Secrets = {
  certificate: workloadCertificate(),
  root: workloadRoot(),
  alpn: ['istio'],
};

function filesOf({ tls }: Pick<ProxyNode, 'tls'>): Secrets | undefined {
  if (tls.clientCertChain === '') return undefined;
  return {
    certificate: certificateInFiles(tls.clientCertChain, tls.clientKey, 'workload'),
    root: rootInFile(tls.clientRootCert, 'workload'),
    alpn: [],
  };
}

function mutual(
  inputs: TlsInputs,
  { certificate, root, alpn }: Secrets,
  names: readonly string[],
  sni: string,
): TypedConfig {
  return socketOf({
    certificates: [certificate],
    validation: checked(root, names, ''),
    alpn: inputs.alpn === 'h2' ? [...alpn, 'h2'] : alpn,
    sni,
  });
}

/** Returns TLS as a rule configures it; no TLS if this proxy may not have the secret. */
function originated(
  { alpn, secrets, node: { credentials } }: TlsInputs,
  tls: ClientTls,
  names: readonly string[],
): UpstreamTls {
  const { credentialName } = tls;
  if (credentialName !== '' && secrets === 'refused') return plain;
  const certificate =
    credentialName === ''
      ? certificateInFiles(tls.clientCertificate, tls.privateKey, 'rule')
      : credentialSecret(credentials, credentialName);
  const root =
    credentialName === ''
      ? rootInFile(tls.caCertificates || 'system', 'rule')
      : credentialSecret(credentials, `${credentialName}-cacert`);
  const transportSocket = socketOf({
    certificates: tls.mode === 'mutual' ? [certificate] : [],
    validation: tls.insecureSkipVerify
      ? { case: 'validationContext', value: {} }
      : checked(root, names, tls.caCrl),
    alpn: alpn === 'h2' ? ['h2'] : [],
    sni: tls.sni,
  });
  return { cluster: { transportSocket }, names: fromRequest(tls) };
}

/**
 * Takes the server name from the request if no rule sets it, and with it the name in the
 * certificate.
 */
function fromRequest({
  sni,
  subjectAltNames,
  insecureSkipVerify,
}: ClientTls): UpstreamTls['names'] {
  if (sni !== '') return undefined;
  return { autoSni: true, autoSanValidation: subjectAltNames.length === 0 && !insecureSkipVerify };
}

function checked(root: SdsSecret, names: readonly string[], crl: string): Validation {
  const defaultValidationContext: Init<typeof CertificateValidationContextSchema> = {
    matchSubjectAltNames: names.map((value) => ({ matchPattern: { case: 'exact', value } })),
    ...(crl !== '' && { crl: { specifier: { case: 'filename', value: crl } } }),
  };
  return {
    case: 'combinedValidationContext',
    value: { defaultValidationContext, validationContextSdsSecretConfig: root },
  };
}

interface Socket {
  readonly certificates: SdsSecret[];
  readonly validation: Validation;
  readonly alpn: readonly string[];
  readonly sni: string;
}

function socketOf({ certificates, validation, alpn, sni }: Socket): TypedConfig {
  return typedConfig('envoy.transport_sockets.tls', UpstreamTlsContextSchema, {
    sni,
    commonTlsContext: {
      tlsParams: {
        tlsMinimumProtocolVersion: TlsProtocol.TLSv1_2,
        tlsMaximumProtocolVersion: TlsProtocol.TLSv1_3,
      },
      tlsCertificateSdsSecretConfigs: certificates,
      validationContextType: validation,
      alpnProtocols: [...alpn],
    },
  });
}

/** Uses mutual TLS with the endpoints that are marked for it, and plain text with the others. */
const byEndpoint = (transportSocket: TypedConfig): Cluster => ({
  transportSocketMatches: [
    { name: 'tlsMode-istio', match: { tlsMode: 'istio' }, transportSocket },
    {
      name: 'tlsMode-disabled',
      match: {},
      transportSocket: typedConfig('envoy.transport_sockets.raw_buffer', RawBufferSchema),
    },
  ],
});
