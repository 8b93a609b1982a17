import type { NodeMetadata } from './node-metadata.ts';

/** The project on Google Cloud that the node is in, where the platform said so. Pure. */
export function googleProject(metadata: NodeMetadata): string | undefined {
  const { gcp_project: project } = (metadata['PLATFORM_METADATA'] ?? {}) as NodeMetadata;
  return typeof project === 'string' && project !== '' ? project : undefined;
}
