import { googleLocality } from './google-locality.ts';
import type { Platform } from './unknown-platform.ts';

const keys = ['gcp_project', 'gcp_project_number', 'gcp_gke_cluster_name', 'gcp_location'] as const;

/**
 * What `GCP_METADATA` says: `PROJECT_ID|PROJECT_NUMBER|CLUSTER_NAME|CLUSTER_ZONE`. With another number of parts it says nothing, as in the Go agent. Pure.
 */
export function knownPlatform(gcpMetadata: string): Platform {
  const parts = gcpMetadata.split('|');
  const told = parts.length === keys.length ? keys.map((key, index) => [key, parts[index] ?? ''] as const) : [];
  const metadata = Object.fromEntries(told.filter(([, value]) => value !== ''));
  return { metadata, locality: googleLocality(metadata['gcp_location'] ?? '') };
}
