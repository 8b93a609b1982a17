/** Where a node is, as Envoy's `node.locality` has it. An empty text is one that is not known. */
export interface Locality {
  readonly region: string;
  readonly zone: string;
  readonly subZone: string;
}

/**
 * The locality that the pod's label `istio-locality` names, `region/zone/subzone`, of which the latter two may be missing; without the label the platform's.
 *
 * A label of Kubernetes can have no `/`: in a value without any, each `.` stands for one (Istio 1.6). Pure.
 */
export function nodeLocality(labels: Readonly<Record<string, string>>, platformLocality: Locality): Locality {
  const label = labels['istio-locality'] ?? '';
  if (label === '') return platformLocality;
  const [region = '', zone = '', subZone = ''] = label.split(label.includes('/') ? '/' : '.');
  return { region, zone, subZone };
}
