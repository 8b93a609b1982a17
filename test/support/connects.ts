import { connect } from 'node:net';

/** Whether that port of this machine, or that Unix socket, accepts a connection. */
export function connects(to: number | string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(
      typeof to === 'string' ? { path: to } : { port: to, host: '127.0.0.1' },
      () => {
        socket.destroy();
        done(true);
      },
    ).on('error', () => done(false));
  });
}
