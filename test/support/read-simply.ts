import { createHash } from 'node:crypto';
import type { AnyResource, Flaw } from '../../src/pilot-discovery/istio/documents/model.ts';
import type { ReadResources } from '../../src/pilot-discovery/registry/files/file-content.ts';
import { workload } from './mesh-resources.ts';

/**
 * Reads lines `NAME ADDRESS` as WorkloadEntries. The address `bad` is a flaw of the resource. A
 * line of one word is a flaw whose resource is not known.
 */
export const readSimply: ReadResources = function* (text, { source, path, defaultNamespace }) {
  const resources: AnyResource[] = [];
  const flaws: Flaw[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    yield;
    const [name = '', address] = line.split(' ');
    if (name === '' || name.startsWith('#') || name === '---') continue;
    const origin = { source, path, line: index + 1 };
    const flaw = (key: string | undefined, reason: string) =>
      flaws.push({ key, origin, field: '', reason, severity: 'error' });
    if (address === undefined) flaw(undefined, 'cut');
    else if (address === 'bad') flaw(`WorkloadEntry/${defaultNamespace}/${name}`, 'bad');
    else {
      const spec = workload({ address });
      const version = createHash('sha1').update(address).digest('hex');
      const metadata = {
        namespace: defaultNamespace,
        name,
        labels: {},
        annotations: {},
        createdMs: 0,
        version,
        origin,
      };
      resources.push({ kind: 'WorkloadEntry', ...metadata, spec });
    }
  }
  return { resources, flaws, closing: [] };
};
