import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** The answer of a server. Each character is a byte. */
export interface RawAnswer {
  readonly name: string;
  /**
   * The text of the answer. `{PORT}` stands for the port of the server, `{20000}` for that number
   * of letters, and `{1000 headers}` for that number of headers.
   */
  readonly raw: string;
}

const next = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nup 2\n';

/**
 * Starts a server that sends that answer to all requests except `/next`, as that of the judge does.
 */
export async function rawServer({
  raw,
}: RawAnswer): Promise<{ readonly port: number; readonly close: () => void }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let question = '';
    socket.on('error', () => undefined);
    socket.on('data', (piece) => {
      const before = question;
      question += piece.toString('latin1');
      if (before.includes('\r\n\r\n') || !question.includes('\r\n\r\n')) return;
      socket.end(question.startsWith('GET /next') ? next : bytesOf(raw, port));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function bytesOf(raw: string, port: number): Buffer {
  const text = raw
    .replaceAll('{PORT}', String(port))
    .replaceAll(/\{(\d+)( headers)?\}/g, (_, count: string, headers: string | undefined) =>
      headers === undefined
        ? 'x'.repeat(Number(count))
        : Array.from({ length: Number(count) }, (__, line) => `X-${line}: a\r\n`).join(''),
    );
  return Buffer.from(text, 'latin1');
}
