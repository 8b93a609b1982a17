import type * as Grpc from '@grpc/grpc-js';
import { grpcDefinition } from '../../shared/grpc/grpc-definition.ts';
import { AggregatedDiscoveryService } from '../../shared/proto/envoy/service/discovery/v3/ads_pb.ts';
import type { StreamMessage, UnreadRequest } from './first-request.ts';
import { bytesFlaw, type NodeField } from './request-bytes.ts';

/**
 * Returns the definition of the service. Its answers are encoded already; the bytes of its requests
 * are checked before they are decoded.
 */
export function adsDefinition(): Grpc.ServiceDefinition {
  const methods = Object.entries(grpcDefinition(AggregatedDiscoveryService));
  const definition = methods.map(([name, method]) => {
    const nodeField: NodeField = name === 'deltaAggregatedResources' ? 1 : 2;
    const requestDeserialize = (bytes: Buffer): StreamMessage => {
      const reason = bytesFlaw(bytes, nodeField);
      const refused: UnreadRequest = { $typeName: 'refused', reason: reason ?? '' };
      return reason === undefined ? (method.requestDeserialize(bytes) as StreamMessage) : refused;
    };
    return [name, { ...method, requestDeserialize, responseSerialize: (bytes: Buffer) => bytes }];
  });
  return Object.fromEntries(definition) as Grpc.ServiceDefinition;
}
