import type { KubeDocument } from '../support/fake-kube.ts';
import { contractNamespace as namespace, type RegistryObjects } from './registry-contract.ts';

const service = (name: string, port: number): KubeDocument => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace, name },
  spec: { selector: { app: name }, ports: [{ name: 'http', port }] },
});
const pod = (name: string, address: string): KubeDocument => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace, name },
  spec: {
    nodeName: 'one',
    containers: [{ name: 'app', image: 'app', ports: [{ containerPort: 80 }] }],
  },
  status: { podIP: address, podIPs: [{ ip: address }], phase: 'Running' },
});
const slice = (name: string, pods: Readonly<Record<string, string>>): KubeDocument => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {
    namespace,
    name: `${name}-1`,
    ...{ labels: { 'kubernetes.io/service-name': name } },
  },
  addressType: 'IPv4',
  ports: [{ name: 'http', port: 80 }],
  endpoints: Object.entries(pods).map(([podName, address]) => ({
    addresses: [address],
    targetRef: { kind: 'Pod', namespace, name: podName },
  })),
});
const rule = (name: string, host: string): KubeDocument => ({
  apiVersion: 'networking.istio.io/v1',
  kind: 'VirtualService',
  metadata: { namespace, name },
  spec: { hosts: [host], http: [{ route: [{ destination: { host } }] }] },
});

/** Objects of Kubernetes, for a folder and for an API. */
export const kubernetesObjects: RegistryObjects<KubeDocument> = {
  all: [
    service('a', 80),
    service('b', 80),
    pod('a-1', '10.0.0.1'),
    pod('b-1', '10.0.0.2'),
    slice('a', { 'a-1': '10.0.0.1' }),
    rule('r', 'a'),
  ],
  others: [service('a', 81), rule('r', 'b')],
  service,
};

const entry = (name: string, port: number): KubeDocument => ({
  apiVersion: 'networking.istio.io/v1',
  kind: 'ServiceEntry',
  metadata: { namespace, name },
  spec: {
    hosts: [`${name}.example.com`],
    location: 'MESH_INTERNAL',
    resolution: 'STATIC',
    ports: [{ number: port, name: 'http', protocol: 'HTTP' }],
    workloadSelector: { labels: { app: name } },
  },
});
const workload = (name: string, address: string): KubeDocument => ({
  apiVersion: 'networking.istio.io/v1',
  kind: 'WorkloadEntry',
  metadata: { namespace, name: `${name}-1`, labels: { version: 'v1' } },
  spec: { address, labels: { app: name }, locality: 'here/there' },
});
const refusals: KubeDocument = {
  apiVersion: 'security.istio.io/v1',
  kind: 'AuthorizationPolicy',
  metadata: { namespace, name: 'refusals' },
  spec: { action: 'DENY', rules: [{ to: [{ operation: { ports: ['80'] } }] }] },
};

/** The objects without effect on other namespaces. */
const privateOnes: readonly KubeDocument[] = [
  {
    apiVersion: 'networking.istio.io/v1',
    kind: 'DestinationRule',
    metadata: { namespace, name: 'private' },
    spec: { host: 'p.example.com', exportTo: ['.'] },
  },
  {
    apiVersion: 'networking.istio.io/v1',
    kind: 'Sidecar',
    metadata: { namespace, name: 'private' },
    spec: { workloadSelector: { labels: { app: 'a' } }, egress: [{ hosts: ['./*'] }] },
  },
  {
    apiVersion: 'telemetry.istio.io/v1',
    kind: 'Telemetry',
    metadata: { namespace, name: 'private' },
    spec: { selector: { matchLabels: { app: 'a' } }, accessLogging: [{ disabled: true }] },
  },
];

/** Adds a time of creation: istiod uses the time of its start if an object of a folder has none. */
const created = (object: KubeDocument): KubeDocument => ({
  ...object,
  metadata: { ...object.metadata, creationTimestamp: '2026-01-02T03:04:05Z' },
});

/** Objects of Istio, for another control plane. */
export const istioObjects: RegistryObjects<KubeDocument> = {
  all: [
    entry('a', 80),
    entry('b', 80),
    workload('a', '10.0.0.1'),
    workload('b', '10.0.0.2'),
    rule('a', 'a.example.com'),
    refusals,
    ...privateOnes,
  ].map(created),
  others: [workload('a', '10.0.9.9'), rule('a', 'b.example.com')].map(created),
  service: (name, port) => created(entry(name, port)),
};

/** An instance of a service of Consul. */
export interface ConsulInstanceObject {
  readonly service: string;
  readonly id: string;
  readonly address: string;
  readonly port: number;
}

/** Returns the body with which the API of an agent of Consul registers an instance. */
export const registrationOf = ({ service: name, id, address, port }: ConsulInstanceObject) => ({
  ...{ ID: id, Name: name, Address: address, Port: port },
  Meta: { protocol: 'http' },
});

const instance = (name: string, port: number, number = 1): ConsulInstanceObject => ({
  ...{ service: name, id: `${name}-${number}`, port },
  address: `10.0.0.${name.charCodeAt(0)}`,
});

export const consulObjects: RegistryObjects<ConsulInstanceObject> = {
  all: [instance('a', 80), instance('b', 80), { ...instance('a', 80, 2), address: '10.0.1.1' }],
  others: [instance('a', 81)],
  service: instance,
};

/** Returns the ServiceEntries that declare the services of instances, for a folder. */
export function serviceEntries(
  instances: readonly ConsulInstanceObject[],
  datacenter: string,
): readonly KubeDocument[] {
  const services = [...new Set(instances.map((each) => each.service))];
  return services.flatMap((name) =>
    instances
      .filter((each) => each.service === name)
      .map(({ id, address, port }): KubeDocument => ({
        apiVersion: 'networking.istio.io/v1',
        kind: 'ServiceEntry',
        metadata: { namespace, name: id },
        spec: {
          hosts: [`${name}.service.consul`],
          location: 'MESH_INTERNAL',
          resolution: 'STATIC',
          ports: [{ number: port, name: 'http', protocol: 'HTTP' }],
          endpoints: [{ address, labels: { protocol: 'http' }, locality: datacenter }],
        },
      })),
  );
}
