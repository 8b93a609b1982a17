import { connect } from 'node:net';

/** Whether a connection to that port of this machine, or to that Unix socket, is taken. */
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
