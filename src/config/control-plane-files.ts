import { defaultTlsFiles, type TlsFiles } from './tls-files.ts';

export interface ControlPlaneFilesInputs {
  /** What `ISTIO_META_TLS_CLIENT_*` name. */
  readonly client: Partial<TlsFiles>;
  /** `PROV_CERT`; empty for none. */
  readonly provCert: string;
  /** `PILOT_CERT_PROVIDER`. */
  readonly pilotCertProvider: string | undefined;
}

/** Where the Go agent 1.6 finds the CA of a control plane by who has issued that certificate, below the working directory. */
const authorities = new Map([
  ['istiod', './var/run/secrets/istio/root-cert.pem'],
  ['kubernetes', './var/run/secrets/kubernetes.io/serviceaccount/ca.crt'],
]);

/**
 * The certificate and key by which this proxy proves to the control plane who it is, and the CA by which it knows the control plane.
 *
 * A folder of provisioned certificates comes first, then the client's own files; a provider that is named decides about the CA. (The Go agent 1.5 without SDS: the
 * client's own three. 1.6 takes `istiod` for granted, and has no CA at all for `custom`.) Pure.
 */
export function controlPlaneFiles({ client, provCert, pilotCertProvider }: ControlPlaneFilesInputs): TlsFiles {
  if (provCert !== '') {
    return { chain: `${provCert}/cert-chain.pem`, key: `${provCert}/key.pem`, root: `${provCert}/root-cert.pem` };
  }
  const own = { ...defaultTlsFiles, ...client };
  return { ...own, root: authorities.get(pilotCertProvider ?? '') ?? own.root };
}
