import { connect } from 'node:http2';
import { create, toBinary } from '@bufbuild/protobuf';
import { DiscoveryRequestSchema } from '../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { typeUrls } from '../../src/pilot-discovery/push/view.ts';

interface SlowReader {
  /** Returns the number of bytes that were read so far. */
  readonly read: () => number;
  /** Whether the connection is closed, by either side. */
  readonly isClosed: () => boolean;
  readonly close: () => void;
}

/**
 * Starts a proxy that requests all clusters, and reads `bytesPerSecond` bytes of the answer a
 * second (0: none).
 */
export function slowReader(port: number, id: string, bytesPerSecond: number): SlowReader {
  const session = connect(`http://127.0.0.1:${port}`).on('error', () => undefined);
  const path = '/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources';
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  const message = toBinary(
    DiscoveryRequestSchema,
    create(DiscoveryRequestSchema, { node: { id }, typeUrl: typeUrls.cluster }),
  );
  const length = Buffer.alloc(5);
  length.writeUInt32BE(message.length, 1);
  stream.on('error', () => undefined).write(Buffer.concat([length, message]));
  let read = 0;
  const take = () => (bytesPerSecond === 0 ? null : (stream.read(bytesPerSecond) as Buffer | null));
  const reading = setInterval(() => (read += take()?.length ?? 0), 1_000);
  return {
    read: () => read,
    isClosed: () => session.destroyed,
    close: () => {
      clearInterval(reading);
      session.destroy();
    },
  };
}
