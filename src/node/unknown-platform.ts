import type { Locality } from './node-locality.ts';

/** The cloud that a machine is of: what goes to `PLATFORM_METADATA`, and where it is. */
export interface Platform {
  readonly metadata: Readonly<Record<string, string>>;
  readonly locality: Locality;
}

/** A machine of no cloud that is known, or of one that says nothing. */
export const unknownPlatform: Platform = { metadata: {}, locality: { region: '', zone: '', subZone: '' } };
