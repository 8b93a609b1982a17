import type * as Grpc from '@grpc/grpc-js';
import { grpcDefinition } from '../../shared/grpc/grpc-definition.ts';
import { AggregatedDiscoveryService } from '../../shared/proto/envoy/service/discovery/v3/ads_pb.ts';
import type {
  DeltaDiscoveryRequest,
  DiscoveryRequest,
} from '../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { readRequest } from '../../shared/xds/messages.ts';
import type { StreamMessage } from './first-request.ts';
import { type NodeField, scanRequest } from './request-bytes.ts';
import { requestWithNames } from './request-with-names.ts';

/**
 * Returns the definition of the service. Its answers are encoded already; the bytes of its requests
 * are checked before they are decoded.
 */
export function adsDefinition(): Grpc.ServiceDefinition {
  const methods = Object.entries(grpcDefinition(AggregatedDiscoveryService));
  const definition = methods.map(([name, method]) => {
    const nodeField: NodeField = name === 'deltaAggregatedResources' ? 1 : 2;
    const decode = (bytes: Buffer) =>
      method.requestDeserialize(bytes) as DiscoveryRequest | DeltaDiscoveryRequest;
    const requestDeserialize = (bytes: Buffer): StreamMessage => {
      const scanned = scanRequest(bytes, nodeField);
      if (scanned.type === 'refused') return scanned;
      const request =
        scanned.names === undefined
          ? readRequest(decode(bytes))
          : requestWithNames(bytes, scanned.names, (part) => decode(part) as DiscoveryRequest);
      return { type: 'request', request };
    };
    return [name, { ...method, requestDeserialize, responseSerialize: (bytes: Buffer) => bytes }];
  });
  return Object.fromEntries(definition) as Grpc.ServiceDefinition;
}
