/**
 * Returns the node's name for Envoy's `--service-node`: `<role>~<first address>~<id>~<DNS domain>`.
 * Pure.
 */
export function nodeString(
  role: 'sidecar' | 'router',
  { ip, id, domain }: { readonly ip: string; readonly id: string; readonly domain: string },
): string {
  return [role, ip, id, domain].join('~');
}

/** The locality of a node, as in Envoy's `node.locality`. A text is empty if it is not known. */
export interface Locality {
  readonly region: string;
  readonly zone: string;
  readonly subZone: string;
}

/**
 * Returns the locality in the pod's label `istio-locality`, `region/zone/subzone`, of which the
 * last two may be missing. Without the label, returns the platform's.
 *
 * A label of Kubernetes cannot contain `/`: in a value without `/`, each `.` stands for it (Istio
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
 * Returns the locality of a zone of Google Cloud, which is its region and a letter
 * (`us-central1-a`). Any other text is a region. Pure.
 */
export function googleLocality(zone: string): Locality {
  const [, region] = /^(.+)-[a-z]$/.exec(zone) ?? [];
  return region === undefined
    ? { region: zone, zone: '', subZone: '' }
    : { region, zone, subZone: '' };
}
