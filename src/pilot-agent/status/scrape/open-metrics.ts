import type { Agent, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { type Observable, of, switchMap } from 'rxjs';
import { openAnswer } from '../../../proxy/admin-client.ts';
import { localLookup } from '../../../shared/http/local-lookup.ts';
import { lenient } from '../../../shared/http/open-socket.ts';

/** As in Go's client, which gives up at the tenth redirect. */
const mostRedirects = 9;
const redirects: readonly number[] = [301, 302, 303, 307, 308];
const here: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** The address of an application's metrics. */
export interface MetricsAddress {
  readonly port: number;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly agent: Agent;
}

/**
 * Requests the metrics of the application once, on subscribe, as {@link openAnswer} does. Follows
 * redirects to the same host and port; any other redirect is the answer.
 */
export function openMetrics(address: MetricsAddress, redirected = 0): Observable<IncomingMessage> {
  return openAnswer({ host: 'localhost', lookup: localLookup, ...lenient, ...address }).pipe(
    switchMap((answer) => {
      const path = redirected < mostRedirects ? redirectedPath(address, answer) : undefined;
      if (path === undefined) return of(answer);
      answer.resume();
      return openMetrics({ ...address, path }, redirected + 1);
    }),
  );
}

function redirectedPath(
  { port, path }: MetricsAddress,
  { statusCode = 0, headers: { location } }: IncomingMessage,
): string | undefined {
  const base = `http://localhost:${port}${path}`;
  if (!redirects.includes(statusCode) || location === undefined || !URL.canParse(location, base))
    return undefined;
  const { protocol, hostname, port: explicitPort, pathname, search } = new URL(location, base);
  const isSame =
    protocol === 'http:' &&
    here.includes(hostname) &&
    (explicitPort === '' ? 80 : Number(explicitPort)) === port;
  return isSame ? pathname + search : undefined;
}
