import type { AuthorityEvent } from '../ca/ca-view.ts';
import type { CredentialEvent } from '../credentials/credential-event.ts';
import type { ObjectStatusEvent } from '../status/object-status-event.ts';
import type { AdsEvent } from '../push/ads-event.ts';
import type { Built, StoreStep } from '../environment/snapshots.ts';

/** A server of the control plane, by the flag that names its address. */
export type ServerName = 'grpcAddr' | 'secureGRPCAddr' | 'httpAddr' | 'monitoringAddr';

/** An event of a control plane that runs. */
export type DiscoveryEvent =
  | StoreStep
  | Built
  | AdsEvent
  | AuthorityEvent
  | CredentialEvent
  | ObjectStatusEvent
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
  /** The secure port has a new certificate, which expires at this time (ms since 1970). */
  | { readonly type: 'serving'; readonly serial: string; readonly expires: number }
  /** The secure port has no certificate, or keeps the previous one. */
  | { readonly type: 'unserved'; readonly reason: string }
  /** A call on the secure port was refused, because its caller is not known. */
  | {
      readonly type: 'caller-refused';
      readonly address: string;
      /** The name of the gRPC status; `TLS` if there was no call. */
      readonly status: string;
      readonly reason: string;
    }
  /** The files of the log have been moved away. */
  | { readonly type: 'reopen-requested' }
  | { readonly type: 'terminate-requested'; readonly by: string }
  /** All proxies were sent elsewhere, and had time to leave. */
  | { readonly type: 'over' };
