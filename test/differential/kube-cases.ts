import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Case } from './cases.ts';

const folder = 'test/differential/kubernetes';

type Proxy = Pick<Case, 'id' | 'name'> & Partial<Pick<Case, 'metadata' | 'locality'>>;

const plain: Proxy = {
  name: 'a sidecar',
  id: 'sidecar~10.1.0.10~app.default~default.svc.cluster.local',
};
const router: Proxy = {
  name: 'a router',
  id: 'router~10.1.0.10~gateway.default~default.svc.cluster.local',
  metadata: { LABELS: { app: 'gateway', istio: 'ingressgateway' } },
};
const elsewhere: Proxy = {
  name: 'of another namespace',
  id: 'sidecar~10.1.0.11~app.other~other.svc.cluster.local',
  metadata: { NAMESPACE: 'other' },
};

/** The proxies that ask beside, or instead of, a plain one, by folder. */
const proxies: Readonly<Record<string, readonly Proxy[]>> = {
  bookinfo: [plain, router],
  exports: [plain, elsewhere],
  'external-names': [plain, elsewhere],
  'short-names': [plain, elsewhere],
  'a-gateway-and-its-service': [router],
  'entries-of-the-same-host': [plain, elsewhere],
  headless: [plain, router],
  'gateways-of-networks': ['east', 'west'].map((network): Proxy => ({
    ...plain,
    name: `a sidecar in ${network}`,
    metadata: { NETWORK: network },
  })),
};

/** A folder of objects of Kubernetes and Istio, and the proxies that ask about it. */
interface KubeCase {
  readonly name: string;
  readonly yaml: string;
  readonly proxies: readonly Omit<Case, 'yaml'>[];
}

export const kubeCases: readonly KubeCase[] = readdirSync(folder)
  .sort()
  .map((file) => {
    const name = file.replace(/\.yaml$/, '');
    return {
      name,
      yaml: readFileSync(join(folder, file), 'utf8'),
      proxies: (proxies[name] ?? [plain]).map((proxy) => ({
        name: proxy.name,
        id: proxy.id,
        metadata: {
          NAMESPACE: 'default',
          ISTIO_VERSION: '1.26.0',
          LABELS: { app: 'app' },
          SERVICE_ACCOUNT: 'default',
          CLUSTER_ID: 'Kubernetes',
          ...proxy.metadata,
        },
        locality: proxy.locality ?? '',
      })),
    };
  });
