import { join } from 'node:path';
import type { SecretPaths } from './read-secret-files.ts';

/** The folder of the Go agent's certificates, from where the agent is started: in a container that is `/`. */
const usual = './etc/certs';

/**
 * Where `default` and `ROOTCA` are: in `PROV_CERT`, else where `ISTIO_META_TLS_SERVER_*` says, else where `ISTIO_META_TLS_CLIENT_*` does, else in
 * `./etc/certs`. Pure.
 *
 * @param sides the paths of the server's and the client's side, and whether a variable names any of them
 */
export function workloadFiles(provisioned: string, sides: readonly (SecretPaths & { readonly isNamed: boolean })[]): SecretPaths {
  if (provisioned !== '') return inFolder(provisioned);
  const named = sides.find(({ isNamed }) => isNamed);
  if (named === undefined) return inFolder(usual);
  const { chain, key, root } = named;
  return { chain, key, root };
}

function inFolder(folder: string): SecretPaths {
  return { chain: join(folder, 'cert-chain.pem'), key: join(folder, 'key.pem'), root: join(folder, 'root-cert.pem') };
}
