import { ownMember } from '../../../shared/text/own-member.ts';
import { type Get, ignored } from '../fields/members.ts';
import type { KubernetesMetadata } from './kubernetes-metadata.ts';
import type { KubernetesNode } from './kubernetes-node.ts';

/** The labels of each part of a locality. The first one that a node has applies. */
const parts = [
  ['topology.kubernetes.io/region', 'failure-domain.beta.kubernetes.io/region'],
  ['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone'],
  ['topology.istio.io/subzone'],
] as const;

/** Reads a Node of Kubernetes. Only its labels are used. */
export function readKubernetesNode(get: Get, { labels }: KubernetesMetadata): KubernetesNode {
  get('spec', ignored);
  get('status', ignored);
  const names = parts.map(
    (part) => part.map((label) => ownMember(labels, label) ?? '').find((name) => name !== '') ?? '',
  );
  return { locality: names.every((name) => name === '') ? '' : names.join('/') };
}
