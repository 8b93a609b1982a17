import type { Node } from '../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import type { LastGood } from './last-good.ts';
import type { Ask, EnvoyRequest, Push, Variant } from '../../shared/xds/messages.ts';
import { mainTypes, type TypeResources, type Update } from '../../shared/xds/resources.ts';
import type { EnvoySubscription } from './envoy-subscription.ts';

/** One stream of one Envoy. */
export interface EnvoyStream {
  readonly variant: Variant;
  /** Undefined until its first request. */
  readonly node: Node | undefined;
  /** By type, in the order of their first requests. */
  readonly subscriptions: ReadonlyMap<string, EnvoySubscription>;
  /** The number of answers so far. Each nonce is the number of its answer. */
  readonly pushes: number;
  /**
   * When it first had ACKed everything that it requested, in ms since 1970; undefined until then.
   */
  readonly begunAt: number | undefined;
  /** Whether it has stored resources, and none of the control plane since. */
  readonly isStored: boolean;
}

/** The requests for one type that were sent over this connection. */
export interface TypeRequests {
  readonly names: ReadonlySet<string>;
  /** The nonce of the newest answer; empty if there is none. */
  readonly nonce: string;
  /** The version of the newest answer that Envoy has ACKed. */
  readonly version: string;
  readonly isAnswered: boolean;
  /** Whether the newest answer has neither an ACK nor a NACK. */
  readonly isPending: boolean;
}

/** The connection to the control plane. There is at most one. */
export interface Connection {
  /** The number of the attempt. */
  readonly number: number;
  /** `open`: requests can be sent; `answering`: there was an answer. */
  readonly stage: 'none' | 'awaited' | 'open' | 'answering';
  readonly variant: Variant;
  readonly node: Node | undefined;
  readonly requests: ReadonlyMap<string, TypeRequests>;
  /** The number of attempts in a row without an answer. */
  readonly failures: number;
  /** The identifier of the control plane. */
  readonly name: string;
}

/** The trouble with the control plane. Times in ms since 1970. */
export interface LinkTrouble {
  readonly reason: string;
  readonly since: number;
  /** When it was last logged; undefined if it was not. */
  readonly loggedAt: number | undefined;
}

export interface RelayState {
  readonly streams: ReadonlyMap<number, EnvoyStream>;
  readonly connection: Connection;
  /** The newest resources of the control plane, by type. */
  readonly newest: ReadonlyMap<string, TypeResources>;
  readonly good: LastGood | undefined;
  /** Whether an Envoy that starts gets the stored configuration. */
  readonly isGoodOffered: boolean;
  readonly trouble: LinkTrouble | undefined;
}

export const initialRelay: RelayState = {
  streams: new Map(),
  connection: {
    number: 0,
    stage: 'none',
    variant: 'state-of-the-world',
    node: undefined,
    requests: new Map(),
    failures: 0,
    name: '',
  },
  newest: new Map(),
  good: undefined,
  isGoodOffered: false,
  trouble: undefined,
};

/** An event of the xDS proxy. */
export type RelayEvent =
  | { readonly type: 'stream-opened'; readonly stream: number; readonly variant: Variant }
  | { readonly type: 'requested'; readonly stream: number; readonly request: EnvoyRequest }
  | { readonly type: 'stream-closed'; readonly stream: number }
  /** Requests can be sent over a connection to the control plane. */
  | { readonly type: 'opened'; readonly connection: number }
  | { readonly type: 'updated'; readonly connection: number; readonly update: Update }
  /** The control plane does not answer. The connection stays open. */
  | { readonly type: 'unanswered'; readonly connection: number; readonly reason: string }
  | { readonly type: 'lost'; readonly connection: number; readonly reason: string }
  /** It is time to confirm the stored configuration, if it is still in force. */
  | { readonly type: 'confirmation-due' };

/** An event, and when it happened, in ms since 1970. */
export type Timed = RelayEvent & { readonly at: number };

/** An effect of an event. */
export type RelayEffect =
  /** Connects after `delay` ms. The connection before it is closed. */
  | {
      readonly type: 'connect';
      readonly connection: number;
      readonly variant: Variant;
      readonly delay: number;
    }
  | {
      readonly type: 'ask';
      readonly connection: number;
      readonly ask: Ask;
      readonly node: Node | undefined;
    }
  | { readonly type: 'push'; readonly stream: number; readonly push: Push }
  | { readonly type: 'keep'; readonly good: LastGood };

/**
 * Returns the stream of the youngest Envoy: its ACKs and NACKs are passed on to the control plane.
 */
export function leader({ streams }: Pick<RelayState, 'streams'>): EnvoyStream | undefined {
  return [...streams.values()].findLast(({ node }) => node !== undefined);
}

/**
 * Returns the subscription whose answer in flight a request ACKs or NACKs; undefined if there is
 * none.
 */
export function answered(
  { stream, request: { typeUrl, nonce } }: Extract<RelayEvent, { type: 'requested' }>,
  { streams }: Pick<RelayState, 'streams'>,
): EnvoySubscription | undefined {
  const subscription = streams.get(stream)?.subscriptions.get(typeUrl);
  return subscription?.inFlight?.nonce === nonce ? subscription : undefined;
}

/** Returns the resources of a type by the control plane; undefined until it has answered. */
export function current(
  { connection, newest }: RelayState,
  typeUrl: string,
): TypeResources | undefined {
  return connection.requests.get(typeUrl)?.isAnswered === true ? newest.get(typeUrl) : undefined;
}

/** Returns the stored configuration, if a new Envoy may get it before the control plane answers. */
export function offered(
  { good, isGoodOffered }: RelayState,
  now: number,
  maxAge: number,
): LastGood | undefined {
  return isGoodOffered && good !== undefined && now - good.confirmedAt <= maxAge ? good : undefined;
}

/** Whether an Envoy that starts can get clusters and listeners, if any Envoy requests them. */
export function canServeEnvoy(state: RelayState, now: number, maxAge: number): boolean {
  const wanted = mainTypes.filter((typeUrl) =>
    [...state.streams.values()].some(({ subscriptions }) => subscriptions.has(typeUrl)),
  );
  const good = offered(state, now, maxAge);
  return wanted.every(
    (typeUrl) => current(state, typeUrl) !== undefined || good?.types.has(typeUrl) === true,
  );
}
