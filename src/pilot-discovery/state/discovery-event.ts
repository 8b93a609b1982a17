import type { AdsEvent } from '../push/ads-event.ts';
import type { Built, Told } from '../environment/snapshots.ts';

/** A server of the control plane, by the flag that names its address. */
export type ServerName = 'grpcAddr' | 'httpAddr' | 'monitoringAddr';

/** What happens in a control plane that runs. */
export type DiscoveryEvent =
  | Told
  | Built
  | AdsEvent
  | { readonly type: 'listening'; readonly server: ServerName; readonly address: string }
  /** It cannot be listened on. */
  | {
      readonly type: 'failed';
      readonly server: ServerName;
      readonly address: string;
      readonly reason: string;
    }
  /** It could not take a connection, and goes on. */
  | {
      readonly type: 'not-taken';
      readonly server: ServerName;
      readonly address: string;
      readonly reason: string;
    }
  | { readonly type: 'terminate-requested'; readonly by: string }
  /** All proxies have been told to go elsewhere, and had the time for it. */
  | { readonly type: 'over' };
