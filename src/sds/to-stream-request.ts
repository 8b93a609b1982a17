import type { DeltaDiscoveryRequest, DiscoveryRequest } from '../proto/envoy/service/discovery/v3/discovery_pb.ts';
import type { StreamRequest } from './stream-model.ts';

/** What a request of either variant of the protocol says. Pure. */
export function toStreamRequest(request: DiscoveryRequest | DeltaDiscoveryRequest): StreamRequest {
  const { node, responseNonce: nonce, errorDetail } = request;
  return {
    node: node?.id ?? '',
    nonce,
    error: errorDetail?.message,
    names:
      request.$typeName === 'envoy.service.discovery.v3.DiscoveryRequest'
        ? { kind: 'all', names: request.resourceNames, version: request.versionInfo }
        : {
            kind: 'change',
            add: request.resourceNamesSubscribe,
            remove: request.resourceNamesUnsubscribe,
            versions: request.initialResourceVersions,
          },
  };
}
