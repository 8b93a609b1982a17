import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { withMeshIstiod } from '../support/e2e/mesh-istiod.ts';
import { freePorts } from '../support/free-ports.ts';
import type { Case } from './cases.ts';
import { servedTo, ours } from './compare.ts';
import { differences } from './differences.ts';
import { type Deviation, unexplained } from './unexplained.ts';

/** A folder with a MeshConfig, and the proxies that ask about it. */
export interface MeshCase {
  readonly name: string;
  /** The text of the MeshConfig. */
  readonly meshText: string;
  readonly yaml: string;
  readonly proxies: readonly Case[];
}

type Proxy = Pick<Case, 'name' | 'id' | 'metadata'> & Partial<Pick<Case, 'locality'>>;

/**
 * Returns the cases of a folder. `NAME.mesh.yaml` contains the MeshConfig, and `NAME.yaml` or
 * `all.yaml` the resources.
 */
export const meshCases = (folder: string, proxies: readonly Proxy[]): readonly MeshCase[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.mesh.yaml'))
    .sort()
    .map((file) => {
      const name = file.replace(/\.mesh\.yaml$/, '');
      const meshText = readFileSync(join(folder, file), 'utf8');
      const ownPath = join(folder, `${name}.yaml`);
      const yaml = readFileSync(existsSync(ownPath) ? ownPath : join(folder, 'all.yaml'), 'utf8');
      return {
        name,
        meshText,
        yaml,
        proxies: proxies.map((proxy) => ({
          locality: '',
          ...proxy,
          yaml,
          mesh: meshText,
          metadata: { ISTIO_VERSION: '1.26.0', CLUSTER_ID: 'Kubernetes', ...proxy.metadata },
        })),
      };
    });

/**
 * Compares what each proxy receives from pilot-discovery and from an istiod with that MeshConfig.
 */
export async function expectAsIstiod(
  program: string,
  { meshText, yaml, proxies }: MeshCase,
  deviations: readonly Deviation[],
  explained: Set<RegExp>,
): Promise<void> {
  const [port = 0] = await freePorts(3);
  await withMeshIstiod(program, { mesh: meshText, yaml, port }, async () => {
    for (const proxy of proxies)
      for (const mode of ['REDIRECT', 'NONE']) {
        const mine = ours(proxy, mode, 'all');
        const left = async () =>
          unexplained(differences(mine, await servedTo(proxy, port, mode)), deviations, explained);
        // istiod takes connections before it has read its folder.
        await expect.poll(left, { interval: 200 }).toEqual([]);
      }
  });
}
