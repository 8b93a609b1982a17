import type { KubeApi, Resource } from '../test/support/e2e/kube-server.ts';

/** The content of the API. Each service has the same number of Pods. */
export const kubeCounts = { services: 1_000, pods: 10_000 } as const;

const podsPerService = kubeCounts.pods / kubeCounts.services;
/** How many requests wait for an answer at once. */
const atOnce = 16;

const namespaceOf = (service: number) => `ns${service % 10}`;

/** The Pod that becomes ready is the last one of the first service. */
const changing = { service: 0, pod: podsPerService - 1 } as const;

/** Fills an API with services and with ready Pods. Resolves when the API has all of them. */
export async function fillKube(kube: KubeApi): Promise<void> {
  await each(10, (index) =>
    kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespaceOf(index) } }),
  );
  await each(kubeCounts.services, async (service) => {
    await create(kube, '/api/v1', 'services', serviceOf(service));
    await create(kube, '/apis/discovery.k8s.io/v1', 'endpointslices', sliceOf(service));
  });
  await each(kubeCounts.pods, async (index) => {
    const [service, pod] = [Math.floor(index / podsPerService), index % podsPerService];
    await create(kube, '/api/v1', 'pods', podOf(service, pod));
    await writeStatus(kube, service, pod, addressOf(service, pod));
  });
}

/** Gives the changing Pod this address and makes it ready, as the kubelet and a controller do. */
export async function changePod(kube: KubeApi, address: string): Promise<void> {
  const { service, pod } = changing;
  await writeStatus(kube, service, pod, address);
  const { endpoints } = sliceOf(service, address);
  await kube.ask(
    'PATCH',
    `/apis/discovery.k8s.io/v1/namespaces/${namespaceOf(service)}/endpointslices/s${service}`,
    { endpoints },
    'application/merge-patch+json',
  );
}

const create = (kube: KubeApi, group: string, plural: string, resource: Resource) =>
  kube.ask('POST', `${group}/namespaces/${resource.metadata.namespace ?? ''}/${plural}`, resource);

const writeStatus = (kube: KubeApi, service: number, pod: number, podIP: string) =>
  kube.ask(
    'PATCH',
    `/api/v1/namespaces/${namespaceOf(service)}/pods/s${service}-${pod}/status`,
    {
      status: {
        phase: 'Running',
        podIP,
        podIPs: [{ ip: podIP }],
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    },
    'application/merge-patch+json',
  );

const metadataOf = (service: number, name: string) => ({
  name,
  namespace: namespaceOf(service),
  labels: { app: `s${service}` },
});

const serviceOf = (service: number): Resource => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: metadataOf(service, `s${service}`),
  spec: {
    selector: { app: `s${service}` },
    ports: [{ name: 'http', port: 80, targetPort: 8_080 }],
  },
});

const podOf = (service: number, pod: number): Resource => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: metadataOf(service, `s${service}-${pod}`),
  spec: {
    nodeName: 'node',
    containers: [{ name: 'app', image: 'app', ports: [{ containerPort: 8_080 }] }],
  },
});

function sliceOf(service: number, changed = addressOf(changing.service, changing.pod)) {
  const { labels, ...metadata } = metadataOf(service, `s${service}`);
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      ...metadata,
      labels: { ...labels, 'kubernetes.io/service-name': `s${service}` },
    },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8_080, protocol: 'TCP' }],
    endpoints: Array.from({ length: podsPerService }, (_, pod) => ({
      addresses: [
        service === changing.service && pod === changing.pod ? changed : addressOf(service, pod),
      ],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: 'node',
      targetRef: { kind: 'Pod', namespace: metadata.namespace, name: `s${service}-${pod}` },
    })),
  };
}

const addressOf = (service: number, pod: number) =>
  `10.${100 + (service >> 8)}.${service & 255}.${pod + 1}`;

/** Calls a function for each index, several at once. */
async function each(count: number, call: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await call(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}
