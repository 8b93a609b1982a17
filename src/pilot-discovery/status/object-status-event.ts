import type { ResourceKey } from '../istio/documents/model.ts';

/** News about the status of resources. */
export type ObjectStatusEvent =
  /** This instance writes the status from now on. */
  | { readonly type: 'status-writer-elected'; readonly holder: string }
  /** This instance no longer writes the status; another one may. */
  | { readonly type: 'status-writer-resigned'; readonly reason: string }
  /** The lease or a status cannot be written, because of `reason`. The program tries again. */
  | { readonly type: 'statuses-refused'; readonly reason: string }
  /** Another program changes this status again and again: it is left alone. */
  | { readonly type: 'status-contested'; readonly key: ResourceKey };
