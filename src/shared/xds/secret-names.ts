/** The cluster of Envoy's bootstrap that leads to the agent's secret discovery server. */
export const sdsClusterName = 'sds-grpc';

/** The secrets of the workload: its certificate, and what it checks those of others by. */
export const workloadSecretNames = { certificate: 'default', roots: 'ROOTCA' } as const;

/** A name by which a secret is asked for. Names are those of the Go agent. */
export type SecretName =
  | { readonly kind: 'certificate' | 'roots' }
  | { readonly kind: 'certificate-in-files'; readonly chain: string; readonly key: string }
  | { readonly kind: 'roots-in-file'; readonly path: string }
  | { readonly kind: 'other' };

/** The name of a certificate chain and its key, in files that the agent reads. */
export function certificateFilesName(chain: string, key: string): string {
  return `file-cert:${chain}~${key}`;
}

/** The name of certificates to check by, in a file that the agent reads. */
export function rootsFileName(path: string): string {
  return `file-root:${path}`;
}

/** What a name asks for; as a text, why it cannot be meant. Pure. */
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
