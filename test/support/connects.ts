import { connect } from 'node:net';

/** Whether a connection to that port of this machine is taken. */
export function connects(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      done(true);
    }).on('error', () => done(false));
  });
}
