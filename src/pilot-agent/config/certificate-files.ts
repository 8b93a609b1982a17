import type { ProxyConfig, RemoteService, TlsSettings } from './proxy-config.ts';

/** The files of one side of TLS. An empty text means that there is none. */
export interface TlsFiles {
  readonly chain: string;
  readonly key: string;
  readonly root: string;
}

/** The default paths of a sidecar's certificates. */
const defaultTlsFiles: TlsFiles = {
  chain: '/etc/certs/cert-chain.pem',
  key: '/etc/certs/key.pem',
  root: '/etc/certs/root-cert.pem',
};

/**
 * Returns the files that Envoy reads for a connection with these settings. `given` are the paths of
 * `ISTIO_META_TLS_CLIENT_*`, which win. Pure.
 *
 * The Go agent has swapped the defaults of ISTIO_MUTUAL for chain and root.
 */
function tlsFiles(
  { mode, clientCertificate, privateKey, caCertificates }: TlsSettings,
  given: Partial<TlsFiles>,
): TlsFiles {
  if (mode === 'DISABLE') return { chain: '', key: '', root: '' };
  const standard = mode === 'ISTIO_MUTUAL' ? defaultTlsFiles : { chain: '', key: '', root: '' };
  const authority = caCertificates === '' ? standard.root : caCertificates;
  const root = authority === '' ? '' : (given.root ?? authority);
  if (mode === 'SIMPLE') return { chain: '', key: '', root };
  return {
    chain: given.chain ?? (clientCertificate === '' ? standard.chain : clientCertificate),
    key: given.key ?? (privateKey === '' ? standard.key : privateKey),
    root,
  };
}

interface ControlPlaneFilesInputs {
  /** The paths in `ISTIO_META_TLS_CLIENT_*`. */
  readonly client: Partial<TlsFiles>;
  /** `PROV_CERT`; empty for none. */
  readonly provCert: string;
  /** `PILOT_CERT_PROVIDER`. */
  readonly pilotCertProvider: string | undefined;
}

/**
 * The path of istiod's CA, by the issuer of istiod's certificate (`PILOT_CERT_PROVIDER`), below the
 * working directory, as in the Go agent 1.6.
 */
export const caFiles = {
  istiod: './var/run/secrets/istio/root-cert.pem',
  kubernetes: './var/run/secrets/kubernetes.io/serviceaccount/ca.crt',
  /** For the certificate authority only: Envoy has the client's own CA at this path. */
  custom: './etc/certs/root-cert.pem',
} as const;

/**
 * Returns the certificate and key that prove this proxy's identity to the control plane, and the CA
 * that verifies the control plane.
 *
 * A folder of provisioned certificates comes first, then the client's own files. If a provider is
 * named, it decides about the CA. (The Go agent 1.5 without SDS uses the client's own three. 1.6
 * assumes `istiod`, and has no CA at all for `custom`.) Pure.
 */
function controlPlaneFiles({
  client,
  provCert,
  pilotCertProvider,
}: ControlPlaneFilesInputs): TlsFiles {
  if (provCert !== '') {
    return {
      chain: `${provCert}/cert-chain.pem`,
      key: `${provCert}/key.pem`,
      root: `${provCert}/root-cert.pem`,
    };
  }
  const clientFiles = { ...defaultTlsFiles, ...client };
  const isKnown = pilotCertProvider === 'istiod' || pilotCertProvider === 'kubernetes';
  return isKnown ? { ...clientFiles, root: caFiles[pilotCertProvider] } : clientFiles;
}

/** The files that Envoy reads, by their use. */
interface EnvoyFiles {
  /**
   * Pairs of certificate and key that are checked before a restart, with the CA beside them, which
   * is empty if there is none.
   */
  readonly certificates: readonly TlsFiles[];
  /**
   * The files whose change restarts Envoy: those of all pairs, and CAs without a pair. Each path
   * once.
   */
  readonly watched: readonly string[];
  /**
   * The files that the first start waits for: those that a variable names, and those that TLS to
   * the control plane or to a service needs. Each path once.
   */
  readonly awaited: readonly string[];
}

export interface CertificateFiles extends EnvoyFiles {
  /** The files for TLS to the control plane, if it uses TLS. */
  readonly controlPlaneTls: TlsFiles;
  /** The workload's own, as a server and as a client. */
  readonly own: { readonly server: TlsFiles; readonly client: TlsFiles };
  /**
   * The files that Envoy still reads if the certificates of the workload are pushed to it: those of
   * the services that it reports to.
   */
  readonly besidePushed: EnvoyFiles;
}

export interface CertificateInputs {
  readonly config: Pick<
    ProxyConfig,
    'controlPlaneAuthPolicy' | 'envoyMetricsService' | 'envoyAccessLogService'
  >;
  /** The paths in `ISTIO_META_TLS_*`. */
  readonly server: Partial<TlsFiles>;
  readonly client: Partial<TlsFiles>;
  readonly provCert: string;
  readonly pilotCertProvider: string | undefined;
}

/** Returns the certificate files of a configuration. Pure. */
export function certificateFiles({
  config,
  server,
  client,
  provCert,
  pilotCertProvider,
}: CertificateInputs): CertificateFiles {
  const { controlPlaneAuthPolicy, envoyMetricsService, envoyAccessLogService } = config;
  const ownFiles = {
    server: { ...defaultTlsFiles, ...server },
    client: { ...defaultTlsFiles, ...client },
  };
  const sides = [ownFiles.server, ownFiles.client];
  const controlPlaneTls = controlPlaneFiles({ client, provCert, pilotCertProvider });
  const services = [envoyMetricsService, envoyAccessLogService].flatMap((service) =>
    filesOf(service, client),
  );
  const connections = [
    ...(controlPlaneAuthPolicy === 'MUTUAL_TLS' ? [controlPlaneTls] : []),
    ...services,
  ];
  return {
    controlPlaneTls,
    own: ownFiles,
    certificates: pairs([...sides, ...connections]),
    watched: paths([...sides, ...connections]),
    awaited: paths([server, client, ...connections]),
    besidePushed: {
      certificates: pairs(services),
      watched: paths(services),
      awaited: paths(services),
    },
  };
}

function filesOf(
  service: RemoteService | undefined,
  client: Partial<TlsFiles>,
): readonly TlsFiles[] {
  return service?.tlsSettings === undefined || service.address === ''
    ? []
    : [tlsFiles(service.tlsSettings, client)];
}

function pairs(files: readonly TlsFiles[]): readonly TlsFiles[] {
  const complete = files.filter(({ chain, key }) => chain !== '' && key !== '');
  return complete.filter(
    (pair, index) => !complete.slice(0, index).some((earlier) => isSame(pair, earlier)),
  );
}

function isSame(left: TlsFiles, right: TlsFiles): boolean {
  return left.chain === right.chain && left.key === right.key && left.root === right.root;
}

function paths(files: readonly Partial<TlsFiles>[]): readonly string[] {
  return [
    ...new Set(files.flatMap(({ chain = '', key = '', root = '' }) => [chain, key, root])),
  ].filter((path) => path !== '');
}
