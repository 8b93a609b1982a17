import type { IncomingMessage, RequestOptions } from 'node:http';
import type { Socket } from 'node:net';
import { Observable } from 'rxjs';
import { localLookup } from './local-lookup.ts';
import { bare } from './outside-proxy.ts';

/** Returns the host and the port of a proxy, and the credentials for it, from its URL. Pure. */
function proxyAt(proxy: string) {
  const { hostname, port, host, username, password } = new URL(proxy);
  const credentials = Buffer.from(`${unescaped(username)}:${unescaped(password)}`).toString(
    'base64',
  );
  return {
    host,
    place: {
      hostname: bare(hostname),
      port: port === '' ? 80 : Number(port),
      lookup: localLookup,
      agent: false as const,
    },
    headers: username + password === '' ? {} : { 'proxy-authorization': `Basic ${credentials}` },
  };
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the options with which a plain request of a URL goes to the proxy. Pure. */
export function toProxy({ origin, host, pathname, search }: URL, proxy: string): RequestOptions {
  const { place, headers } = proxyAt(proxy);
  return { ...place, path: `${origin}${pathname}${search}`, headers: { host, ...headers } };
}

/**
 * Asks the proxy for a tunnel to the server of a URL (CONNECT) on subscribe; emits the connection
 * and completes. The receiver ends the connection. Errors with the proxy's answer, or with the
 * error of its connection. Unsubscribing cancels a tunnel that is not open yet.
 */
export function tunnel({ hostname, port }: URL, proxy: string): Observable<Socket> {
  return new Observable((subscriber) => {
    const { host: name, place, headers } = proxyAt(proxy);
    const target = `${hostname}:${port === '' ? 443 : port}`;
    const { request } = process.getBuiltinModule('node:http'); // as in openHttp
    const connectRequest = request({
      ...place,
      method: 'CONNECT',
      path: target,
      headers: { host: target, ...headers },
    });
    let isGiven = false;
    const fail = (why: string) => subscriber.error(new Error(`the proxy ${name}: ${why}`));
    const refused = ({ statusCode = 0 }: IncomingMessage) =>
      fail(`it answers CONNECT with ${statusCode}`);
    connectRequest.on('error', ({ message, code = '' }: NodeJS.ErrnoException) =>
      fail(message === '' ? code : message),
    );
    connectRequest.on('response', refused); // an informational status may come before
    connectRequest.on('connect', (answer, socket: Socket, rest) => {
      socket.on('error', () => undefined); // the user of the socket handles its errors
      if (answer.statusCode !== 200) {
        socket.destroy();
        refused(answer);
        return;
      }
      if (rest.length > 0) socket.unshift(rest);
      isGiven = true;
      subscriber.next(socket);
      subscriber.complete();
    });
    connectRequest.end();
    return () => {
      if (!isGiven) connectRequest.destroy();
    };
  });
}
