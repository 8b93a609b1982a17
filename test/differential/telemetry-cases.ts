import { type MeshCase, meshCases } from './mesh-cases.ts';

export const telemetryCases: readonly MeshCase[] = meshCases('test/differential/telemetry', [
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
]);
