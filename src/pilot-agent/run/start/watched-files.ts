import { resolve } from 'node:path';
import type { AgentConfig } from '../../config/agent-config.ts';
import { certificateFilesName, rootsFileName } from '../../../shared/xds/secret-names.ts';
import type { CertificateFile } from '../../secrets/certificate-expiry.ts';

/** Returns the files whose change needs a new epoch, although Envoy reads them itself. */
export function watchedFiles({ watched, customConfigFile }: AgentConfig): readonly string[] {
  return [...watched, customConfigFile].filter((path) => path !== '').map((path) => resolve(path));
}

/** Returns the certificates that Envoy reads itself, each once, with the names of the Go agent. */
export function certificateFiles({ certificates }: AgentConfig): readonly CertificateFile[] {
  const files = certificates.flatMap(({ chain, key, root }): readonly CertificateFile[] => [
    { name: certificateFilesName(chain, key), kind: 'pair', path: resolve(chain) },
    ...(root === ''
      ? []
      : [{ name: rootsFileName(root), kind: 'roots', path: resolve(root) } as const]),
  ]);
  return [...new Map(files.map((file) => [file.name, file])).values()];
}
