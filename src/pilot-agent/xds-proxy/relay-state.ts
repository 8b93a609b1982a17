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
  /** By type, in the order in which they were first asked for. */
  readonly subscriptions: ReadonlyMap<string, EnvoySubscription>;
  /** Answers so far; the nonce of each is its number. */
  readonly pushes: number;
  /** It has accepted all that it has asked for, once. */
  readonly hasBegun: boolean;
  /** It was given what is stored, and the control plane has not said anything since. */
  readonly isStored: boolean;
}

/** What the control plane was asked for of one type, over this connection. */
export interface AskedOfType {
  readonly names: ReadonlySet<string>;
  /** Of the newest answer; empty until there is one. */
  readonly nonce: string;
  /** Of the newest answer that Envoy has accepted. */
  readonly version: string;
  readonly isAnswered: boolean;
  /** The newest answer has neither been accepted nor refused. */
  readonly isPending: boolean;
}

/** The connection to the control plane, of which there is one at most. */
export interface Connection {
  /** Counts the attempts. */
  readonly number: number;
  /** `open`: requests can be sent; `answering`: there has been an answer. */
  readonly stage: 'none' | 'awaited' | 'open' | 'answering';
  readonly variant: Variant;
  readonly node: Node | undefined;
  readonly asked: ReadonlyMap<string, AskedOfType>;
  /** Attempts in a row without an answer. */
  readonly failures: number;
  /** What the control plane calls itself. */
  readonly name: string;
}

/** What is wrong with the control plane. Times in ms since 1970. */
export interface LinkTrouble {
  readonly reason: string;
  readonly since: number;
  /** When it was logged last; undefined where it was not. */
  readonly toldAt: number | undefined;
}

export interface RelayState {
  readonly streams: ReadonlyMap<number, EnvoyStream>;
  readonly connection: Connection;
  /** All that the control plane has said, by type. */
  readonly newest: ReadonlyMap<string, TypeResources>;
  readonly good: LastGood | undefined;
  /** An Envoy that starts is given what is stored. */
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
    asked: new Map(),
    failures: 0,
    name: '',
  },
  newest: new Map(),
  good: undefined,
  isGoodOffered: false,
  trouble: undefined,
};

/** What has happened. */
export type RelayEvent =
  | { readonly type: 'stream-opened'; readonly stream: number; readonly variant: Variant }
  | { readonly type: 'requested'; readonly stream: number; readonly request: EnvoyRequest }
  | { readonly type: 'stream-closed'; readonly stream: number }
  /** Of a connection to the control plane: requests can be sent. */
  | { readonly type: 'opened'; readonly connection: number }
  | { readonly type: 'updated'; readonly connection: number; readonly update: Update }
  /** It says nothing. The connection goes on. */
  | { readonly type: 'unanswered'; readonly connection: number; readonly reason: string }
  | { readonly type: 'lost'; readonly connection: number; readonly reason: string }
  /** What is stored is confirmed, if it still is what holds. */
  | { readonly type: 'confirmation-due' };

/** An event, and when it happened: ms since 1970. */
export type Timed = RelayEvent & { readonly at: number };

/** What is to be done. */
export type RelayEffect =
  /** After `delay` ms. The connection before is given up. */
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
 * The stream of the youngest Envoy: what it makes of an answer is what the control plane is told.
 */
export function leader({ streams }: Pick<RelayState, 'streams'>): EnvoyStream | undefined {
  return [...streams.values()].findLast(({ node }) => node !== undefined);
}

/** The subscription whose push in flight a request answers; undefined where it answers none. */
export function answered(
  { stream, request: { typeUrl, nonce } }: Extract<RelayEvent, { type: 'requested' }>,
  { streams }: Pick<RelayState, 'streams'>,
): EnvoySubscription | undefined {
  const subscription = streams.get(stream)?.subscriptions.get(typeUrl);
  return subscription?.inFlight?.nonce === nonce ? subscription : undefined;
}

/** What the control plane says now of a type; undefined while it says nothing. */
export function current(
  { connection, newest }: RelayState,
  typeUrl: string,
): TypeResources | undefined {
  return connection.asked.get(typeUrl)?.isAnswered === true ? newest.get(typeUrl) : undefined;
}

/** What an Envoy that starts is given before the control plane has said anything. */
export function offered(
  { good, isGoodOffered }: RelayState,
  at: number,
  maxAge: number,
): LastGood | undefined {
  return isGoodOffered && good !== undefined && at - good.confirmedAt <= maxAge ? good : undefined;
}

/**
 * There are clusters and listeners for an Envoy that starts, as far as those that there are ask for
 * any.
 */
export function isHeld(state: RelayState, at: number, maxAge: number): boolean {
  const wanted = mainTypes.filter((typeUrl) =>
    [...state.streams.values()].some(({ subscriptions }) => subscriptions.has(typeUrl)),
  );
  const good = offered(state, at, maxAge);
  return wanted.every(
    (typeUrl) => current(state, typeUrl) !== undefined || good?.types.has(typeUrl) === true,
  );
}
