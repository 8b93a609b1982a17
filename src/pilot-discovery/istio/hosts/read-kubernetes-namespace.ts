import { ownMember } from '../../../shared/text/own-member.ts';
import type { KubernetesMetadata } from './kubernetes-metadata.ts';
import type { KubernetesNamespace } from './kubernetes-namespace.ts';
import { type Get, ignored } from '../fields/members.ts';

/** Reads a Namespace of Kubernetes. Only its labels are used. */
export function readKubernetesNamespace(
  get: Get,
  { labels }: KubernetesMetadata,
): KubernetesNamespace {
  get('spec', ignored);
  get('status', ignored);
  return { network: ownMember(labels, 'topology.istio.io/network') ?? '' };
}
