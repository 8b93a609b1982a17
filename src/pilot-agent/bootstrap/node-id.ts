/**
 * The node as Envoy's `--service-node` names it: `<role>~<first address>~<id>~<DNS domain>`. Pure.
 */
export function nodeString(
  role: 'sidecar' | 'router',
  { ip, id, domain }: { readonly ip: string; readonly id: string; readonly domain: string },
): string {
  return [role, ip, id, domain].join('~');
}

/** Where a node is, as Envoy's `node.locality` has it. An empty text is one that is not known. */
export interface Locality {
  readonly region: string;
  readonly zone: string;
  readonly subZone: string;
}

/**
 * The locality that the pod's label `istio-locality` names, `region/zone/subzone`, of which the
 * latter two may be missing; without the label the platform's.
 *
 * A label of Kubernetes can have no `/`: in a value without any, each `.` stands for one (Istio
 * 1.6). Pure.
 */
export function nodeLocality(
  labels: Readonly<Record<string, string>>,
  platformLocality: Locality,
): Locality {
  const label = labels['istio-locality'] ?? '';
  if (label === '') return platformLocality;
  const [region = '', zone = '', subZone = ''] = label.split(label.includes('/') ? '/' : '.');
  return { region, zone, subZone };
}

/**
 * The locality of a zone of Google Cloud, which is its region and a letter (`us-central1-a`); what
 * is no zone is a region. Pure.
 */
export function googleLocality(zone: string): Locality {
  const [, region] = /^(.+)-[a-z]$/.exec(zone) ?? [];
  return region === undefined
    ? { region: zone, zone: '', subZone: '' }
    : { region, zone, subZone: '' };
}
