import type { JsonObject } from '@bufbuild/protobuf';

/** Returns metadata that names the source of a part of a configuration, as Istio does. */
export const configMetadata = (
  kind: 'virtual-service',
  { namespace, name }: { readonly namespace: string; readonly name: string },
): { filterMetadata: Record<string, JsonObject> } => ({
  filterMetadata: {
    istio: { config: `/apis/networking.istio.io/v1/namespaces/${namespace}/${kind}/${name}` },
  },
});
