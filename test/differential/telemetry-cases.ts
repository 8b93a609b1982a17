import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Case } from './cases.ts';

const folder = 'test/differential/telemetry';

/** A folder with a MeshConfig, and the proxies that ask about it. */
interface TelemetryCase {
  readonly name: string;
  /** The MeshConfig as it is written. */
  readonly meshText: string;
  readonly yaml: string;
  readonly proxies: readonly Case[];
}

const proxies: readonly Pick<Case, 'name' | 'id' | 'metadata'>[] = [
  {
    name: 'a sidecar',
    id: 'sidecar~127.0.0.10~app.default~default.svc.cluster.local',
    metadata: { NAMESPACE: 'default', LABELS: { app: 'app', version: 'v1' } },
  },
  {
    name: 'a sidecar of another namespace',
    id: 'sidecar~127.0.0.11~app.other~other.svc.cluster.local',
    metadata: { NAMESPACE: 'other', LABELS: { app: 'app' } },
  },
  {
    name: 'a sidecar with a ProxyConfig',
    id: 'sidecar~127.0.0.13~own.default~default.svc.cluster.local',
    metadata: {
      NAMESPACE: 'default',
      LABELS: { app: 'own' },
      MESH_ID: 'mesh1',
      PROXY_CONFIG: {
        concurrency: 2,
        tracing: {
          sampling: 7.25,
          maxPathTagLength: 30,
          customTags: { a: { header: { name: ':path' } } },
        },
      },
    },
  },
  {
    name: 'a router',
    id: 'router~127.0.0.12~gateway.default~default.svc.cluster.local',
    metadata: { NAMESPACE: 'default', LABELS: { app: 'gateway', istio: 'ingressgateway' } },
  },
];

/** `NAME.yaml` has the resources, and `NAME.mesh.yaml` the MeshConfig. */
export const telemetryCases: readonly TelemetryCase[] = readdirSync(folder)
  .filter((file) => file.endsWith('.mesh.yaml'))
  .sort()
  .map((file) => {
    const name = file.replace(/\.mesh\.yaml$/, '');
    const meshText = readFileSync(join(folder, file), 'utf8');
    const yaml = readFileSync(join(folder, `${name}.yaml`), 'utf8');
    return {
      name,
      meshText,
      yaml,
      proxies: proxies.map((proxy) => ({
        ...proxy,
        yaml,
        locality: '',
        mesh: meshText,
        metadata: { ISTIO_VERSION: '1.26.0', CLUSTER_ID: 'Kubernetes', ...proxy.metadata },
      })),
    };
  });
