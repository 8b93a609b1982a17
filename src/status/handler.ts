import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Observable } from 'rxjs';
import type { StatusRequest } from './status-event.ts';

/**
 * Answers one request, on subscribe. Emits what the request asks of the agent, if anything; unsubscribing, which the end of the connection
 * causes, abandons it. An error is answered by 500.
 */
export type Handler = (request: IncomingMessage, response: ServerResponse) => Observable<StatusRequest>;
