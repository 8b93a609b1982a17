import type { Node } from '../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import type { Variant } from '../../shared/xds/messages.ts';
import type { AdsEvent } from './ads-event.ts';
import type { ConnectionMap } from './connection-map.ts';
import type { Unsent } from './unsent.ts';

/** The state of one type on one connection. */
export interface TypeState {
  /** The names to which the proxy subscribed; empty for all. */
  readonly names: ReadonlySet<string>;
  /** The last answer, the number of its resources, and when it was sent: ms since 1970. */
  readonly sent:
    | {
        readonly nonce: string;
        readonly snapshot: number;
        readonly resources: number;
        readonly at: number;
      }
    | undefined;
  readonly acked: { readonly nonce: string; readonly snapshot: number } | undefined;
  /** The last NACK; undefined if an ACK followed. */
  readonly rejected:
    | { readonly nonce: string; readonly reason: string; readonly names: readonly string[] }
    | undefined;
  /** Why newer changes are not sent; undefined if there are none. */
  readonly waitsFor: Unsent | undefined;
}

/** A connected proxy. */
export interface ConnectionState {
  readonly node: Node;
  readonly variant: Variant;
  readonly address: string;
  /** ms since 1970. */
  readonly connectedAt: number;
  /** By type URL. */
  readonly types: ReadonlyMap<string, TypeState>;
}

/** By number of the connection. */
export type ConnectionStates = ConnectionMap<ConnectionState>;

const unasked: TypeState = {
  names: new Set(),
  sent: undefined,
  acked: undefined,
  rejected: undefined,
  waitsFor: undefined,
};

/** Returns the connections after an event. Pure. `now`: ms since 1970. */
export function foldConnections(
  states: ConnectionStates,
  event: AdsEvent,
  now: number,
): ConnectionStates {
  const { connection } = event;
  if (event.type === 'connected') {
    const { node, variant, address } = event;
    return states.with(connection, { node, variant, address, connectedAt: now, types: new Map() });
  }
  const state = states.get(connection);
  if (state === undefined) return states;
  if (event.type === 'disconnected') return states.without(connection);
  if (!('typeUrl' in event) || event.type === 'unknown-type' || event.type === 'written')
    return states;
  const before = state.types.get(event.typeUrl) ?? unasked;
  const types = new Map(state.types).set(event.typeUrl, typeAfter(before, event, now));
  return states.with(connection, { ...state, types });
}

type TypeEvent = Extract<
  AdsEvent,
  { readonly type: 'asked' | 'answered' | 'unsent' | 'accepted' | 'rejected' }
>;

function typeAfter(before: TypeState, event: TypeEvent, time: number): TypeState {
  switch (event.type) {
    case 'asked':
      return { ...before, names: event.names };
    case 'answered':
      return {
        ...before,
        sent: {
          nonce: event.nonce,
          snapshot: event.snapshot,
          resources: event.resources,
          at: time,
        },
        waitsFor: undefined,
      };
    case 'unsent':
      return { ...before, waitsFor: event.waitsFor };
    case 'accepted':
      return {
        ...before,
        acked: { nonce: event.nonce, snapshot: event.snapshot },
        rejected: undefined,
      };
    case 'rejected':
      return {
        ...before,
        rejected: { nonce: event.nonce, reason: event.reason, names: event.names },
      };
  }
}

/** A proxy that has neither ACKed nor NACKed for longer than this is STALE, in ms. */
const stale = 30_000;

/** In the words of istiod. */
export type SyncStatus = 'SYNCED' | 'STALE' | 'NOT SENT' | 'REFUSED' | 'SENT';

/** Returns whether a proxy has ACKed its last answer. Pure. `now`: ms since 1970. */
export function syncStatus({ sent, acked, rejected }: TypeState, now: number): SyncStatus {
  if (sent === undefined) return 'NOT SENT';
  if (rejected?.nonce === sent.nonce) return 'REFUSED';
  if (acked?.nonce === sent.nonce) return 'SYNCED';
  return now - sent.at > stale ? 'STALE' : 'SENT';
}
