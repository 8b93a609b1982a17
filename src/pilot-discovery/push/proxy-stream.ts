import type { EnvoyRequest, Variant } from '../../shared/xds/messages.ts';
import { freshSubscription, type TypeSubscription } from '../../shared/xds/type-subscription.ts';
import type { Unsent } from './unsent.ts';
import type { TypedView, View, XdsResource, XdsType } from './view.ts';

/** What happens on the stream of a proxy. */
export type ProxyEvent =
  | { readonly type: 'request'; readonly request: EnvoyRequest }
  /** There is something newer for this proxy. */
  | { readonly type: 'view'; readonly view: View }
  /** A proxy that comes back has had the time to ask for all types that it has. */
  | { readonly type: 'introduced' }
  /**
   * Endpoints that it has not asked for, or not accepted, are waited for no longer; and clusters
   * that it has not accepted, only with what it has already.
   */
  | { readonly type: 'warmed' };

/** What is sent to a proxy. */
export interface Answer {
  readonly typeUrl: string;
  /** A hash of all the rest: equal answers to several proxies are equal to the last byte. */
  readonly nonce: string;
  /** Of all that the proxy has then of this type. */
  readonly version: string;
  readonly resources: readonly XdsResource[];
  /** Names, in the incremental variant alone. */
  readonly removed: readonly string[];
  readonly snapshot: number;
}

/** What is to be done about it. */
export type ProxyEffect =
  | { readonly type: 'answer'; readonly answer: Answer }
  /** It is not sent what has changed, for another reason than before; or nothing is left. */
  | { readonly type: 'unsent'; readonly typeUrl: string; readonly waitsFor: Unsent | undefined }
  /** It asks for a type, or for others of it: the names that it follows by now; empty for all. */
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
  /** Somebody asks for a type that is not served. */
  | { readonly type: 'unknown-type'; readonly typeUrl: string }
  /** It is no proxy, or goes beyond a limit. */
  | { readonly type: 'end'; readonly fault: 'shape' | 'limit'; readonly reason: string };

/** A subscription of a proxy. Of what it had when it came only the version is known. */
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

/** What a proxy wants of one type, and what it has. */
export type ProxySubscription = TypeSubscription<ProxyKind>;

export interface ProxyStream {
  readonly variant: Variant;
  /** It has said who it is. */
  readonly isKnown: boolean;
  readonly view: View | undefined;
  /** A type that it has not asked for by now it does not use. */
  readonly isIntroduced: boolean;
  readonly types: Readonly<Record<XdsType, ProxySubscription>>;
  /** Why what has changed since is not sent; undefined if nothing has. */
  readonly waitsFor: Readonly<Partial<Record<XdsType, Unsent>>>;
  /** Clusters that have come or changed, whose endpoints the proxy has not accepted since. */
  readonly warming: ReadonlySet<string>;
  /** It has had the time to accept the clusters that it was given last, and their endpoints. */
  readonly isOverdue: boolean;
  /** Types that are not served, and the answers that were given: they are empty. */
  readonly unknown: ReadonlySet<string>;
}

/** A stream before its first request. */
export function freshProxy(variant: Variant): ProxyStream {
  const fresh: ProxySubscription = freshSubscription();
  const types = { cluster: fresh, endpoint: fresh, listener: fresh, route: fresh };
  return {
    variant,
    isKnown: false,
    view: undefined,
    isIntroduced: false,
    types,
    waitsFor: {},
    warming: new Set(),
    isOverdue: false,
    unknown: new Set(),
  };
}

/** With what a proxy wants of one type and has, as it is now. Pure. */
export function withType(
  state: ProxyStream,
  type: XdsType,
  subscription: ProxySubscription,
): ProxyStream {
  return { ...state, types: { ...state.types, [type]: subscription } };
}
