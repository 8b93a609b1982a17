import { connect, createServer, constants } from 'node:http2';
import { encoded, framed, method, prefix, type Transport, version } from './transport.ts';

const { HTTP2_HEADER_PATH, HTTP2_HEADER_METHOD } = constants;
const contentType = { 'content-type': 'application/grpc+proto' };

export const transport: Transport = {
  serve: (port, { bytes, times }) => {
    const server = createServer();
    const before = prefix(bytes.length);
    server.on('stream', (stream) => {
      stream.respond({ ':status': 200, ...contentType }, { waitForTrailers: true });
      stream.on('error', () => undefined);
      let missing = 0;
      let head = Buffer.alloc(0);
      stream.on('data', (piece: Buffer) => {
        for (let rest = piece; rest.length > 0;) {
          if (missing > 0) {
            const part = Math.min(missing, rest.length);
            missing -= part;
            rest = rest.subarray(part);
            if (missing > 0) break;
            void (async () => {
              for (let count = 0; count < times; count++) {
                stream.write(before);
                if (!stream.write(bytes)) await new Promise((done) => stream.once('drain', done));
              }
            })();
          } else {
            const part = rest.subarray(0, 5 - head.length);
            head = Buffer.concat([head, part]);
            rest = rest.subarray(part.length);
            if (head.length < 5) break;
            missing = head.readUInt32BE(1);
            head = Buffer.alloc(0);
          }
        }
      });
    });
    server.listen(port, '127.0.0.1');
  },
  connect: (port) => {
    const session = connect(`http://127.0.0.1:${port}`);
    return {
      open: () =>
        new Promise((done, fail) => {
          const stream = session.request({
            [HTTP2_HEADER_METHOD]: 'POST',
            [HTTP2_HEADER_PATH]: method,
            te: 'trailers',
            ...contentType,
          });
          stream.on('data', () => done());
          stream.on('error', fail);
          stream.write(framed(encoded(version)));
        }),
    };
  },
};
