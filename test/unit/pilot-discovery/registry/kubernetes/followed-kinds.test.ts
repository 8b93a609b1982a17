import { expect, it } from 'vitest';
import {
  followedKinds,
  pruned,
} from '../../../../../src/pilot-discovery/registry/kubernetes/followed-kinds.ts';

const kindOf = (wanted: string) => {
  const kind = followedKinds.find((followed) => followed.kind === wanted);
  if (kind === undefined) throw new Error(`${wanted} is not followed`);
  return kind;
};
const kept = {
  ...{ name: 'a', namespace: 'b', resourceVersion: '1' },
  deletionTimestamp: '2026-01-01T00:00:00Z',
};
const metadata = { ...kept, managedFields: [{}] };

const balancer = { ingress: [{ ip: '192.0.2.1' }] };

it.each([
  {
    kind: 'Service',
    status: { loadBalancer: balancer, conditions: [{}] },
    kept: { spec: { ports: [] }, status: { loadBalancer: balancer } },
  },
  {
    kind: 'Pod',
    status: { podIP: '10.0.0.1', hostIP: '10.0.0.9' },
    kept: { spec: {}, status: { podIP: '10.0.0.1' } },
  },
  { kind: 'VirtualService', status: { conditions: [{}] }, kept: { spec: { ports: [] } } },
])('$kind is kept without what its reader does not use', ({ kind, status, kept: sections }) => {
  const followed = kindOf(kind);
  expect(pruned(followed, { kind, metadata, spec: { ports: [] }, status })).toEqual({
    ...{ apiVersion: followed.apiVersion, kind },
    metadata: kept,
    ...sections,
  });
});
