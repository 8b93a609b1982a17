import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { create, toBinary } from '@bufbuild/protobuf';
import { DiscoveryRequestSchema } from '../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { typeUrls } from '../../src/pilot-discovery/push/view.ts';

const whole = '/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources';
export const delta =
  '/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources';

/** Opens an HTTP/2 connection that the client ends only by `destroy`. */
export function connection(port: number): ClientHttp2Session {
  return connect(`http://127.0.0.1:${port}`, { maxSessionMemory: 1_000 }).on(
    'error',
    () => undefined,
  );
}

/** Opens an xDS stream that sends only what the caller writes. */
export function openStream(
  session: ClientHttp2Session,
  path = whole,
  headers: Readonly<Record<string, string>> = {},
): ClientHttp2Stream {
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  });
  return stream.on('error', () => undefined).resume();
}

/** Returns the prefix of a message of this length, which may or may not follow. */
export function prefix(length: number): Buffer {
  const bytes = Buffer.alloc(5);
  bytes.writeUInt32BE(length, 1);
  return bytes;
}

export const framed = (message: Uint8Array): Buffer =>
  Buffer.concat([prefix(message.length), message]);

/** Returns the node of a sidecar with this name. */
export const nodeOf = (
  name: string,
  namespace = 'default',
  domain = 'default.svc.cluster.local',
) => ({
  id: `sidecar~10.0.0.2~${name}.${namespace}~${domain}`,
});

/** Returns the first request of a proxy, for all clusters. */
export function firstRequest(name: string): Buffer {
  return framed(
    toBinary(
      DiscoveryRequestSchema,
      create(DiscoveryRequestSchema, { node: nodeOf(name), typeUrl: typeUrls.cluster }),
    ),
  );
}
