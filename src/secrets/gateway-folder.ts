import { join } from 'node:path';
import type { GatewaySource } from './gateway-secrets.ts';
import { preferSet } from './prefer-set.ts';
import type { SecretSources } from './find-secret.ts';

/** The data keys of a secret: those of `kubernetes.io/tls`, and those of a generic one. */
const shapes = {
  tls: { chain: 'tls.crt', key: 'tls.key', root: 'ca.crt' },
  generic: { chain: 'cert', key: 'key', root: 'cacert' },
} as const;

/** A source that is a folder with a folder for each secret, whose files are its data keys, as Kubernetes mounts them. */
export function gatewayFolder(folder: string, sources: Pick<SecretSources, 'files'>): GatewaySource {
  const shaped = (name: string, shape: keyof typeof shapes) => {
    const { chain, key, root } = shapes[shape];
    return { chain: join(folder, name, chain), key: join(folder, name, key), root: join(folder, name, root) };
  };
  return { secret: (name) => preferSet(sources.files(shaped(name, 'tls')), sources.files(shaped(name, 'generic'))) };
}
