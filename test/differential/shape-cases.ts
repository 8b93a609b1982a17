import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@bufbuild/protobuf';
import type { Case } from './cases.ts';

const folder = 'test/differential/shapes';

/** A proxy that asks about a shape, at addresses beyond loopback. */
interface Proxy {
  readonly name: string;
  readonly addresses: readonly string[];
  readonly metadata?: JsonObject;
  readonly namespace?: string;
}

const plain: Proxy = { name: 'plain', addresses: ['10.0.0.10'] };
const ofBoth: Proxy = { name: 'of both families', addresses: ['10.0.0.10', '2001:db8::10'] };
const ofBothTurned: Proxy = {
  name: 'of both families, IPv6 first',
  addresses: ['2001:db8::10', '10.0.0.10'],
};
const ofIpv6: Proxy = { name: 'of IPv6', addresses: ['2001:db8::10'] };
const families = [plain, ofIpv6, ofBoth, ofBothTurned];
const atLoopback: Proxy = { name: 'at loopback', addresses: ['127.0.0.10'] };
const saying = (metadata: JsonObject, addresses = plain.addresses): Proxy => ({
  name: JSON.stringify(metadata),
  addresses,
  metadata,
});

const labelled = (app: string): Proxy => saying({ LABELS: { app } });

const inNamespace = (namespace: string): Proxy => ({
  ...plain,
  name: `in ${namespace}`,
  namespace,
});

const proxies: Readonly<Record<string, readonly Proxy[]>> = {
  'ingress-without-bind': [...families, atLoopback],
  'ingress-with-bind': [plain, ofBoth],
  'ingress-of-the-root': [plain, atLoopback],
  'ingress-below-1024': [plain, saying({ UNPRIVILEGED_POD: 'true' })],
  'services-below-1024': [
    plain,
    saying({ UNPRIVILEGED_POD: 'true' }),
    saying({ UNPRIVILEGED_POD: 'no' }),
  ],
  'endpoints-at-own-addresses': [
    { name: 'first at an endpoint', addresses: ['10.0.0.8', '10.0.0.2'] },
    { name: 'second at an endpoint', addresses: ['10.0.0.1', '10.0.0.8'] },
    plain,
  ],
  'own-service-of-two-families': families,
  'addresses-of-two-families': families,
  'names-in-two-families': families,
  http10: [saying({ HTTP10: '1' }), saying({ HTTP10: 'true' })],
  'exact-balance': [
    saying({ INBOUND_LISTENER_EXACT_BALANCE: 'true' }),
    saying({ OUTBOUND_LISTENER_EXACT_BALANCE: '1', INBOUND_LISTENER_EXACT_BALANCE: 'false' }),
  ],
  'scope-of-the-root': [plain, inNamespace('shop'), inNamespace('istio-system')],
  'scope-of-three-levels': [
    plain,
    saying({ LABELS: { app: 'other' } }),
    inNamespace('shop'),
    inNamespace('istio-system'),
  ],
  'scope-of-destinations': [plain, inNamespace('shop')],
  'scope-of-a-port-below-1024': [plain, saying({ UNPRIVILEGED_POD: 'true' })],
  'scope-of-ports-of-two-families': [plain, ofIpv6, ofBoth],
  'scope-of-sockets': ['app', 'any', 'tcp'].map(labelled),
  'scope-of-an-http-proxy': ['app', 'bound', 'socket', 'wide'].map(labelled),
  'unknown-hosts-through-a-proxy': ['app', 'hidden', 'nowhere'].map(labelled),
  'scope-with-exports': [plain, inNamespace('shop')],
  'exact-balance-of-an-ingress': [
    saying({ INBOUND_LISTENER_EXACT_BALANCE: 'true', OUTBOUND_LISTENER_EXACT_BALANCE: 'true' }),
  ],
};

interface Shape {
  readonly name: string;
  readonly yaml: string;
  readonly cases: readonly Case[];
}

/** Each shape with each of its proxies. */
export const shapes: readonly Shape[] = readdirSync(folder)
  .sort()
  .map((file) => {
    const name = file.replace(/\.yaml$/, '');
    const yaml = readFileSync(join(folder, file), 'utf8');
    const cases = (proxies[name] ?? [plain]).map(({ namespace = 'default', ...proxy }): Case => ({
      name: proxy.name,
      yaml,
      id: `sidecar~${proxy.addresses[0] ?? ''}~app.${namespace}~${namespace}.svc.cluster.local`,
      metadata: {
        NAMESPACE: namespace,
        ISTIO_VERSION: '1.26.0',
        LABELS: { app: 'app' },
        SERVICE_ACCOUNT: 'default',
        CLUSTER_ID: 'Kubernetes',
        INSTANCE_IPS: proxy.addresses.join(','),
        ...proxy.metadata,
      },
      locality: '',
    }));
    return { name, yaml, cases };
  });
