import { connect } from 'node:tls';

/**
 * Resolves to the serial (upper-case hex) of the certificate that a new client on this machine
 * gets; undefined if it gets none that leads to `ca`.
 */
export function servedSerial(port: number, ca: string): Promise<string | undefined> {
  return new Promise((done) => {
    const socket = connect(
      { port, host: '127.0.0.1', servername: 'localhost', ca, timeout: 1_000 },
      () => {
        done(socket.getPeerCertificate().serialNumber);
        socket.end();
      },
    );
    socket
      .on('timeout', () => socket.destroy())
      .on('error', () => undefined)
      .on('close', () => done(undefined));
  });
}
