import type { AdsEvent } from '../push/ads-event.ts';
import type { Built, Told } from '../environment/snapshots.ts';

/** A server of the control plane, by the flag that names its address. */
export type ServerName = 'grpcAddr' | 'httpAddr' | 'monitoringAddr';

/** An event of a control plane that runs. */
export type DiscoveryEvent =
  | Told
  | Built
  | AdsEvent
  | { readonly type: 'listening'; readonly server: ServerName; readonly address: string }
  /** The server cannot listen on its address. */
  | {
      readonly type: 'failed';
      readonly server: ServerName;
      readonly address: string;
      readonly reason: string;
    }
  /** The server could not accept a connection. It goes on. */
  | {
      readonly type: 'not-taken';
      readonly server: ServerName;
      readonly address: string;
      readonly reason: string;
    }
  | { readonly type: 'terminate-requested'; readonly by: string }
  /** All proxies were sent elsewhere, and had time to leave. */
  | { readonly type: 'over' };
