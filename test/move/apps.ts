import { ports } from '../support/e2e/sidecar-pod.ts';

/** The two control planes. */
export type Side = 'istiod' | 'pilot-discovery';

/** A deployment of one pod, which others call. */
export interface App {
  readonly name: string;
  readonly namespace: string;
  readonly agentOf?: 'Istio';
}

/** One app for each namespace. Istio's own agent runs in one of them. */
export const apps = [
  { name: 'web', namespace: 'shop' },
  { name: 'ledger', namespace: 'bank', agentOf: 'Istio' },
  { name: 'stock', namespace: 'depot' },
] as const satisfies readonly App[];

export const hostOf = ({ name, namespace }: App) =>
  `${name}.${namespace}.svc.cluster.local:${ports.service}`;
export const identityOf = ({ name, namespace }: App) =>
  `spiffe://cluster.local/ns/${namespace}/sa/${name}`;

/** The Service by which agents find each control plane. */
export const serviceOf: Readonly<Record<Side, string>> = {
  istiod: 'istiod.istio-system.svc',
  'pilot-discovery': 'pilot-discovery.istio-system.svc',
};
