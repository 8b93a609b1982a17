import {
  Client,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
} from '@grpc/grpc-js';
import { encoded, method, type Transport, version } from './transport.ts';

const definition = {
  path: method,
  requestStream: true,
  responseStream: true,
  requestSerialize: (bytes: Uint8Array) => Buffer.from(bytes),
  requestDeserialize: (bytes: Buffer) => bytes,
  responseSerialize: (bytes: Uint8Array) =>
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  responseDeserialize: (bytes: Buffer) => bytes,
};

export const transport: Transport = {
  serve: (port, { bytes, times }) => {
    const server = new Server({ 'grpc.enable_channelz': 0 });
    server.register(
      method,
      (call: ServerDuplexStream<Buffer, Uint8Array>) => {
        call.on('data', () => {
          void (async () => {
            for (let count = 0; count < times; count++)
              if (!call.write(bytes)) await new Promise((done) => call.once('drain', done));
          })();
        });
        call.on('error', () => undefined);
      },
      definition.responseSerialize,
      definition.requestDeserialize,
      'bidi',
    );
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), () => undefined);
  },
  connect: (port) => {
    const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
    return {
      open: () =>
        new Promise((done, fail) => {
          const call = client.makeBidiStreamRequest(
            method,
            definition.requestSerialize,
            definition.responseDeserialize,
            new Metadata(),
          );
          call.on('data', () => done());
          call.on('error', fail);
          call.write(encoded(version));
        }),
    };
  },
};
