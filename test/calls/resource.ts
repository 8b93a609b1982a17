import { stringify } from 'yaml';

/** A part of a resource of Istio. */
export type Json = Readonly<Record<string, unknown>>;

/** Returns a resource as YAML. */
export const resource = (
  kind: string,
  namespace: string,
  name: string,
  spec: Json,
  group = 'networking',
): string =>
  stringify({
    apiVersion: `${group}.istio.io/v1`,
    kind,
    metadata: { name, namespace },
    spec,
  });
