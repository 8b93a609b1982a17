import type { IncomingMessage } from 'node:http';
import type { RequestRefusal } from '../../../shared/http/control-guard.ts';

const name = 'x-pilot-agent';

/**
 * The requests of an agent in a scrape or a probe carry this header, so that an agent recognizes
 * them: an application may redirect both to an agent, and each would ask the application again.
 */
export const mark = { [name]: '1' } as const;

const fromAnAgent: RequestRefusal = [
  508,
  'this request comes from an agent: it would ask the application again',
];

/** Returns why a request of an agent is refused; undefined for any other request. Pure. */
export function ownRequest({ headers }: IncomingMessage): RequestRefusal | undefined {
  return headers[name] === undefined ? undefined : fromAnAgent;
}
