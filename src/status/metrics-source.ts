import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Observable } from 'rxjs';

/** Somebody beside the agent who has metrics. */
export interface MetricsSource {
  readonly type: 'envoy' | 'application';
  /** What tells it from others of its type. */
  readonly target: string;
  /** Asks, on subscribe, and emits the answer when its head is there; unsubscribing abandons the rest of it. Errors if there is none. */
  open(headers: OutgoingHttpHeaders): Observable<IncomingMessage>;
}
