import { connect } from 'node:net';

export interface Blows {
  readonly port: number;
  readonly path: string;
  readonly connections: number;
  /** In ms. */
  readonly duration: number;
}

export interface Impact {
  /** Answers with status 200. */
  readonly perSecond: number;
  /** In ms. */
  readonly p99: number;
  readonly failed: number;
}

const lastChunk = Buffer.from('0\r\n\r\n');

/**
 * Sends one GET after the other on each of `connections` kept-alive connections, and resolves to
 * the figures of the answers. It does as little as it can, because it shares the machine with the
 * server.
 */
export async function hammer({ port, path, connections, duration }: Blows): Promise<Impact> {
  const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  const times: number[] = [];
  let failed = 0;
  const end = performance.now() + duration;
  const client = () =>
    new Promise<void>((done) => {
      const socket = connect({ host: '127.0.0.1', port, noDelay: true });
      let [sentAt, missing, status] = [0, -1, ''];
      const send = () => {
        sentAt = performance.now();
        [missing, status] = [-1, ''];
        socket.write(request, 'latin1');
      };
      const answered = () => {
        if (status === '200') times.push(performance.now() - sentAt);
        else failed += 1;
        if (performance.now() < end) send();
        else socket.end();
      };
      socket.on('connect', send).on('data', (piece) => {
        if (missing < 0) {
          const head = piece.toString('latin1', 0, Math.max(0, piece.indexOf('\r\n\r\n')));
          status = head.slice(9, 12);
          const length = /content-length: *(\d+)/i.exec(head)?.[1];
          missing = length === undefined ? Infinity : Number(length) + head.length + 4;
        }
        missing -= piece.length;
        if (
          missing === 0 ||
          (missing === Infinity && piece.subarray(-lastChunk.length).equals(lastChunk))
        )
          answered();
      });
      socket.on('error', () => (failed += 1)).on('close', () => done());
    });
  await Promise.all(Array.from({ length: connections }, client));
  times.sort((a, b) => a - b);
  return {
    perSecond: times.length / (duration / 1000),
    p99: times[Math.floor(times.length * 0.99)] ?? NaN,
    failed,
  };
}
