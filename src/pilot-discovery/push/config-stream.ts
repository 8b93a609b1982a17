import type { EnvoyRequest, Variant } from '../../shared/xds/messages.ts';
import type { TypeSubscription } from '../../shared/xds/type-subscription.ts';
import type { ConfigView } from './config-view.ts';
import type { Answer, ProxyKind } from './proxy-stream.ts';
import type { TypedView } from './view.ts';

/** A subscription of another control plane, which is answered with the resources of a view. */
export interface ConfigSubscriptionKind {
  readonly resource: ProxyKind['resource'];
  readonly had: ProxyKind['had'];
  readonly source: TypedView;
  /** The number of the snapshot. */
  readonly note: number;
  readonly message: Answer;
  readonly context: {
    readonly typeUrl: string;
    readonly variant: Variant;
    readonly view: ConfigView;
  };
  readonly reason: never;
}

type ConfigSubscription = TypeSubscription<ConfigSubscriptionKind>;

/** The types that another control plane reads on a stream, and what it has of them. */
export interface ConfigStream {
  readonly variant: Variant;
  readonly view: ConfigView | undefined;
  /** Requests before the first view. */
  readonly waiting: readonly EnvoyRequest[];
  /** By type URL, in the order of the first requests. */
  readonly types: ReadonlyMap<string, ConfigType>;
  /** Types that are not served, and that were answered without resources. */
  readonly unknown: ReadonlySet<string>;
}

export interface ConfigType {
  readonly subscription: ConfigSubscription;
  /** Why newer changes are not sent; undefined if there are none. */
  readonly waitsFor: 'in flight' | 'NACKed' | undefined;
}

/** Returns a stream before its first request. */
export const newConfigStream = (variant: Variant): ConfigStream => ({
  variant,
  view: undefined,
  waiting: [],
  types: new Map(),
  unknown: new Set(),
});
