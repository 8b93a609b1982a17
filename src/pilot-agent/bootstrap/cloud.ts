import { googleLocality, type Locality } from './node-id.ts';

/** The cloud that a machine is of: what goes to `PLATFORM_METADATA`, and where it is. */
export interface Platform {
  readonly metadata: Readonly<Record<string, string>>;
  readonly locality: Locality;
}

/** A machine of no cloud that is known, or of one that says nothing. */
export const unknownPlatform: Platform = {
  metadata: {},
  locality: { region: '', zone: '', subZone: '' },
};

const keys = ['gcp_project', 'gcp_project_number', 'gcp_gke_cluster_name', 'gcp_location'] as const;

/**
 * What `GCP_METADATA` says: `PROJECT_ID|PROJECT_NUMBER|CLUSTER_NAME|CLUSTER_ZONE`. With another
 * number of parts it says nothing, as in the Go agent. Pure.
 */
export function knownPlatform(gcpMetadata: string): Platform {
  const parts = gcpMetadata.split('|');
  const told =
    parts.length === keys.length
      ? keys.map((key, index) => [key, parts[index] ?? ''] as const)
      : [];
  const metadata = Object.fromEntries(told.filter(([, value]) => value !== ''));
  return { metadata, locality: googleLocality(metadata['gcp_location'] ?? '') };
}

/**
 * What a machine's firmware and hypervisor say of it, below `/sys`; empty where they do not, or
 * where only root is told.
 */
export interface MachineSigns {
  readonly productName: string;
  readonly vendor: string;
  readonly productVersion: string;
  readonly productUuid: string;
  readonly hypervisorUuid: string;
}

/**
 * The cloud that a machine is of, if it is known to be of one.
 *
 * Amazon's is known by the rule of the Go agent 1.6, or by its vendor, which alone a plain user may
 * read on today's machines. Pure.
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
