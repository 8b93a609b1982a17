import { createHash } from 'node:crypto';
import type { DiscoveryRequest } from '../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { type EnvoyRequest, readRequest } from '../../shared/xds/messages.ts';
import type { NamesPart } from './request-bytes.ts';

/**
 * Reads a state-of-the-world request, but decodes its names only if somebody reads them: an ACK
 * repeats all names, and their digest tells that they are the same.
 */
export function requestWithNames(
  bytes: Buffer,
  { from, to }: NamesPart,
  decode: (bytes: Buffer) => DiscoveryRequest,
): EnvoyRequest {
  const namesPart = bytes.subarray(from, to);
  const message = decode(Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]));
  let names: readonly string[] | undefined;
  return {
    ...readRequest(message),
    names: {
      kind: 'all',
      version: message.versionInfo,
      digest: createHash('sha256').update(namesPart).digest('base64'),
      get names() {
        return (names ??= decode(namesPart).resourceNames);
      },
    },
  };
}
