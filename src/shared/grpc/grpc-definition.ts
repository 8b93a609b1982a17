import {
  type DescMethod,
  type DescService,
  fromBinary,
  type Message,
  toBinary,
} from '@bufbuild/protobuf';
import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';

/**
 * Returns a service of generated code in the form that gRPC for Node needs: one entry per method,
 * under its local name. Pure.
 */
export function grpcDefinition(service: DescService): ServiceDefinition {
  return Object.fromEntries(
    service.methods.map((method) => [method.localName, definition(service, method)]),
  );
}

function definition(
  service: DescService,
  { name, input, output, methodKind }: DescMethod,
): MethodDefinition<Message, Message> {
  const requestStream = methodKind === 'client_streaming' || methodKind === 'bidi_streaming';
  return {
    path: `/${service.typeName}/${name}`,
    requestStream,
    responseStream: methodKind === 'server_streaming' || methodKind === 'bidi_streaming',
    requestSerialize: (message) => Buffer.from(toBinary(input, message)),
    requestDeserialize: (bytes) => fromBinary(input, bytes),
    responseSerialize: (message) => Buffer.from(toBinary(output, message)),
    responseDeserialize: (bytes) => fromBinary(output, bytes),
  };
}
