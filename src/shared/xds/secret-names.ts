/** The type of secrets in each request and answer. */
export const secretTypeUrl = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret';

/** The cluster of Envoy's bootstrap that leads to the agent's secret discovery server. */
export const sdsClusterName = 'sds-grpc';

/** The secrets of the workload: its certificate, and the roots that verify its peers. */
export const workloadSecretNames = { certificate: 'default', roots: 'ROOTCA' } as const;

/** The name of a secret in a request. Names are those of the Go agent. */
export type SecretName =
  | { readonly kind: 'certificate' | 'roots' }
  | { readonly kind: 'certificate-in-files'; readonly chain: string; readonly key: string }
  | { readonly kind: 'roots-in-file'; readonly path: string }
  | { readonly kind: 'other' };

/** Returns the name of a certificate chain and its key, in files that the agent reads. */
export function certificateFilesName(chain: string, key: string): string {
  return `file-cert:${chain}~${key}`;
}

/** Returns the name of root certificates in a file that the agent reads. */
export function rootsFileName(path: string): string {
  return `file-root:${path}`;
}

/** Returns what a name requests; as a text, why the name is not valid. Pure. */
export function secretNameOf(name: string): SecretName | string {
  if (name === workloadSecretNames.certificate) return { kind: 'certificate' };
  if (name === workloadSecretNames.roots) return { kind: 'roots' };
  const [, kind, paths = ''] = /^(file-cert|file-root):(.+)$/s.exec(name) ?? [];
  const [chain = '', key = '', ...others] = paths.split('~');
  if (kind === 'file-cert')
    return chain === '' || key === '' || others.length > 0
      ? `${name} is not ${certificateFilesName('<certificate>', '<key>')}`
      : { kind: 'certificate-in-files', chain, key };
  if (kind === 'file-root')
    return paths.includes('~')
      ? `${name} is not ${rootsFileName('<path>')}`
      : { kind: 'roots-in-file', path: paths };
  return { kind: 'other' };
}
