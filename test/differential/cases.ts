import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@bufbuild/protobuf';

const folder = 'test/differential/folders';

/** A folder of resources, and a proxy that asks about it. */
export interface Case {
  readonly name: string;
  readonly yaml: string;
  readonly id: string;
  readonly metadata: JsonObject;
  /** `region/zone/subzone` */
  readonly locality: string;
  /** More of the MeshConfig, as YAML. */
  readonly mesh?: string;
  /** The MeshNetworks, as YAML. */
  readonly networks?: string;
}

interface Proxy {
  readonly name: string;
  readonly id?: string;
  readonly metadata?: JsonObject;
  readonly locality?: string;
}

const sidecar = 'sidecar~127.0.0.10~app.default~default.svc.cluster.local';
const labels = { LABELS: { app: 'app', a: '1', b: '2' } };
const certificates = {
  TLS_CLIENT_CERT_CHAIN: '/c/chain.pem',
  TLS_CLIENT_KEY: '/c/key.pem',
  TLS_CLIENT_ROOT_CERT: '/c/root.pem',
};

const router: Proxy = {
  name: 'a router',
  id: 'router~127.0.0.10~gateway.default~default.svc.cluster.local',
  metadata: { LABELS: { app: 'gateway', istio: 'ingressgateway' } },
};

/** Returns a sidecar and a router with this value of the label `asks`. */
const askingProxies = (asks: string): readonly Proxy[] => [
  { name: `a sidecar with ${asks}`, metadata: { LABELS: { app: 'app', asks } } },
  {
    ...router,
    name: `a router with ${asks}`,
    metadata: { LABELS: { istio: 'ingressgateway', asks } },
  },
];

/** Returns a sidecar of the workload `app` in this namespace. */
const sidecarOf = (app: string, namespace: string, address: string): Proxy => ({
  name: `of ${namespace}`,
  id: `sidecar~${address}~${app}.${namespace}~${namespace}.svc.cluster.local`,
  metadata: { NAMESPACE: namespace, LABELS: { app }, SERVICE_ACCOUNT: app },
});

/** Returns a router in the root namespace. */
const routerOfRoot = (istio: string): Proxy => ({
  name: 'a router',
  id: 'router~127.0.0.40~gateway.istio-system~istio-system.svc.cluster.local',
  metadata: { NAMESPACE: 'istio-system', LABELS: { app: 'gateway', istio } },
});

const ofShop = sidecarOf('orders', 'shop', '127.0.0.10');
const ofStock = sidecarOf('stock', 'stock', '127.0.0.20');
const ingress = routerOfRoot('ingressgateway');

