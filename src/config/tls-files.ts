import type { TlsSettings } from './proxy-config.ts';

/** The files of one side of TLS. An empty text where there is none. */
export interface TlsFiles {
  readonly chain: string;
  readonly key: string;
  readonly root: string;
}

/** Where a sidecar has its certificates without a word to the contrary. */
export const defaultTlsFiles: TlsFiles = {
  chain: '/etc/certs/cert-chain.pem',
  key: '/etc/certs/key.pem',
  root: '/etc/certs/root-cert.pem',
};

/**
 * The files that Envoy reads for a connection with these settings, where `given` are the paths of `ISTIO_META_TLS_CLIENT_*`, which win. Pure.
 *
 * The Go agent has the defaults of ISTIO_MUTUAL for chain and root the wrong way round.
 */
export function tlsFiles({ mode, clientCertificate, privateKey, caCertificates }: TlsSettings, given: Partial<TlsFiles>): TlsFiles {
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
