import { request } from 'node:http';
import { request as requestSecurely } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { Call, Via } from './plan.ts';

/** The address of each listener: a port of 127.0.0.1, or the path of a socket. */
export type Listeners = Readonly<Record<Via, number | string>>;

interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

/** The addresses to which calls are sent, and the certificates with which they are sent. */
export interface Asking {
  readonly listeners: Listeners;
  /** The port of each service. */
  readonly service: number;
  /** The certificates of clients. */
  readonly certificates: Readonly<Record<'right' | 'wrong', ClientCertificate>>;
}

/** An answer, without what differs from one request to the next. */
export interface CallAnswer {
  /** The status code; 0 if there is no answer. */
  readonly status: number;
  /** The application that answered; '' if none did. */
  readonly from: string;
  /** The serial number of the certificate that was shown; '' without TLS. */
  readonly certificate: string;
  /** The version of TLS; '' without TLS. */
  readonly tls: string;
  /** The request as the application received it. */
  readonly received: unknown;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

const isSecure = (via: Via) => via.includes('TLS');
const nobody = { from: '', certificate: '', tls: '', received: undefined, headers: {}, body: '' };

/** Whether a listener has the services of all ports, so that a request has to name the port. */
export const isForAllPorts = (via: Via) => via === 'HTTP proxy' || via === 'Unix socket';

/**
 * Sends a call over a connection of its own. Never rejects.
 *
 * @param to another listener than that of the call
 */
export function askCall(
  { via, method, host, path, headers, sni, shown }: Call,
  { listeners, service, certificates }: Asking,
  to: number | string = listeners[via],
): Promise<CallAnswer> {
  const named = isForAllPorts(via) ? `${host}:${service}` : host;
  const options = {
    ...(typeof to === 'number' ? { host: '127.0.0.1', port: to } : { socketPath: to }),
    method,
    path: to === listeners['HTTP proxy'] ? `http://${named}${path}` : path,
    headers: { ...headers, host: named },
    agent: false,
    timeout: 20_000,
  };
  return new Promise((done) => {
    const fail = () => done({ status: 0, ...nobody });
    const clientRequest = isSecure(via)
      ? requestSecurely({
          ...options,
          ...(shown !== 'none' && certificates[shown]),
          servername: sni,
          rejectUnauthorized: false,
        })
      : request(options);
    clientRequest
      .on('response', (response) => {
        const socket = response.socket as Partial<TLSSocket>;
        const certificate = isSecure(via) ? (socket.getPeerCertificate?.().serialNumber ?? '') : '';
        let body = '';
        response
          .setEncoding('utf8')
          .on('data', (piece: string) => (body += piece))
          .on('error', fail)
          .on('end', () => {
            const { date, 'x-envoy-upstream-service-time': time, ...rest } = response.headers;
            const from = rest['x-backend'];
            done({
              status: response.statusCode ?? 0,
              from: typeof from === 'string' ? from : '',
              certificate,
              tls: isSecure(via) ? (socket.getProtocol?.() ?? '') : '',
              received: body.startsWith('{') ? JSON.parse(body) : undefined,
              headers: { ...rest, isDated: date !== undefined, isTimed: time !== undefined },
              body: body.startsWith('{') ? '' : body,
            });
          });
      })
      .on('error', fail)
      .on('timeout', () => clientRequest.destroy(new Error('no answer in 20 s')))
      .end();
  });
}
