import { connect } from 'node:tls';

/** Resolves to the serial (upper-case hex) of the certificate that is served on a port of this machine. */
export function servedSerial(port: number): Promise<string> {
  return new Promise((done, fail) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      done(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    }).on('error', fail);
  });
}
