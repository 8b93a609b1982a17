import { googleLocality, type Locality } from './node-id.ts';

/** The cloud that a machine belongs to: its `PLATFORM_METADATA`, and the machine's locality. */
export interface Platform {
  readonly metadata: Readonly<Record<string, string>>;
  readonly locality: Locality;
}

/** A machine of no known cloud, or of a cloud that does not answer. */
export const unknownPlatform: Platform = {
  metadata: {},
  locality: { region: '', zone: '', subZone: '' },
};

const keys = ['gcp_project', 'gcp_project_number', 'gcp_gke_cluster_name', 'gcp_location'] as const;

/**
 * Parses `GCP_METADATA`: `PROJECT_ID|PROJECT_NUMBER|CLUSTER_NAME|CLUSTER_ZONE`. Ignores a text with
 * another number of parts, as the Go agent does. Pure.
 */
export function knownPlatform(gcpMetadata: string): Platform {
  const parts = gcpMetadata.split('|');
  const entries =
    parts.length === keys.length
      ? keys.map((key, index) => [key, parts[index] ?? ''] as const)
      : [];
  const metadata = Object.fromEntries(entries.filter(([, value]) => value !== ''));
  return { metadata, locality: googleLocality(metadata['gcp_location'] ?? '') };
}

/**
 * The signs of the machine's maker that firmware and hypervisor show below `/sys`. A text is empty
 * if they do not show it, or show it only to root.
 */
export interface MachineSigns {
  readonly productName: string;
  readonly vendor: string;
  readonly productVersion: string;
  readonly productUuid: string;
  readonly hypervisorUuid: string;
}

/**
 * Returns the cloud that a machine belongs to, if its signs show one.
 *
 * Recognizes Amazon by the rule of the Go agent 1.6, or by the vendor: on today's machines, that
 * is all that a user without root's rights may read. Pure.
 */
export function cloudOf({
  productName,
  vendor,
  productVersion,
  productUuid,
  hypervisorUuid,
}: MachineSigns): 'google' | 'amazon' | undefined {
  if ([productName, vendor].some((sign) => sign.startsWith('Google'))) return 'google';
  if (
    [productUuid, hypervisorUuid].some((uuid) => /^ec2/i.test(uuid)) ||
    /amazon/i.test(`${productVersion} ${vendor}`)
  )
    return 'amazon';
  return undefined;
}