/** The proxies that ask beside, or instead of, a plain one, by folder. */
const proxies: Readonly<Record<string, readonly Proxy[]>> = {
  'an-egress-gateway-that-passes-tls': [ofShop, routerOfRoot('egressgateway')],
  'asked-by-label': [
    ...['http', 'http-full', 'http-of-old', 'grpc', 'grpc-full', 'qualified'],
    ...['wrong', 'twice', 'unknown', 'of-logs', 'not-there', 'two-namespaces', 'both', 'no-port'],
  ].flatMap(askingProxies),
  'clashing-ports': [
    { name: 'plain', metadata: { ENVOY_PROMETHEUS_PORT: 15_090, ENVOY_STATUS_PORT: 15_021 } },
  ],
  'client-tls': [
    { name: 'plain' },
    { name: 'with certificates of its own', metadata: certificates },
  ],
  'jwt-tutorial-of-a-gateway': [ofShop, ingress],
  'jwt-tutorial-of-a-workload': [ofShop, ofStock],
  localities: [
    { name: 'in a subzone', metadata: labels, locality: 'r1/z1/s1' },
    { name: 'in a region', metadata: labels, locality: 'r1//' },
    { name: 'nowhere', metadata: labels },
  ],
  'locality-failover': [
    ...['region1/zone1/', 'region1/zone9/', 'region2/zone3/rack1', 'region9/zone9/'].map(
      (locality) => ({ name: `in ${locality}`, locality }),
    ),
    { name: 'nowhere' },
  ],
  'hosts-of-other-domains': [
    { name: 'of cluster.local' },
    ...['default.svc.other.domain', 'my.domain', 'default.my.domain'].map((domain) => ({
      name: `of ${domain}`,
      id: `sidecar~127.0.0.10~app.default~${domain}`,
    })),
  ],
  'mtls-migration-ended': [
    sidecarOf('httpbin', 'foo', '127.0.0.21'),
    sidecarOf('httpbin', 'bar', '127.0.0.23'),
    sidecarOf('store', 'bar', '127.0.0.24'),
    sidecarOf('httpbin', 'legacy', '127.0.0.25'),
  ].map((proxy, index) => ({ ...proxy, name: `of service ${index + 1}` })),
  'mtls-migration-by-namespace': [
    ofShop,
    ofStock,
    sidecarOf('ledger', 'legacy', '127.0.0.30'),
    ingress,
  ],
  'mtls-migration-by-workload-and-port': [ofShop, ofStock, ingress],
  'odd-services': [
    { name: 'plain' },
    { name: 'a router', id: 'router~127.0.0.10~app.default~default.svc.cluster.local' },
  ],
  'a-gateway-between-networks': ['one', 'two'].map((network) => ({
    ...router,
    name: `of network ${network}`,
    metadata: { LABELS: { istio: 'ingressgateway' }, NETWORK: network },
  })),
  'endpoints-of-networks': [
    { name: 'of no network' },
    ...['one', 'two', 'three', 'four'].map((network) => ({
      name: `of network ${network}`,
      metadata: { NETWORK: network },
      locality: 'r1/z1/s1',
    })),
    {
      name: 'that asks for two networks',
      metadata: { NETWORK: 'one', REQUESTED_NETWORK_VIEW: 'one,two' },
    },
  ],
  'own-endpoint': [
    { name: 'plain', locality: 'r1/z1/' },
    {
      name: 'without labels',
      id: 'sidecar~127.0.0.12~app.default~default.svc.cluster.local',
      locality: 'r1/z1/',
    },
    {
      name: 'of another namespace',
      id: 'sidecar~127.0.0.10~app.other~other.svc.cluster.local',
      metadata: { NAMESPACE: 'other' },
      locality: 'r1/z1/',
    },
  ],
  'own-workload': [
    { name: 'plain' },
    { name: 'with other labels of its own', metadata: labels, locality: 'r9/z9/s9' },
    {
      name: 'near',
      id: 'sidecar~127.0.0.20~app.default~default.svc.cluster.local',
      locality: 'r1/z1/',
    },
  ],
  'policies-of-the-root': [
    {
      name: 'in the root namespace',
      id: 'sidecar~127.0.0.10~app.istio-system~istio-system.svc.cluster.local',
      metadata: { NAMESPACE: 'istio-system', LABELS: { app: 'app' } },
    },
  ],
  'rules-of-three-namespaces': [
    { name: 'plain' },
    {
      name: 'in another namespace',
      id: 'sidecar~127.0.0.10~app.other~other.svc.cluster.local',
      metadata: { NAMESPACE: 'other', LABELS: { app: 'app', a: '1' } },
    },
  ],
  'two-families': [
    { name: 'plain' },
    { name: 'of IPv6', id: 'sidecar~2001:db8::10~app.default~default.svc.cluster.local' },
    { name: 'of both', metadata: { INSTANCE_IPS: '127.0.0.10,2001:db8::10' } },
  ],
};

/** Each folder with each of its proxies. */
export const cases: readonly Case[] = casesIn(folder);

/**
 * The folders as users have them: mixed kinds, several entries of a host, other domains, a
 * migration to mutual TLS, and the rules of tutorials.
 */
export const files: readonly Case[] = casesIn('test/differential/files');

/** The folders for gateways; a router asks about each one. */
export const gateways: readonly Case[] = casesIn('test/differential/gateways', router);

/** The MeshConfig of {@link authorizers}. */
export const authorizersMesh = readFileSync('test/differential/authorizers-mesh.yaml', 'utf8');

/** Policies with CUSTOM, for a sidecar and a router of each authorizer. */
export const authorizers: readonly Case[] = casesIn(
  'test/differential/authorizers',
  undefined,
  authorizersMesh,
);

/** The MeshNetworks of {@link networks}. */
export const meshNetworks = readFileSync('test/differential/mesh-networks.yaml', 'utf8');

/** Services whose endpoints are in several networks, for a proxy of each of them. */
export const networks: readonly Case[] = casesIn('test/differential/networks').map((testCase) => ({
  ...testCase,
  networks: meshNetworks,
}));

function casesIn(place: string, plain: Proxy = { name: 'plain' }, mesh = ''): readonly Case[] {
  return readdirSync(place)
    .sort()
    .flatMap((file) => {
      const name = file.replace(/\.yaml$/, '');
      const yaml = readFileSync(join(place, file), 'utf8');
      return (proxies[name] ?? [plain]).map((proxy): Case => {
        const metadata = {
          NAMESPACE: 'default',
          ISTIO_VERSION: '1.26.0',
          LABELS: { app: 'app' },
          SERVICE_ACCOUNT: 'default',
          CLUSTER_ID: 'Kubernetes',
          ...proxy.metadata,
        };
        return {
          name: `${name}, ${proxy.name}`,
          yaml,
          id: proxy.id ?? sidecar,
          metadata,
          locality: proxy.locality ?? '',
          mesh,
        };
      });
    });
}
