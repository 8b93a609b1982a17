import type { Json } from './json.ts';

/** A message of Envoy's API as an `Any`; `type` is its full name below `envoy.`. Pure. */
export function typedConfig(type: string, fields: Readonly<Record<string, Json>> = {}): Readonly<Record<string, Json>> {
  return { '@type': `type.googleapis.com/envoy.${type}`, ...fields };
}
