import type { KubeFailure } from '../../shared/kube/failure.ts';
import type { FollowFailure } from '../../shared/kube/follow-state.ts';
import type { LabelSelector } from '../istio/fields/label-selector.ts';
import type { Labels } from '../istio/fields/values.ts';
import type { RootBundle } from './root-bundle.ts';

/** A namespace of the API that is not being removed. */
export interface LiveNamespace {
  readonly labels: Labels;
}

/** The two kinds that are followed. */
export type PublishedKind = 'namespaces' | 'maps';

/** A change that the ConfigMaps with the roots depend on. */
export type RootMapsChange =
  | { readonly type: 'bundle'; readonly bundle: RootBundle }
  | { readonly type: 'selectors'; readonly selectors: readonly LabelSelector[] }
  | {
      readonly type: 'namespaces';
      /** `all`: any other namespace is gone. */
      readonly scope: 'all' | 'changed';
      /** Undefined for a namespace that is gone, or is being removed. */
      readonly namespaces: ReadonlyMap<string, LiveNamespace | undefined>;
    }
  | {
      readonly type: 'maps';
      readonly scope: 'all' | 'changed';
      /** The digests of the bundles by namespace; undefined for a ConfigMap that is gone. */
      readonly digests: ReadonlyMap<string, string | undefined>;
    }
  /** The API does not answer, or refuses to show a kind. */
  | {
      readonly type: 'lost';
      readonly kind: PublishedKind;
      readonly cause: FollowFailure;
      readonly reason: string;
    }
  /** Each change of a kind is seen from now on. */
  | { readonly type: 'followed'; readonly kind: PublishedKind }
  | {
      readonly type: 'written';
      readonly namespace: string;
      readonly failure: KubeFailure | undefined;
    }
  | { readonly type: 'due' };

/** A change, when it came (ms since 1970), and a number from 0 up to, but not including, 1. */
export type RootMapsEvent = RootMapsChange & { readonly now: number; readonly random: number };
