import type { KubernetesMetadata } from './kubernetes-metadata.ts';
import type { KubernetesNamespace } from './kubernetes-namespace.ts';
import { type Get, ignored } from '../fields/members.ts';
import { networkIn } from '../fields/network-label.ts';

/** Reads a Namespace of Kubernetes. Only its labels are used. */
export function readKubernetesNamespace(
  get: Get,
  { labels }: KubernetesMetadata,
): KubernetesNamespace {
  get('spec', ignored);
  get('status', ignored);
  return { network: networkIn(labels) };
}
