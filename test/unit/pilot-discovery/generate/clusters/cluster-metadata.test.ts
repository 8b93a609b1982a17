import { describe, expect, it } from 'vitest';
import { clusterMetadata } from '../../../../../src/pilot-discovery/generate/clusters/cluster-metadata.ts';
import { ClusterSchema } from '../../../../../src/shared/proto/envoy/config/cluster/v3/cluster_pb.ts';
import { canonical, messageYaml, specIn } from '../../../../support/golden.ts';

const rule = {
  namespace: 'shop',
  name: 'reviews',
  spec: specIn('DestinationRule', '{ host: reviews.test }'),
  keys: [],
};
const service = { host: 'reviews.test', name: 'reviews.test', namespace: 'shop' };
const services = [service];
const serviceYaml = '{ host: reviews.test, name: reviews.test, namespace: shop }';

describe('what a cluster says of itself', () => {
  it.each<[what: string, facts: Parameters<typeof clusterMetadata>[0], metadata: string]>([
    ['its service', { rule: undefined, services }, `services: [${serviceYaml}]`],
    [
      'all of its services',
      { rule: undefined, services: [service, { host: 'b.b.svc', name: 'b', namespace: 'b' }] },
      `services: [${serviceYaml}, { host: b.b.svc, name: b, namespace: b }]`,
    ],
    [
      'its rule and its subset',
      { rule, services, subset: 'v1' },
      `
      config: /apis/networking.istio.io/v1/namespaces/shop/destination-rule/reviews
      subset: v1
      services: [${serviceYaml}]`,
    ],
    [
      'that it is outside of the mesh',
      { rule: undefined, services, isExternal: true },
      `{ external: true, services: [${serviceYaml}] }`,
    ],
    [
      'that its TLS is not of the mesh, so its ALPN stays',
      { rule: undefined, services, isOriginated: true },
      `{ alpn_override: "false", services: [${serviceYaml}] }`,
    ],
  ])('%s', (_, facts, metadata) => {
    const inside = metadata.startsWith('services') ? `{ ${metadata} }` : metadata;
    expect(messageYaml(ClusterSchema, { metadata: clusterMetadata(facts) })).toBe(
      canonical(`
metadata:
  filter_metadata:
    istio: ${inside}`),
    );
  });
});
