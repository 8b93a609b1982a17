import type { ProxyConfig, RemoteService, TlsSettings } from './proxy-config.ts';

/** The files of one side of TLS. An empty text where there is none. */
export interface TlsFiles {
  readonly chain: string;
  readonly key: string;
  readonly root: string;
}

/** Where a sidecar has its certificates without a word to the contrary. */
const defaultTlsFiles: TlsFiles = {
  chain: '/etc/certs/cert-chain.pem',
  key: '/etc/certs/key.pem',
  root: '/etc/certs/root-cert.pem',
};

/**
 * The files that Envoy reads for a connection with these settings, where `given` are the paths of
 * `ISTIO_META_TLS_CLIENT_*`, which win. Pure.
 *
 * The Go agent has the defaults of ISTIO_MUTUAL for chain and root the wrong way round.
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
  /** What `ISTIO_META_TLS_CLIENT_*` name. */
  readonly client: Partial<TlsFiles>;
  /** `PROV_CERT`; empty for none. */
  readonly provCert: string;
  /** `PILOT_CERT_PROVIDER`. */
  readonly pilotCertProvider: string | undefined;
}

/**
 * Where the CA of istiod is by who has issued istiod's certificate (`PILOT_CERT_PROVIDER`), below
 * the working directory, as in the Go agent 1.6.
 */
export const caFiles = {
  istiod: './var/run/secrets/istio/root-cert.pem',
  kubernetes: './var/run/secrets/kubernetes.io/serviceaccount/ca.crt',
  /** For the certificate authority only: Envoy has the client's own CA there. */
  custom: './etc/certs/root-cert.pem',
} as const;

/**
 * The certificate and key by which this proxy proves to the control plane who it is, and the CA by
 * which it knows the control plane.
 *
 * A folder of provisioned certificates comes first, then the client's own files; a provider that is
 * named decides about the CA. (The Go agent 1.5 without SDS: the client's own three. 1.6 takes
 * `istiod` for granted, and has no CA at all for `custom`.) Pure.
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
  const own = { ...defaultTlsFiles, ...client };
  const isKnown = pilotCertProvider === 'istiod' || pilotCertProvider === 'kubernetes';
  return isKnown ? { ...own, root: caFiles[pilotCertProvider] } : own;
}

/** The files that Envoy reads, by what they are needed for. */
interface EnvoyFiles {
  /**
   * Pairs of certificate and key that are checked before a restart, with the CA beside them if
   * there is one (else it is empty).
   */
  readonly certificates: readonly TlsFiles[];
  /**
   * What Envoy is restarted for: the files of all pairs, and CAs without a pair. Each path once.
   */
  readonly watched: readonly string[];
  /**
   * What the first start waits for: what a variable names, the control plane's TLS needs, or a
   * service's. Each path once.
   */
  readonly awaited: readonly string[];
}

/** The certificates of an agent. */
export interface CertificateFiles extends EnvoyFiles {
  /** What the control plane's TLS is made of, where it has any. */
  readonly controlPlaneTls: TlsFiles;
  /** The workload's own, as a server and as a client. */
  readonly own: { readonly server: TlsFiles; readonly client: TlsFiles };
  /**
   * What is left for Envoy to read where the certificates of the workload are pushed to it: those
   * of the services that it reports to.
   */
  readonly besidePushed: EnvoyFiles;
}

export interface CertificateInputs {
  readonly config: Pick<
    ProxyConfig,
    'controlPlaneAuthPolicy' | 'envoyMetricsService' | 'envoyAccessLogService'
  >;
  /** What `ISTIO_META_TLS_*` names. */
  readonly server: Partial<TlsFiles>;
  readonly client: Partial<TlsFiles>;
  readonly provCert: string;
  readonly pilotCertProvider: string | undefined;
}

/** The certificate files of a configuration. Pure. */
export function certificateFiles({
  config,
  server,
  client,
  provCert,
  pilotCertProvider,
}: CertificateInputs): CertificateFiles {
  const { controlPlaneAuthPolicy, envoyMetricsService, envoyAccessLogService } = config;
  const both = {
    server: { ...defaultTlsFiles, ...server },
    client: { ...defaultTlsFiles, ...client },
  };
  const own = [both.server, both.client];
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
    own: both,
    certificates: pairs([...own, ...connections]),
    watched: paths([...own, ...connections]),
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
  const found = files.filter(({ chain, key }) => chain !== '' && key !== '');
  return found.filter((pair, at) => !found.slice(0, at).some((other) => isSame(pair, other)));
}

function isSame(one: TlsFiles, other: TlsFiles): boolean {
  return one.chain === other.chain && one.key === other.key && one.root === other.root;
}

function paths(files: readonly Partial<TlsFiles>[]): readonly string[] {
  return [
    ...new Set(files.flatMap(({ chain = '', key = '', root = '' }) => [chain, key, root])),
  ].filter((path) => path !== '');
}
