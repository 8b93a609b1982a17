import type { Observable } from 'rxjs';
import type { DiscoveryResponse } from '../../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import type { ReadAnswer } from './read-answer.ts';

/** An event of one stream from a server of secrets. */
export type StreamSign<T> =
  | { readonly type: 'answered'; readonly answer: ReadAnswer<T> }
  | { readonly type: 'lost'; readonly reason: string };

/** A server of secrets that others run. */
export interface SecretServer {
  /** Its place, for a person. */
  readonly name: string;
  /**
   * Asks for one secret over a new connection. Emits each answer as `read` sees it, and ACKs or
   * NACKs it. Emits `lost` at the end, and completes. Cold; never errors; unsubscribe disconnects.
   */
  follow<T>(
    secret: string,
    read: (answer: DiscoveryResponse) => ReadAnswer<T>,
  ): Observable<StreamSign<T>>;
}
