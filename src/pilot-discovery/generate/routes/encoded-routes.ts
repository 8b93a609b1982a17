import { create, toBinary } from '@bufbuild/protobuf';
import { RouteConfigurationSchema } from '../../../shared/proto/envoy/config/route/v3/route_pb.ts';
import type { ResourceKey } from '../../istio/documents/model.ts';
import type { XdsResource } from '../../push/view.ts';
import { resourceOf } from '../encoding/resource-of.ts';

/**
 * Returns a route configuration from encoded virtual hosts. If one has changed, the others are not
 * encoded again.
 *
 * @param ports whether the ports of requests are compared with domains
 */
export function encodedRoutes(
  name: string,
  hosts: readonly Uint8Array[],
  keys: readonly ResourceKey[],
  ports: 'ignored' | 'compared',
): XdsResource {
  const rest = toBinary(
    RouteConfigurationSchema,
    create(RouteConfigurationSchema, {
      name,
      validateClusters: false,
      maxDirectResponseBodySizeBytes: 1_048_576,
      ignorePortInHostMatching: ports === 'ignored',
    }),
  );
  return resourceOf(
    name,
    Buffer.concat([rest, ...hosts.flatMap((host) => [field(2, host.length), host])]),
    keys,
  );
}

/** Returns the bytes before an embedded message: the number of its field, and its length. */
function field(number: number, length: number): Uint8Array {
  const bytes = [(number << 3) | 2];
  let left = length;
  for (; left > 127; left >>>= 7) bytes.push((left & 127) | 128);
  return Uint8Array.from([...bytes, left]);
}
