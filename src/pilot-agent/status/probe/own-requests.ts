import type { IncomingMessage } from 'node:http';
import type { RequestRefusal } from '../../../shared/http/control-guard.ts';

const name = 'x-pilot-agent';

/**
 * What an agent asks in a scrape or a probe has this header, so that what comes back to an agent is
 * seen: an application may lead both there, and each would ask the application again.
 */
export const mark = { [name]: '1' } as const;

const fromAnAgent: RequestRefusal = [
  508,
  'this request comes from an agent: it would ask the application again',
];

/** Why a request of an agent is refused; undefined for one of anybody else. Pure. */
export function ownRequest({ headers }: IncomingMessage): RequestRefusal | undefined {
  return headers[name] === undefined ? undefined : fromAnAgent;
}
