import type { SubscriptionPolicy } from '../../shared/xds/type-subscription.ts';
import type { ProxyKind } from './proxy-stream.ts';
import { changedNames } from './view.ts';

/** Compares what a proxy has with a view. Equal parts are the same object. */
export const viewComparison = {
  holdsBack: 'each',
  isSame: (previous, resource) => previous.version === resource.version,
  isSameSource: (a, b) => a === b,
  resourcesOf: ({ resources }) => resources,
  changedNames,
  sharedName: (name, { resources }) => resources.get(name)?.name ?? name,
  had: (name, version) => ({ name, version }),
  hadAll: (version, view) => (version === view.version ? view.resources : undefined),
  blamed: ({ given }: { readonly given: ReadonlyMap<string, unknown> }, reason: string) => {
    const named = [...given.keys()].filter((name) => reason.includes(name));
    return named.length > 0 ? named : [...given.keys()];
  },
} satisfies Partial<SubscriptionPolicy<ProxyKind>>;
