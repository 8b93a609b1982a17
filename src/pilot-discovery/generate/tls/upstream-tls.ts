import type { ClientTls } from '../../istio/destination-rule.ts';
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
  rootInFile,
  secretOfControlPlane,
  workloadCertificate,
  workloadRoot,
} from './sds-secret.ts';
import { typedConfig, type Init, type TypedConfig } from '../encoding/typed-config.ts';

type Cluster = Init<typeof ClusterSchema>;
type SdsSecret = Init<typeof SdsSecretConfigSchema>;
type Validation = NonNullable<Init<typeof CommonTlsContextSchema>['validationContextType']>;

/** What a cluster is, as far as its connections are encrypted by it. */
export interface TlsInputs {
  readonly tls: ClientTls | undefined;
  /**
   * What holds if no rule says it. `mutual`: both sides are in the mesh, and nothing speaks against
   * mutual TLS, which is used where an endpoint can do it.
   */
  readonly unruled: 'mutual' | 'plain';
  /** `original`: the endpoint is the address that the client has asked for. */
  readonly destination: 'listed' | 'original';
  /** What is asked for by ALPN beside what the mesh has. */
  readonly alpn: 'h2' | 'nothing';
  /**
   * By which a cluster is told where TLS ends:
   * `outbound_.80_.v1_.reviews.default.svc.cluster.local`
   */
  readonly sni: string;
  /** Names in the certificates of the endpoints, where a rule says none. */
  readonly accounts: readonly string[];
  readonly node: Pick<ProxyNode, 'tls'>;
  /** Whether the service is in the mesh. */
  readonly location: 'external' | 'internal';
  /** Whether the proxy may ask the control plane for secrets. */
  readonly secrets: 'given' | 'refused';
}

/** How the connections of a cluster are encrypted. */
export interface UpstreamTls {
  readonly cluster: Cluster;
  /** What is taken from the request of HTTP; undefined where nothing is. */
  readonly names: { readonly autoSni: boolean; readonly autoSanValidation: boolean } | undefined;
}

/** The sockets of a cluster: one, or one for each way that an endpoint may be spoken to. */
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
  const names = tls.subjectAltNames.length > 0 ? tls.subjectAltNames : accounts;
  switch (tls.mode) {
    case 'disable':
    case 'closed':
      return plain;
    case 'istio-mutual':
      if (files !== undefined && inputs.location === 'internal')
        return {
          cluster: { transportSocket: mutual(inputs, files, names, tls.sni) },
          names: fromRequest(tls),
        };
      return {
        cluster: {
          transportSocket: mutual(inputs, ofWorkload, names, tls.sni === '' ? sni : tls.sni),
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

/** What a side shows, and by what it checks the other. */
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

function filesOf({ tls }: TlsInputs['node']): Secrets | undefined {
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

/** TLS as a rule describes it; none where its secret is one that this proxy is not given. */
function originated(
  { alpn, secrets }: TlsInputs,
  tls: ClientTls,
  names: readonly string[],
): UpstreamTls {
  const { credentialName } = tls;
  if (credentialName !== '' && secrets === 'refused') return plain;
  const secret = credentialName.includes('://') ? credentialName : `kubernetes://${credentialName}`;
  const certificate =
    credentialName === ''
      ? certificateInFiles(tls.clientCertificate, tls.privateKey, 'rule')
      : secretOfControlPlane(secret);
  const root =
    credentialName === ''
      ? rootInFile(tls.caCertificates || 'system', 'rule')
      : secretOfControlPlane(`${secret}-cacert`);
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

/** A name that no rule says is that of the request, and so is the one in the certificate. */
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

/** Mutual TLS with the endpoints that say that they can do it, plain text with the others. */
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
