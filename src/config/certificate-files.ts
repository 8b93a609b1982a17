import type { ProxyConfig, RemoteService } from './proxy-config.ts';
import { controlPlaneFiles } from './control-plane-files.ts';
import { defaultTlsFiles, type TlsFiles, tlsFiles } from './tls-files.ts';

/** The files that Envoy reads, by what they are needed for. */
interface EnvoyFiles {
  /** Pairs of certificate and key that are checked before a restart, with the CA beside them if there is one (else it is empty). */
  readonly certificates: readonly TlsFiles[];
  /** What Envoy is restarted for: the files of all pairs, and CAs without a pair. Each path once. */
  readonly watched: readonly string[];
  /** What the first start waits for: what a variable names, the control plane's TLS needs, or a service's. Each path once. */
  readonly awaited: readonly string[];
}

/** The certificates of an agent. */
export interface CertificateFiles extends EnvoyFiles {
  /** What the control plane's TLS is made of, where it has any. */
  readonly controlPlaneTls: TlsFiles;
  /** The workload's own, as a server and as a client. */
  readonly own: { readonly server: TlsFiles; readonly client: TlsFiles };
  /** What is left for Envoy to read where the certificates of the workload are pushed to it: those of the services that it reports to. */
  readonly besidePushed: EnvoyFiles;
}

export interface CertificateInputs {
  readonly config: Pick<ProxyConfig, 'controlPlaneAuthPolicy' | 'envoyMetricsService' | 'envoyAccessLogService'>;
  /** What `ISTIO_META_TLS_*` names. */
  readonly server: Partial<TlsFiles>;
  readonly client: Partial<TlsFiles>;
  readonly provCert: string;
  readonly pilotCertProvider: string | undefined;
}

/** The certificate files of a configuration. Pure. */
export function certificateFiles({ config, server, client, provCert, pilotCertProvider }: CertificateInputs): CertificateFiles {
  const { controlPlaneAuthPolicy, envoyMetricsService, envoyAccessLogService } = config;
  const both = { server: { ...defaultTlsFiles, ...server }, client: { ...defaultTlsFiles, ...client } };
  const own = [both.server, both.client];
  const controlPlaneTls = controlPlaneFiles({ client, provCert, pilotCertProvider });
  const services = [envoyMetricsService, envoyAccessLogService].flatMap((service) => filesOf(service, client));
  const connections = [...(controlPlaneAuthPolicy === 'MUTUAL_TLS' ? [controlPlaneTls] : []), ...services];
  return {
    controlPlaneTls,
    own: both,
    certificates: pairs([...own, ...connections]),
    watched: paths([...own, ...connections]),
    awaited: paths([server, client, ...connections]),
    besidePushed: { certificates: pairs(services), watched: paths(services), awaited: paths(services) },
  };
}

function filesOf(service: RemoteService | undefined, client: Partial<TlsFiles>): readonly TlsFiles[] {
  return service?.tlsSettings === undefined || service.address === '' ? [] : [tlsFiles(service.tlsSettings, client)];
}

function pairs(files: readonly TlsFiles[]): readonly TlsFiles[] {
  const found = files.filter(({ chain, key }) => chain !== '' && key !== '');
  return found.filter((pair, at) => !found.slice(0, at).some((other) => isSame(pair, other)));
}

function isSame(one: TlsFiles, other: TlsFiles): boolean {
  return one.chain === other.chain && one.key === other.key && one.root === other.root;
}

function paths(files: readonly Partial<TlsFiles>[]): readonly string[] {
  return [...new Set(files.flatMap(({ chain = '', key = '', root = '' }) => [chain, key, root]))].filter((path) => path !== '');
}
