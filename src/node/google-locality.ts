import type { Locality } from './node-locality.ts';

/** The locality of a zone of Google Cloud, which is its region and a letter (`us-central1-a`); what is no zone is a region. Pure. */
export function googleLocality(zone: string): Locality {
  const [, region] = /^(.+)-[a-z]$/.exec(zone) ?? [];
  return region === undefined ? { region: zone, zone: '', subZone: '' } : { region, zone, subZone: '' };
}
