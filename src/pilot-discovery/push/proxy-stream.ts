import type { EnvoyRequest, Variant } from '../../shared/xds/messages.ts';
import { newSubscription, type TypeSubscription } from '../../shared/xds/type-subscription.ts';
import type { Unsent } from './unsent.ts';
import type { TypedView, View, XdsResource, XdsType } from './view.ts';

/** An event on the stream of a proxy. */
export type ProxyEvent =
  | { readonly type: 'request'; readonly request: EnvoyRequest }
  /** There is a newer view for this proxy. */
  | { readonly type: 'view'; readonly view: View }
  /** The secrets that the proxy may receive have changed. */
  | { readonly type: 'secrets'; readonly view: TypedView }
  /** A proxy that comes back has had the time to ask for all types that it has. */
  | { readonly type: 'introduced' }
  /**
   * The time that listeners and routes wait is over: they wait no longer for endpoints. If the
   * proxy has not ACKed clusters, only its first listeners and routes stop waiting.
   */
  | { readonly type: 'warmed' };

/** An answer to a proxy. */
export interface Answer {
  readonly typeUrl: string;
  /** A hash of all other content: equal answers to several proxies have equal bytes. */
  readonly nonce: string;
  /** The version of all that the proxy then has of this type. */
  readonly version: string;
  readonly resources: readonly XdsResource[];
  /** Names, only in the incremental variant. */
  readonly removed: readonly string[];
  readonly snapshot: number;
  /** `first` until the proxy has ACKed an answer of this type on its stream. */
  readonly purpose: 'first' | 'change';
}

/** An effect of an event. */
export type ProxyEffect =
  | { readonly type: 'answer'; readonly answer: Answer }
  /** A change is not sent, for another reason than before; or nothing is left to send. */
  | { readonly type: 'unsent'; readonly typeUrl: string; readonly waitsFor: Unsent | undefined }
  /**
   * The proxy subscribes to a type, or changes its names. `names` are all that it now subscribes
   * to; empty for all.
   */
  | { readonly type: 'asked'; readonly typeUrl: string; readonly names: ReadonlySet<string> }
  | {
      readonly type: 'accepted';
      readonly typeUrl: string;
      readonly nonce: string;
      readonly snapshot: number;
    }
  | {
      readonly type: 'rejected';
      readonly typeUrl: string;
      readonly nonce: string;
      readonly blamed: readonly XdsResource[];
      readonly reason: string;
    }
  /** The client asks for a type that is not served. */
  | { readonly type: 'unknown-type'; readonly typeUrl: string }
  /** The client is not a proxy, or exceeds a limit. */
  | { readonly type: 'end'; readonly fault: 'shape' | 'limit'; readonly reason: string };

/**
 * The types of a proxy's subscription. If the proxy had a resource before it connected, only the
 * version is known.
 */
export interface ProxyKind {
  readonly resource: XdsResource;
  readonly had: Pick<XdsResource, 'name' | 'version'>;
  readonly source: TypedView;
  /** The number of the snapshot. */
  readonly note: number;
  readonly message: Answer;
  readonly context: { readonly state: ProxyStream; readonly view: View };
  readonly reason: Unsent;
}

/** The subscription of a proxy to one type, and what the proxy has of it. */
export type ProxySubscription = TypeSubscription<ProxyKind>;

export interface ProxyStream {
  readonly variant: Variant;
  /** The first request has come, with a node id. */
  readonly isKnown: boolean;
  readonly view: View | undefined;
  /** The time to ask for types is over: the proxy does not use the other types. */
  readonly isIntroduced: boolean;
  readonly types: Readonly<Record<XdsType, ProxySubscription>>;
  readonly secrets: ProxySubscription;
  /** The secrets that it may have, of those that it names; undefined if that is not known yet. */
  readonly secretView: TypedView | undefined;
  /** Why newer changes are not sent; undefined if there are none. */
  readonly waitsFor: Readonly<Partial<Record<XdsType, Unsent>>>;
  /** Added or changed clusters whose endpoints the proxy has not ACKed since. */
  readonly warming: ReadonlySet<string>;
  /** The time to wait is over, until clusters are sent or ACKed. */
  readonly isOverdue: boolean;
  /** Types that are not served, and that were answered without resources. */
  readonly unknown: ReadonlySet<string>;
}

/** Returns a stream before its first request. */
export function newProxyStream(variant: Variant): ProxyStream {
  const subscription: ProxySubscription = newSubscription();
  const types = {
    cluster: subscription,
    endpoint: subscription,
    listener: subscription,
    route: subscription,
  };
  return {
    variant,
    isKnown: false,
    view: undefined,
    isIntroduced: false,
    types,
    secrets: subscription,
    secretView: undefined,
    waitsFor: {},
    warming: new Set(),
    isOverdue: false,
    unknown: new Set(),
  };
}

/** Returns the state with another subscription of one type. Pure. */
export function withType(
  state: ProxyStream,
  type: XdsType,
  subscription: ProxySubscription,
): ProxyStream {
  return { ...state, types: { ...state.types, [type]: subscription } };
}
